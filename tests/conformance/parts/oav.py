"""Azure's own schemas, through Microsoft's checker `oav`."""
# needs: oav

import glob
import os
import re
import shutil
import subprocess
import urllib.request
from collections import Counter

from conformance import Sandbox, Suite, check, equal
from exchanges import OLDER, Exchange, Findings, check_specs, deviations, read

OAV, OURS, ANSWERS = "oav 3.6.2", "tensorform", "the sandbox's answers"
TREE, WORK = os.environ["CONFORMANCE_TREE"], os.environ["CONFORMANCE_WORK"]
EXAMPLES = sorted(glob.glob(os.path.join(TREE, "examples", "*.yaml")))
# What no example is about.
OTHERS = sorted(glob.glob(os.path.join(TREE, "tests", "conformance", "jobs", "*.yaml")))
suite = Suite()


def run(sandbox, spec, *arguments):
    """Our own tool, in the folder of the spec."""
    environment = {**os.environ, "TENSORFORM_ACCESS_TOKEN": "token-that-is-not-recorded"}
    done = subprocess.run(
        [os.environ["CONFORMANCE_BINARY"], "--endpoint", sandbox.http, "--credential", "token",
         "-f", os.path.basename(spec), *arguments],
        cwd=os.path.dirname(spec), env=environment, capture_output=True, text=True, timeout=300, check=False)
    check(done.returncode == 0, done.stdout, done.stderr)


def jobs(sandbox):
    """The main jobs: each example made, read, changed where it can be, and deleted."""
    for example in EXAMPLES + OTHERS:
        folder = os.path.join(WORK, os.path.basename(example).removesuffix(".yaml"))
        os.makedirs(folder)
        spec = shutil.copy(example, os.path.join(folder, "tensorform.yaml"))
        for script in glob.glob(os.path.join(os.path.dirname(example), "*.sh")):
            shutil.copy(script, folder)
        make_identities(sandbox, spec)
        run(sandbox, spec, "apply", "--yes")
        run(sandbox, spec, "plan")
        run(sandbox, spec, "status")
        # The same with one more tag: every resource is updated.
        with open(spec, encoding="utf-8") as file:
            text = file.read()
        tags = "tags: {conformance: changed"
        # What is protected outlives a destroy.
        text = text.replace("checkpoint: {to: blob,", "checkpoint: {to: blob, protect: false,")
        text = text.replace("\ntags: {", f"\n{tags}, ") if "\ntags: {" in text else f"{text}{tags}}}\n"
        with open(spec, "w", encoding="utf-8") as file:
            file.write(text)
        run(sandbox, spec, "apply", "--yes")
        if any(word in spec for word in ("cluster", "flexible", "batch", "agent", "cyclecloud")):
            resize(sandbox, spec)
        run(sandbox, spec, "destroy", "--yes")


def make_identities(sandbox, spec):
    """The identities that a spec names: they are there before a stack that uses them."""
    with open(spec, encoding="utf-8") as file:
        ids = re.findall(r"identity: (/\S+)", file.read())
    for name in ids:
        group = name.split("/providers/")[0]
        for path, version in [(group, "2021-04-01"), (name, "2023-01-31")]:
            request = urllib.request.Request(
                f"{sandbox.http}{path}?api-version={version}", data=b'{"location": "eastus"}', method="PUT",
                headers={"content-type": "application/json", "authorization": "Bearer token-that-is-not-recorded"})
            urllib.request.urlopen(request).close()


def resize(sandbox, spec):
    """A scale set or a pool grows and shrinks."""
    for change in (2, -2):
        with open(spec, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"(?<=count: )\d+", lambda found: str(int(found[0]) + change), text)
        with open(spec, "w", encoding="utf-8") as file:
            file.write(text)
        run(sandbox, spec, "apply", "--yes")


def by_provider(findings, found):
    """Tells the numbers of each provider, and refuses what was not covered."""
    for provider, sent in sorted(findings.sent.items()):
        deviating = sum(count for (of, *_), count in found.items() if of == provider)
        told = f"{provider}: sent {sent}, covered {findings.covered(provider)}, deviating {deviating}"
        with suite.step(told, OAV):
            equal(findings.covered(provider), sent, " ".join(findings.examples[:3]))
    with suite.step(f"{findings.operations} operations of {sum(findings.sent.values())} exchanges", OAV):
        check(findings.operations, "nothing was validated")
        equal(findings.exceptions, [], "oav failed")


def older(exchanges):
    """Tells what was held against the schema of an older version, and what of it that one has not."""
    told = {}
    for one in exchanges:
        if one.sent_as != one.version:
            told.setdefault((one.provider, one.sent_as, one.version), []).append(one.newer)
    for (provider, sent, version), counts in sorted(told.items()):
        newer = sum(counts, Counter())
        names = ", ".join(f"{name} ({count} times)" for name, count in sorted(newer.items()))
        step = f"{provider}: {len(counts)} exchanges at {sent} held against {version}, without {names or 'nothing'}"
        with suite.step(step, OAV):
            # A member that no body has would be excused for nothing.
            equal(set(newer), OLDER[(provider, sent)][1], "members of the newer version")


def rest(exchanges, client):
    """Lists what no schema is there for."""
    whys = {}
    for one in exchanges:
        if one.why_not:
            whys[one.why_not] = whys.get(one.why_not, 0) + 1
    for why, count in sorted(whys.items()):
        suite.leave_out(f"{count} exchanges", client, why)


def judge(found, allowed, name):
    """Refuses findings that no table allows."""
    with suite.step(f"{name}: {len(found)} kinds of deviations, all of them the service's own", OAV):
        wrong = [f"{count} times {finding}" for finding, count in sorted(found.items()) if finding[1:] not in allowed]
        print("\n".join(wrong))
        equal(len(wrong), 0, wrong[:3])
    for finding, count in sorted(found.items()):
        if finding[1:] in allowed:
            _, operation, side, _, message = finding
            print(f"allowed: {count} times {operation} {side}: {message} ({allowed[finding[1:]]})")


with suite.step(f"{check_specs()} schemas are Microsoft's, by their digests", OAV):
    pass

record = os.path.join(WORK, "exchanges.jsonl")
exchanges = []
with suite.step("the examples: apply, plan, status, change, destroy", OURS):
    equal((len(EXAMPLES), len(OTHERS)), (13, 4), "examples and others")
    sandbox = Sandbox(record=record)
    try:
        jobs(sandbox)
    finally:
        sandbox.stop()
with suite.step("neither token nor password is in the recording", OURS):
    with open(record, encoding="utf-8") as file:
        check("token-that-is-not-recorded" not in file.read(), "the token is there")
    exchanges = [Exchange(entry) for entry in read(record)]
    check(exchanges, "nothing was recorded")
findings = Findings([one for one in exchanges if not one.why_not], os.path.join(WORK, "ours"))
by_provider(findings, findings.found)
judge(findings.found, deviations("allowed-deviations.csv"), "both directions")
older(exchanges)
rest(exchanges, OURS)
with suite.step("a body of AKS with a member that neither version has is refused", OAV):
    wrong = next(one for one in exchanges if one.kind == "managedclusters" and one.request["method"] == "PUT")
    wrong.request["body"]["properties"]["gpuProfiles"] = {"driver": "None"}
    findings = Findings([wrong], os.path.join(WORK, "wrong"))
    check(any("gpuProfiles" in message for *_, message in findings.found), findings.found)

# What the sandbox answers to its own tests, where it accepts: many more operations than we use.
folder = os.path.join(WORK, "tests")
os.makedirs(folder)
with suite.step("the sandbox's own tests, recorded", ANSWERS):
    done = subprocess.run(
        ["cargo", "test", "--locked", "--quiet", "-p", "tensorform-emulator", "--test", "sandbox"],
        cwd=TREE, env={**os.environ, "TENSORFORM_TEST_RECORDINGS": folder},
        capture_output=True, text=True, timeout=900, check=False)
    check(done.returncode == 0, done.stdout[-2000:], done.stderr[-2000:])
exchanges = [Exchange(entry) for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))) for entry in read(path)]
accepted = [one for one in exchanges if not one.why_not and one.response["status"] < 400]
findings = Findings(accepted, os.path.join(WORK, "answers"))
answers = {finding: count for finding, count in findings.found.items() if finding[2] == "response"}
by_provider(findings, answers)
judge(answers, {**deviations("allowed-deviations.csv"), **deviations("recorded-deviations.csv")}, "answers")
refused = sum(not one.why_not and one.response["status"] >= 400 for one in exchanges)
suite.leave_out(f"{refused} exchanges", ANSWERS, "refusals: tests send what is wrong on purpose")
rest(exchanges, ANSWERS)
suite.end()
