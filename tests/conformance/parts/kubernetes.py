"""What is installed in clusters of AKS, as the schemas of Kubernetes judge it."""
# needs: kubernetes nodes

import glob
import json
import os
import subprocess

from conformance import Suite, check, equal

TREE, WORK = os.environ["CONFORMANCE_TREE"], os.environ["CONFORMANCE_WORK"]
BINARY = os.environ["CONFORMANCE_BINARY"]
BIN = os.path.join(os.environ["CONFORMANCE_KUBERNETES"], "bin")
SHELLCHECK = os.path.join(os.environ["CONFORMANCE_NODES"], "root", "usr", "bin", "shellcheck")
VALIDATOR = "kubernetes-validate 1.37.0"
# Minor versions that AKS has had this year.
VERSIONS = ["1.32", "1.33", "1.34", "1.35", "1.36"]
TAINTS = "taints: [\"sku=gpu:NoSchedule\", \"example.com/only:NoExecute\"]"
# Pools of each kind of GPU, driver and network: where, the size, and what the pool has beside.
MATRIX = {
    "t4": ("eastus", "Standard_NC4as_T4_v3", ""),
    "mig": ("eastus", "Standard_NC48ads_A100_v4", "aks: {mig: 3g}"),
    "taints": ("eastus", "Standard_NC24ads_A100_v4", f"aks: {{{TAINTS}, autoscale: {{min: 0}}}}"),
    "fabric": ("eastus", "Standard_ND96isr_H100_v5", ""),
    "operator": ("eastus", "Standard_ND96isr_H100_v5", "aks: {gpu_driver: none, mig: 1g}"),
    "amd": ("westus", "Standard_ND96isr_MI300X_v5", ""),
    "cpu": ("eastus", "Standard_F4als_v7", ""),
}
FORMS = ["manifests", "checks"]
suite = Suite()


def export(spec, form):
    done = subprocess.run(
        [BINARY, "-q", "-f", spec, "export", "--offline", f"--kubernetes={form}"],
        capture_output=True, text=True, check=False,
    )
    check(done.returncode == 0, done.stderr)
    return done.stdout


def specs():
    """The examples with agent pools, and the matrix."""
    for path in sorted(glob.glob(os.path.join(TREE, "examples", "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            if "orchestrator: aks" in file.read():
                yield path
    for name, (location, size, keys) in MATRIX.items():
        stage = "inference, workload: small" if name == "cpu" else "training, workload: generative"
        path = os.path.join(WORK, f"{name}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f"version: 1\nname: matrix\nlocation: {location}\npools:\n  pool:\n"
                f"    stage: {stage.split(',')[0]}\n   {stage.split(',')[1]}\n    count: 2\n"
                f"    size: {size}\n    orchestrator: aks\n"
            )
            if keys:
                file.write(f"    {keys}\n")
        yield path


def refused(path, version):
    """What the validator has against a file; nothing where it passed each document.

    A kind that it has no schema for is a warning to it, and wrong here.
    """
    done = subprocess.run(
        [os.path.join(BIN, "kubernetes-validate"), "-k", version, "--strict", path],
        capture_output=True, text=True, check=False,
    )
    lines = (done.stdout + done.stderr).splitlines()
    against = [line for line in lines if not line.startswith("INFO")]
    if done.returncode or against or not lines:
        return "\n".join(against) or f"ended with {done.returncode}"
    return ""


def documents(text):
    """The documents of a stream, as Python reads them."""
    done = subprocess.run(
        [os.path.join(BIN, "python"), "-c",
         "import json, sys, yaml; print(json.dumps([one for one in yaml.safe_load_all(sys.stdin) if one]))"],
        input=text, capture_output=True, text=True, check=True,
    )
    return json.loads(done.stdout)


def tolerated(taint, tolerations):
    key, _, effect = taint.rpartition(":")
    key, has_value, value = key.partition("=")
    return any(
        one["key"] == key and one["effect"] == effect
        and (one["operator"] == "Exists" or has_value and one.get("value") == value)
        for one in tolerations
    )


SPECS = list(specs())
seen = set()
with suite.step(f"{len(SPECS)} specs in {len(FORMS)} forms are valid for {len(VERSIONS)} versions", VALIDATOR):
    check(len(SPECS) > len(MATRIX), "there is an example")
    for spec in SPECS:
        for form in FORMS:
            text = export(spec, form)
            found = documents(text)
            seen.update(one["kind"] for one in found)
            if not found:
                continue
            path = os.path.join(WORK, f"{form}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            for version in VERSIONS:
                equal(refused(path, version), "", f"{spec} {form}")
    equal(seen, {"Namespace", "DaemonSet", "ConfigMap", "Job"})

with suite.step("manifests that are wrong are refused", VALIDATOR):
    path = os.path.join(WORK, "fabric.yaml")
    good = export(path, "manifests")
    for wrong, right in [
        ("volumeMount:", "volumeMounts:"),
        ("privileged: \"true\"", "privileged: true"),
        ("hostPaths:", "hostPath:"),
        ("kind: DaemonsSet", "kind: DaemonSet"),
    ]:
        check(right in good, right)
        broken = os.path.join(WORK, "broken.yaml")
        with open(broken, "w", encoding="utf-8") as file:
            file.write(good.replace(right, wrong))
        check(refused(broken, VERSIONS[-1]), f"{wrong} is taken")
    text = export(path, "checks").replace("backoffLimit: 0", "backoffLimit: none")
    with open(broken, "w", encoding="utf-8") as file:
        file.write(text)
    check(refused(broken, VERSIONS[-1]), "a word for a number is taken")

with suite.step("every pod is let onto the nodes of its pool", "PyYAML"):
    for name, wanted in [
        ("t4", ["sku=gpu:NoSchedule"]),
        ("taints", ["sku=gpu:NoSchedule", "example.com/only:NoExecute"]),
        ("fabric", ["sku=gpu:NoSchedule"]),
    ]:
        for form in FORMS:
            for one in documents(export(os.path.join(WORK, f"{name}.yaml"), form)):
                if one["kind"] not in ("DaemonSet", "Job"):
                    continue
                pod = one["spec"]["template"]["spec"]
                for taint in wanted:
                    check(tolerated(taint, pod["tolerations"]), name, one["metadata"]["name"], taint)

with suite.step("the commands for operators are clean, and so are the values in them", "shellcheck"):
    for spec in SPECS:
        text = export(spec, "operators")
        path = os.path.join(WORK, "operators.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([SHELLCHECK, path], capture_output=True, text=True, check=False)
        check(done.returncode == 0, done.stdout)
        for block in text.split("<<'END'\n")[1:]:
            equal(len(documents(block.split("END\n")[0])), 1, block)
suite.leave_out("NicClusterPolicy and values of charts", "helm", "neither helm nor the charts come from a registry of packages")
suite.end()
