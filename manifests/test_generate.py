"""Tests of the rules: `python3 -m unittest discover manifests`."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import generate  # noqa: E402
import naming  # noqa: E402
from sources import Sources  # noqa: E402


class Names(unittest.TestCase):
    def test_series_and_version(self):
        for name, expected in {
            "Standard_ND96isr_H100_v5": ("ND", "5"),
            "Standard_ND128isr_NDR_GB200_v6": ("ND", "6"),
            "Standard_NG32adms_V620_v1": ("NG", "1"),
            "Standard_NC24lds_xl_RTXPRO6000BSE_v6": ("NC", "6"),
            "Standard_NCC40ads_H100_v5": ("NCC", "5"),
            "Standard_E64-16as_v5": ("E", "5"),
            "Standard_M416s_8_v2": ("M", "2"),
            "Standard_DS11_v2_Promo": ("D", "2"),
            "Standard_GS5-8": ("G", ""),
            "Standard_FX4mds": ("FX", ""),
            "Standard_B1ls": ("B", ""),
        }.items():
            self.assertEqual(naming.series_and_version(name), expected, name)
        for wrong in ["Basic_A1", "Standard_", "Standard_12", "standard_D2"]:
            with self.assertRaises(ValueError, msg=wrong):
                naming.series_and_version(wrong)

    def test_lifecycle(self):
        for name, stage, day in [
            ("D2_v3", "end_of_life", "2029-11-15"),
            ("D2s_v4", "extended", ""),
            ("D2s_v6", "current", ""),
            ("E8-4s_v3", "end_of_life", "2029-11-15"),
            ("F2s_v2", "end_of_life", "2028-11-15"),
            ("F2as_v6", "current", ""),
            ("B2s", "end_of_life", "2028-11-15"),
            ("B2s_v2", "current", ""),
            ("L8s", "end_of_life", "2028-05-01"),
            ("L8s_v2", "end_of_life", "2028-11-15"),
            ("L8s_v3", "current", ""),
            ("DC2s_v2", "retired", "2026-06-30"),
            ("DC2ds_v3", "end_of_life", "2029-10-31"),
            ("EC8as_cc_v5", "retired", "2026-09-01"),
            ("M192idms_v2", "end_of_life", "2027-03-31"),
            ("M208s_v2", "current", ""),
            ("HB120-16rs_v2", "end_of_life", "2027-05-31"),
            ("HB120rs_v3", "current", ""),
            ("NV6s_v2", "retired", ""),
            ("ND96asr_v4", "extended", ""),
        ]:
            life = naming.lifecycle(f"Standard_{name}")
            self.assertEqual((life.stage, life.day), (stage, day), name)
        self.assertEqual(naming.lifecycle("Standard_X1_v9", "", "2026-11-29").stage, "retired")
        self.assertEqual(naming.lifecycle("Standard_X1_v9", "", "2026-11-30").stage, "end_of_life")

    def test_gpus(self):
        self.assertEqual(naming.gpu_name("NVIDIA A100 80GB PCIe"), "A100-80")
        self.assertEqual(naming.gpu_name("NVIDIA A10"), "A10")
        self.assertEqual(naming.gpu_name("NVIDIA H100 NVL (confidential)"), "H100-NVL")
        with self.assertRaises(ValueError):
            naming.gpu_name("NVIDIA X100")

    def test_rdma(self):
        self.assertTrue(naming.has_rdma_by_name("Standard_HB176-24rs_v4", "HB"))
        self.assertFalse(naming.has_rdma_by_name("Standard_E2s_v5", "E"))


class Columns(unittest.TestCase):
    def test_gpu_memory_is_of_one_or_of_the_part(self):
        def columns(count, total):
            return generate.gpu_columns(
                {"gpu_model": "NVIDIA A10", "gpu_count": count, "gpu_memory_gib_total": total}
            )

        self.assertEqual(columns("2", "48"), ("A10", "2", 24))
        self.assertEqual(columns("1/6", "4"), ("A10", "1/6", "4"))
        self.assertEqual(columns("1", ""), ("A10", "", ""))

    def test_memory_is_whole_mebibytes(self):
        self.assertEqual(generate.mebibytes("3.5"), 3584)
        self.assertEqual(generate.mebibytes(""), "")
        with self.assertRaises(ValueError):
            generate.mebibytes("0.0001")

    def test_sources_are_known_or_refused(self):
        sources = Sources()
        self.assertEqual(
            sources.of_gpu_row("Azure/AgentBaker@06836ee pkg/x.go ; retired-sizes-list.md@0bdc5d3"),
            ["A", "M:retired-sizes-list"],
        )
        with self.assertRaises(ValueError):
            sources.of_gpu_row("somebody said so")
        with self.assertRaises(ValueError):
            sources.use("nobody")


class Freshness(unittest.TestCase):
    def test_index_is_that_of_the_tables(self):
        for path, text in generate.index().items():
            self.assertEqual(path.read_bytes(), text, f"run generate.py: {path.name} is old")


if __name__ == "__main__":
    unittest.main()
