"""Measures plans without a change of many instances: see benches/instances.sh."""

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

INSTANCES = int(os.environ.get("INSTANCES", "10000"))
RUNS = int(os.environ.get("RUNS", "5"))
# A set holds 1,000 at most.
SETS = 10
MOST_SECONDS = 2.0
MOST_MEGABYTES = 200.0
ROOT = pathlib.Path(__file__).resolve().parent.parent


def spec():
    lines = ["version: 1", "name: bench", "location: eastus", "pools:"]
    for pool in range(SETS):
        lines.append(
            f"  p{pool}: {{stage: inference, workload: small, count: {INSTANCES // SETS}, "
            "grouping: scale_set, size: Standard_D2s_v5, zones: none}"
        )
    return "\n".join(lines) + "\n"


def run(tool, folder, *arguments):
    """Wall seconds, processor seconds, peak memory in megabytes, and what was printed."""
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
        begun = time.monotonic()
        child = subprocess.Popen(
            [tool, "--sandbox=world", *arguments],
            cwd=folder, env={"HOME": folder}, stdin=subprocess.DEVNULL, stdout=printed, stderr=said,
        )
        # The peak of this process alone.
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if child.returncode != 0:
            sys.exit(f"{arguments}: {said.read().decode()}")
        printed.seek(0)
        processor = usage.ru_utime + usage.ru_stime
        return wall, processor, usage.ru_maxrss * 1024 / 1e6, printed.read().decode()


def serve(tool, folder):
    server = subprocess.Popen(
        [tool, "-o", "json", "sandbox", "serve", "--state", "world", "--speed", "1000"],
        cwd=folder, env={"HOME": folder}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    )
    server.stdout.readline()
    return server


def main():
    tool, note = os.path.abspath(sys.argv[1]), sys.argv[2]
    load = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "tensorform.yaml").write_text(spec())
        server = serve(tool, folder)
        try:
            made = run(tool, folder, "apply", "--yes")[0]
            print(f"{INSTANCES} instances of {SETS} sets made in {made:.1f} s")
            runs = []
            for _ in range(RUNS):
                wall, processor, megabytes, printed = run(tool, folder, "-o", "json", "plan")
                plan = json.loads(printed)
                if plan["has_changes"]:
                    sys.exit("the plan has changes")
                runs.append(
                    {
                        "seconds": wall, "processor_seconds": processor, "megabytes": megabytes,
                        "requests": plan["run"]["arm_requests"],
                    }
                )
        finally:
            server.kill()
            server.wait()
    wall = statistics.median(run["seconds"] for run in runs)
    megabytes = max(run["megabytes"] for run in runs)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    result = {
        "measured_at": datetime.datetime.now(datetime.timezone.utc).isoformat(),
        "commit": commit, "note": note, "instances": INSTANCES, "sets": SETS,
        "machine": {
            "system": platform.platform(), "cpus": os.cpu_count(),
            "load_before": load, "load_after": os.getloadavg(),
        },
        "made_in_seconds": made, "runs": runs,
    }
    kept = ROOT / "benches/results" / f"{datetime.date.today()}-instances.json"
    kept.write_text(json.dumps(result, indent=2) + "\n")
    print(f"no change, {INSTANCES} instances, pages of 50: {runs[0]['requests']} requests")
    print(f"{wall:.2f} s, {wall / MOST_SECONDS:.2f} times the {MOST_SECONDS} s that are promised")
    print(
        f"{megabytes:.0f} MB, {megabytes / MOST_MEGABYTES:.2f} times the {MOST_MEGABYTES:.0f} MB "
        f"that are promised; load {load[0]:.1f} before"
    )
    print(f"raw results: {kept}")


if __name__ == "__main__":
    main()
