"""Measures choices with their explanation: `python3 benches/choice.py BINARY [NOTE]`. See
`choice.sh`."""

import csv
import pathlib
import sys
import tempfile

import cost

MODEL = "{parameters: 70B, precision: bf16, sequence: 8192, tokens: 20B}"
REGIONS = [row["name"] for row in csv.DictReader((cost.ROOT / "manifests/regions.csv").open(encoding="utf-8"))]
SERIES = sorted({row["series"] for row in csv.DictReader((cost.ROOT / "manifests/sizes.csv").open(encoding="utf-8"))})


def spec(pool, locations):
    """One pool in the first of these regions that fits."""
    return f"version: 1\nname: choice\nlocation: [{', '.join(locations)}]\npools:\n  train: {pool}\n"


# Name, pool, regions, arguments, exit code, most milliseconds of the median; `None` is only compared.
EXPLAIN = ["explain", "train", "--offline"]
PLAN = ["-o", "json", "plan", "--offline"]
TRAINING = f"{{stage: training, workload: generative, grouping: vms, count: 8, size: {{rdma: false}}, model: {MODEL}}}"
EVERY_SIZE = f"{{stage: training, workload: small, size: {{family: [{', '.join(SERIES)}]}}}}"
NOWHERE = f"{{stage: training, workload: generative, size: {{rdma: true, max_hourly: 1}}, model: {MODEL}}}"
MEASURED = [
    ("model", TRAINING, ["eastus"], EXPLAIN, 0, 50),
    ("model, json", TRAINING, ["eastus"], PLAN, 0, 50),
    ("every size", EVERY_SIZE, ["eastus"], EXPLAIN, 0, 50),
    ("every size, json", EVERY_SIZE, ["eastus"], PLAN, 0, 50),
    ("refusal", NOWHERE, ["eastus"], EXPLAIN, 1, None),
    ("all regions", NOWHERE, REGIONS, EXPLAIN, 1, 300),
    ("all regions, json", NOWHERE, REGIONS, PLAN, 1, 300),
]


def main(arguments):
    binary, note = pathlib.Path(arguments[0]).resolve().as_posix(), " ".join(arguments[1:])
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        cost.milliseconds(binary, ["--version"], folder)
        for name, pool, regions, command, expected, most in MEASURED:
            (pathlib.Path(folder) / "tensorform.yaml").write_text(spec(pool, regions), encoding="utf-8")
            results[name] = cost.measure(binary, 18, (name, command, most), folder, expected)
    cost.keep("choice", note, results)


if __name__ == "__main__":
    main(sys.argv[1:])
