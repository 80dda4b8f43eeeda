"""Recorded traffic of Azure, held again with the sandbox."""

import csv
import glob
import json
import os
import subprocess

from conformance import Suite, check, equal

CLIENT = "recorded requests"
TREE, WORK = os.environ["CONFORMANCE_TREE"], os.environ["CONFORMANCE_WORK"]
INDEX = os.path.join(TREE, "crates", "emulator", "tests", "samples", "index.csv")
KINDS = {"recording": 62, "sample": 100}
suite = Suite()

folder = os.path.join(WORK, "replays")
os.makedirs(folder)
with suite.step("the tests that replay, and hold the list of the rest complete", "cargo test"):
    done = subprocess.run(
        ["cargo", "test", "--locked", "--quiet", "-p", "tensorform-emulator", "--test", "sandbox", "--",
         "recordings::", "samples::", "evidence::"],
        cwd=TREE, env={**os.environ, "TENSORFORM_TEST_REPLAYS": folder},
        capture_output=True, text=True, timeout=900, check=False)
    check(done.returncode == 0, done.stdout[-2000:], done.stderr[-2000:])

replays = {}
for path in glob.glob(os.path.join(folder, "*.json")):
    with open(path, encoding="utf-8") as file:
        row = json.load(file)
    replays[row["kind"], row["name"]] = row
with open(INDEX, encoding="utf-8", newline="") as file:
    index = list(csv.DictReader(file))

for kind, expected in KINDS.items():
    rows = [row for row in index if row["kind"] == kind]
    same = different = left = 0
    for row in rows:
        name, left_out = row["name"], int(row["left out"])
        parts = [replays.get((kind, under)) for under in row["replayed under"].split()]
        alike = sum(part["same"] for part in parts if part)
        differing = sum(part["different"] for part in parts if part)
        whys = "; ".join(sorted({why for part in parts if part for why in part["whys"]}))
        same, different, left = same + alike, different + differing, left + left_out
        if parts:
            told = f"{name}: {alike} same" + (f", {differing} different: {whys}" if differing else "")
            with suite.step(told, CLIENT):
                check(all(parts), "it was not replayed")
                equal(alike + differing + left_out, int(row["exchanges"]), "exchanges")
        if left_out:
            suite.leave_out(f"{name}: {left_out} exchanges", CLIENT, row["why"])
    exchanges = sum(int(row["exchanges"]) for row in rows)
    told = f"all {kind}s: {same} of {exchanges} exchanges same, {different} different for a reason, {left} left out"
    with suite.step(told, CLIENT):
        equal(len(rows), expected, f"{kind}s")
        check(same, "nothing was replayed")
        equal(same + different + left, exchanges, "exchanges")
suite.end()
