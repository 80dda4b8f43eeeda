"""Measures cost previews: `python3 benches/cost.py BINARY [NOTE]`. See `cost.sh`."""

import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = int(os.environ.get("RUNS", "21"))

# Name, arguments, most milliseconds of the median; `None` is only compared.
MEASURED = [
    ("start", ["--version"], None),
    ("plan", ["plan", "--offline"], None),
    ("cost", ["cost", "--offline"], 60),
    ("json", ["-o", "json", "cost", "--offline"], 60),
    ("html", ["-o", "html", "cost", "--offline"], 60),
    ("regions", ["cost", "--offline", "--compare-regions"], 200),
    ("sizes", ["cost", "--offline", "--compare-sizes"], None),
]

SIZES = ["F4s_v2", "F8s_v2", "D4s_v5", "E8s_v5", "F16s_v2"]


def spec():
    """Ten pools of different sizes, half of them spot, with data disks."""
    lines = ["version: 1", "name: ten-pools", "location: eastus", "pools:"]
    for number in range(10):
        lines += [
            f"  pool{number}:", "    stage: inference", "    workload: small", f"    count: {number + 1}",
            "    grouping: vms", f"    size: Standard_{SIZES[number % len(SIZES)]}",
            f"    priority: {'spot' if number % 2 else 'regular'}",
            f"    disks: {{data: [{{size_gb: {64 << number % 5}, type: premium, lun: 0}}]}}",
        ]
    return "\n".join(lines) + "\n"


def milliseconds(binary, arguments, folder, expected=0):
    """Wall time of whole processes, the shortest first."""
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        ran = subprocess.run([binary, *arguments], cwd=folder, capture_output=True, check=False)
        times.append((time.perf_counter() - begin) * 1000)
        if ran.returncode != expected or not ran.stdout:
            sys.exit(f"{arguments}: exit {ran.returncode}: {ran.stderr.decode()}")
    return sorted(times)


def measure(binary, name, measured, folder, expected=0):
    """The result of one row of what is measured, printed with how it stands to the promise."""
    label, command, most = measured
    times = milliseconds(binary, command, folder, expected)
    median = statistics.median(times)
    ratio = "" if most is None else f"{median / most:5.2f} of the {most} ms promised"
    print(f"{label:{name}} {times[0]:7.1f} least {median:7.1f} median {times[-1]:7.1f} most ms  {ratio}")
    return {"arguments": command, "most_ms": most, "median_ms": median, "all_ms": times}


def keep(what, note, results):
    """Keeps the results, and ends well where all are within what is promised."""
    met = all(row["most_ms"] is None or row["median_ms"] <= row["most_ms"] for row in results.values())
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    today = datetime.date.today().isoformat()
    kept = {
        "date": today, "commit": git.stdout.strip(), "note": note, "runs": RUNS,
        "machine": {"system": platform.platform(), "cpus": os.cpu_count(), "load": os.getloadavg()},
        "results": results,
    }
    path = ROOT / f"benches/results/{today}-{what}.json"
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"kept in {path.relative_to(ROOT)}; {'within' if met else 'NOT within'} what is promised")
    sys.exit(0 if met else 1)


def main(arguments):
    binary, note = pathlib.Path(arguments[0]).resolve().as_posix(), " ".join(arguments[1:])
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "tensorform.yaml").write_text(spec(), encoding="utf-8")
        milliseconds(binary, ["--version"], folder)
        for measured in MEASURED:
            results[measured[0]] = measure(binary, 8, measured, folder)
    keep("cost", note, results)


if __name__ == "__main__":
    main(sys.argv[1:])
