"""Rules that read a VM size's name, and those that follow from it.

Every rule is a table or a short function without state; `test_generate.py` holds examples.
"""

import collections
import re

# The day the tables are made for: a retirement before it has happened, a later one has not.
GENERATION_DAY = "2026-11-30"

NAME = re.compile(r"Standard_([A-Z]+)(\d+)(.*)")
VERSION = re.compile(r"_v(\d+)(?:_Promo)?$")

# `DS` and `GS` are the `D` and `G` families with premium storage.
SERIES_OF_LETTERS = {"DS": "D", "GS": "G"}

# Announced retirements, as the lifecycle pages of 2026-09-24 and 2026-09-25 list them.
# The pattern is matched against the whole name without `Standard_`.
RETIREMENTS = [
    (r"NC\d+r?s_v3", "2025-09-30"),
    (r"DC\d+s?_v2", "2026-06-30"),
    (r"(DC|EC)\d+ad?s_cc_v5", "2026-09-01"),
    (r"NV\d+(s_v3|as_v4)", "2026-09-30"),
    (r"M192id?m?s_v2", "2027-03-31"),
    (r"NP\d+s", "2027-05-31"),
    (r"HC\d+(-\d+)?rs|HB\d+(-\d+)?rs_v2", "2027-05-31"),
    (r"DS?\d+(-\d+)?(_v2)?(_Promo)?", "2028-05-01"),
    (r"L\d+s", "2028-05-01"),
    (r"F\d+s?(_v2)?", "2028-11-15"),
    (r"A\d+m?_v2", "2028-11-15"),
    (r"B\d+[a-z]*", "2028-11-15"),
    (r"GS?\d+(-\d+)?", "2028-11-15"),
    (r"L\d+s_v2", "2028-11-15"),
    (r"DC\d+d?s_v3", "2029-10-31"),
    (r"[DE]\d+(-\d+)?i?s?_v3", "2029-11-15"),
]

# The lifecycle page on the D and E families: v4 and v5 are fully supported, v6 and v7 newer.
EXTENDED = re.compile(r"(D|DC|E|EC)\d.*_v[45]")

# What no page stages, and why it is staged all the same.
JUDGED = [
    (r"NV\d+s_v2", "retired", "counted with the NV (M60) sizes, which are gone"),
    (
        r"ND40rs_v2|ND96asr_v4|ND96amsr_A100_v4",
        "extended",
        "no retirement is announced; newer GPUs go first",
    ),
]


def series_and_version(name):
    """The letters of the family and the version suffix of a size's name."""
    match = NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"expected `Standard_<letters><number>…`, found `{name}`")
    letters = match.group(1)
    version = VERSION.search(name)
    return SERIES_OF_LETTERS.get(letters, letters), version.group(1) if version else ""


Stage = collections.namedtuple("Stage", ["stage", "day", "source", "note"])


def lifecycle(name, status="", retirement_day=""):
    """The stage of a size, the day that belongs to it, and what says so."""
    short = name.removeprefix("Standard_")
    if retirement_day:
        return Stage(stage_at(retirement_day), retirement_day, "", "")
    if "new creations do not work" in status:
        return Stage("retired", "", "", "")
    for pattern, day in RETIREMENTS:
        if re.fullmatch(pattern, short):
            return Stage(stage_at(day), day, "LIFE", "")
    for pattern, stage, note in JUDGED:
        if re.fullmatch(pattern, short):
            return Stage(stage, "", "", note)
    if EXTENDED.fullmatch(short):
        return Stage("extended", "", "LIFE", "")
    return Stage("current", "", "", "")


def stage_at(retirement_day):
    return "retired" if retirement_day < GENERATION_DAY else "end_of_life"


# GPU models as the specs and options name them, by the beginning of the source's name.
GPU_NAMES = [
    ("NVIDIA RTX PRO 6000", "RTX-PRO-6000"),
    ("NVIDIA V100", "V100"),
    ("NVIDIA T4", "T4"),
    ("NVIDIA A100 40GB", "A100-40"),
    ("NVIDIA A100 80GB", "A100-80"),
    ("NVIDIA A10", "A10"),
    ("NVIDIA H100 NVL", "H100-NVL"),
    ("NVIDIA H100 80GB", "H100"),
    ("NVIDIA H200", "H200"),
    ("NVIDIA GB200", "GB200"),
    ("NVIDIA GB300", "GB300"),
    ("NVIDIA Tesla M60", "M60"),
    ("AMD Instinct MI300X", "MI300X"),
    ("AMD Radeon Instinct MI25", "MI25"),
    ("AMD Radeon Pro V620", "V620"),
    ("AMD Radeon Pro V710", "V710"),
]


def gpu_name(source_name):
    """Our name of a GPU model."""
    for beginning, name in GPU_NAMES:
        if source_name.startswith(beginning):
            return name
    raise ValueError(f"no name for the GPU `{source_name}`")


# Row of the compatibility matrix by series and GPU.
IMAGE_FAMILIES = {
    ("NC", "V100"): "nc-v100",
    ("NC", "T4"): "nc-t4",
    ("NC", "A10"): "nc-a10",
    ("NV", "A10"): "nv-a10",
    ("NC", "A100-80"): "nc-a100",
    ("NC", "H100-NVL"): "nc-h100",
    ("NCC", "H100-NVL"): "confidential",
    ("NC", "RTX-PRO-6000"): "nc-rtxpro6000",
    ("ND", "V100"): "nd-v100",
    ("ND", "A100-40"): "nd-a100",
    ("ND", "A100-80"): "nd-a100",
    ("ND", "H100"): "nd-h100",
    ("ND", "H200"): "nd-h100",
    ("ND", "MI300X"): "nd-mi300x",
    ("ND", "GB200"): "nd-gb",
    ("ND", "GB300"): "nd-gb",
    ("NV", "V710"): "nv-amd",
    ("NG", "V620"): "nv-amd",
    ("NV", "M60"): "nv-m60",
    ("NV", "MI25"): "nv-mi25",
}


def image_family(name, series, version, gpu, architecture):
    """The row of the compatibility matrix that a size belongs to."""
    if gpu:
        return IMAGE_FAMILIES[series, gpu]
    if series in ("NP", "PB"):
        return "fpga"
    if series in ("HB", "HC", "HX"):
        return "cpu-rdma"
    if architecture == "arm64":
        return "cpu-arm64"
    # DCsv2 and DCsv3 have enclaves; the other DC and EC sizes are confidential as a whole.
    if series in ("DC", "EC") and not re.fullmatch(r"Standard_DC\d+d?s?_v[23]", name):
        return "confidential"
    return "cpu-m" if series == "M" else "cpu"


def has_rdma_by_name(name, series):
    """Whether a CPU size has RDMA: the HPC families, with an `r` in the name."""
    match = NAME.fullmatch(name)
    return series in ("HB", "HC", "HX") and "r" in match.group(3).split("_")[0]
