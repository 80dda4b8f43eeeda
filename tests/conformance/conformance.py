"""What the parts of the conformance suite share: a sandbox, steps with their outcome, the table.

A part begins a `Suite`, runs its steps, and ends with `suite.end()`. Run as a program, this file
prints the table of what all parts did, and fails if one of them did nothing or anything failed.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import traceback
import urllib.request

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
TENANT = "22222222-2222-2222-2222-222222222222"
# An image and sizes that Tensorform itself would choose.
IMAGE = ("microsoft-dsvm", "ubuntu-2204", "2204-gen2", "latest")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOleGkf2D6HXiA1St3Pd5JmNirVtjdYWbG0yLZBC9gVT"


class Sandbox:
    """A sandbox of its own: http and https on one port, a world in the part's folder."""

    def __init__(self, name="world", speed=1000, record=None):
        folder = os.path.join(os.environ["CONFORMANCE_WORK"], name)
        command = [
            os.environ["CONFORMANCE_BINARY"], "-o", "json", "sandbox", "serve",
            "--state", folder, "--speed", str(speed),
            "--tls-cert", os.environ["CONFORMANCE_CERTIFICATE"],
            "--tls-key", os.environ["CONFORMANCE_KEY"],
        ]
        if record:
            command += ["--record", record]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        told = self.process.stdout.readline()
        if not told:
            raise RuntimeError("the sandbox does not start")
        told = json.loads(told)
        self.http, self.https = told["endpoint"], told["https_endpoint"]

    def admin(self, method, path, body=None):
        """A request to the sandbox itself."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.http}/sandbox/{path}", data=data, method=method)
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def fired(self):
        """How often each fault rule acted."""
        return {rule["name"]: rule["fired"] for rule in self.admin("GET", "faults")["value"]}

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)


class Suite:
    """The steps of a part. Each is told as passed, failed, or left out with a reason."""

    def __init__(self):
        self.lock = threading.Lock()
        self.path = os.environ["CONFORMANCE_RESULTS"]
        self.passed = 0
        self.failed = 0

    def _tell(self, outcome, step, client, seconds=None, why=None):
        entry = {"outcome": outcome, "step": step, "client": client, "seconds": seconds, "why": why}
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    @contextlib.contextmanager
    def step(self, step, client):
        """A step: passed unless something is raised in it. The steps after it still run."""
        begin = time.monotonic()
        try:
            yield
        except Exception as error:  # noqa: BLE001 - every way to fail is a result
            traceback.print_exc()
            self.failed += 1
            why = f"{type(error).__name__}: {error}".splitlines()[0][:160]
            self._tell("failed", step, client, time.monotonic() - begin, why)
        else:
            self.passed += 1
            self._tell("passed", step, client, time.monotonic() - begin)

    def leave_out(self, step, client, why):
        """What the client has and the part does not do."""
        self._tell("left out", step, client, why=why)

    def end(self):
        """Ends the part: with failure if a step failed or none ran."""
        sys.exit(0 if self.passed and not self.failed else 1)


def check(holds, *told):
    """Refuses what does not hold, saying what was found."""
    if not holds:
        raise AssertionError(" ".join(str(part) for part in told)[:400])


def equal(found, expected, what=""):
    """Refuses what is not as expected."""
    check(found == expected, what, "expected", repr(expected), "found", repr(found))


def heading(part):
    """What a part's first lines say that it is."""
    with open(part, encoding="utf-8") as file:
        found = re.search(r'^"""(.+?)[.\n]', file.read(), re.MULTILINE)
    return found.group(1) if found else part


def main(arguments):
    """Prints the table of all parts."""
    empty, failed = [], 0
    for part, results in zip(arguments[::2], arguments[1::2]):
        entries = []
        if os.path.exists(results):
            with open(results, encoding="utf-8") as file:
                entries = [json.loads(line) for line in file]
        counts = {outcome: sum(entry["outcome"] == outcome for entry in entries)
                  for outcome in ("passed", "failed", "left out")}
        failed += counts["failed"]
        if not counts["passed"]:
            empty.append(os.path.basename(part))
        print(f"\n{heading(part)}: {counts['passed']} passed, {counts['failed']} failed, "
              f"{counts['left out']} left out")
        for entry in entries:
            took = "" if entry["seconds"] is None else f"{entry['seconds']:6.1f} s"
            why = f"  ({entry['why']})" if entry["why"] else ""
            print(f"  {entry['outcome']:8} {took:>8}  {entry['client']:24} {entry['step']}{why}")
    for part in empty:
        print(f"\n{part} ran nothing")
    print()
    return 1 if empty or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
