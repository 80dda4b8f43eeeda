"""What nodes run when they start first: as cloud-init, shellcheck and systemd judge it, and run.

Every example and a matrix of pools is rendered. The real cloud-init checks the documents against
its schema, shellcheck reads every script, systemd reads the units. Then the scripts run, twice, in
a root of their own with tools that record what they are asked for, on local disks that are not
there: what they do the second time shows whether they may be run again.
"""
# needs: nodes

import base64
import glob
import json
import os
import shlex
import shutil
import subprocess

from conformance import Suite, check, equal

TREE, WORK = os.environ["CONFORMANCE_TREE"], os.environ["CONFORMANCE_WORK"]
BINARY, TOOLS = os.environ["CONFORMANCE_BINARY"], os.environ["CONFORMANCE_NODES"]
PYTHON = os.path.join(TOOLS, "bin", "python")
SHELLCHECK = os.path.join(TOOLS, "root", "usr", "bin", "shellcheck")
PACKAGES = os.path.join(TOOLS, "root", "usr", "lib", "python3", "dist-packages")
FOLDER = "opt/tensorform/bootstrap"
SCRIPT = "#!/bin/bash\nset -eu\necho run >>/root/runs\necho \"${TENSORFORM_SCRATCH:-none}\" >>/root/scratch\n"
# The name of a pool of the matrix, and what it has beside a script or without one.
MATRIX = {
    "script": "    bootstrap: {script: setup.sh}\n",
    "scratch": "    disks: {scratch: nvme}\n",
    "both": "    disks: {scratch: nvme}\n    bootstrap: {script: setup.sh}\n",
    "mounts": (
        "    mounts:\n"
        "      - {path: /data, source: \"https://acct.blob.core.windows.net/data\", type: blob_nfs}\n"
        "      - {path: /mnt/my-home, source: \"nfs.example:/export\", type: nfs}\n"
        "      - {path: /fast, source: \"10.0.0.4@tcp:/lustrefs\", type: lustre}\n"
    ),
    "docker": (
        "    disks: {scratch: nvme}\n"
        "    containers: {runtime: docker, images: [\"nvcr.io/nvidia/pytorch:24.07-py3\", ubuntu]}\n"
    ),
    "checkpoint": (
        "    checkpoint: {to: \"https://acct.blob.core.windows.net/saved\", every: 30m, hook: /root/save}\n"
        "    bootstrap: {script: setup.sh}\n"
    ),
    "registry-docker": (
        "    containers: {runtime: docker, images: [\"own.azurecr.io/job:1\"], registry: own.azurecr.io}\n"
    ),
    "registry-containerd": (
        "    containers: {runtime: containerd, images: [\"own.azurecr.io/job:1\", ubuntu], registry: own.azurecr.io}\n"
    ),
    "interval": (
        "    checkpoint: {to: blob, every: 1s, hook: /root/save}\n"
        "    bootstrap: {script: setup.sh}\n"
    ),
    "containerd": "    containers: {runtime: containerd, images: [ubuntu]}\n",
}
IDENTITY = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/ids/providers"
    "/Microsoft.ManagedIdentity/userAssignedIdentities/jobs"
)
SERVER = "cyclecloud-server"
SIZES = ["Standard_NC24ads_A100_v4", "Standard_ND96isr_H100_v5"]
suite = Suite()


def render(spec, pool=None, shell=False):
    command = [BINARY, "-f", spec, "bootstrap", "--offline"]
    command += [pool] if pool else []
    command += ["--shell"] if shell else []
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def specs():
    """Each spec to render, with its pool."""
    for path in sorted(glob.glob(os.path.join(TREE, "examples", "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if "cyclecloud:" in text:
            yield path, SERVER
        elif "bootstrap:" in text or "scratch: nvme" in text:
            yield path, None
    for size in SIZES:
        for name, keys in MATRIX.items():
            path = os.path.join(WORK, f"{name}-{size}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(
                    f"version: 1\nname: matrix\nlocation: eastus\nidentity: {IDENTITY}\npools:\n  train:\n"
                    "    stage: training\n    workload: generative\n    count: 2\n"
                    f"    size: {size}\n{keys}"
                )
            yield path, "train"


def document(text):
    first, rest = text.split("\n", 1)
    equal(first, "#cloud-config", "the first line")
    return json.loads(rest)


def schema(path):
    done = subprocess.run(
        [PYTHON, "-m", "cloudinit.cmd.main", "schema", "--config-file", path],
        env={**os.environ, "PYTHONPATH": PACKAGES}, capture_output=True, text=True, check=False,
    )
    check(done.returncode == 0 and "Valid" in done.stdout, done.stdout + done.stderr)


def unpack(text, root):
    """Writes the files of a document below a folder, and tells their paths."""
    paths = []
    for file in document(text)["write_files"]:
        path = os.path.join(root, file["path"].lstrip("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as written:
            written.write(file["content"])
        os.chmod(path, int(file["permissions"], 8))
        paths.append(path)
    return paths


def shellcheck(paths):
    scripts = [path for path in paths if not path.endswith((".service", ".mount", "/settings"))]
    check(scripts, "there are scripts")
    done = subprocess.run(
        [SHELLCHECK, "--shell=bash", *scripts], capture_output=True, text=True, check=False
    )
    check(done.returncode == 0, done.stdout)


def verify(unit):
    """What systemd says of a unit, with a program that is here in place of the node's."""
    with open(unit, encoding="utf-8") as file:
        text = file.read()
    for program in ["run", "checkpoint"]:
        text = text.replace(f"ExecStart=/{FOLDER}/{program}", "ExecStart=/bin/true")
    copy = os.path.join(WORK, "units", os.path.basename(unit))
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False
    )
    return [line for line in done.stderr.splitlines() if os.path.basename(unit) in line]


# Tools that say that all is well and write down what they were asked for; the state that they
# pretend is kept in files, so that a second run sees what the first one did.
FAKES = {
    "lsblk": r"""case "$*" in
*--output\ NAME,MODEL*)
  echo 'NAME="/dev/sda" MODEL="Virtual Disk"'
  echo 'NAME="/dev/nvme0n1" MODEL="MSFT NVMe Accelerator v1.0"'
  for n in $(seq "$(cat /fake/disks)"); do echo "NAME=\"/dev/nvme${n}n1\" MODEL=\"Microsoft NVMe Direct Disk v2\""; done ;;
*) : ;;
esac""",
    "findmnt": 'grep -qxF "$2" /fake/mounted',
    "mount": 'echo "${@: -1}" >>/fake/mounted',
    "mdadm": r"""case "$1" in
--create) mkdir -p /dev/md && touch /dev/md/tensorform-scratch ;;
*) exit 1 ;;
esac""",
    "mkfs.xfs": "touch /fake/formatted",
    "blkid": "[ -e /fake/formatted ] && echo tf-scratch",
    "wipefs": ":",
    "systemctl": ":",
    "apt-get": r"""case "$*" in *install*nfs-common*) cp /fakes/wipefs /fakes/mount.nfs ;;
*install*docker.io*) cp /fakes/docker-when-there /fakes/docker ;;
esac""",
    # The metadata service of a node: no notice at first, then one about another node and one about this.
    "curl": r"""case "$*" in
*StartRequests*) ;;
*instance/compute/name*) echo work-0 ;;
*metadata/identity*) echo '{"access_token": "token-of-the-node"}' ;;
*oauth2/exchange*)
  [ "$(cat)" = "grant_type=access_token&service=own.azurecr.io&access_token=token-of-the-node" ] &&
    echo '{"refresh_token": "word-of-the-registry"}' ;;
*scheduledevents*)
  echo asked >>/fake/events
  if [ "$(wc -l </fake/events)" -gt "$(cat /fake/quiet 2>/dev/null || echo 1)" ]; then
    echo '{"DocumentIncarnation": 2, "Events": [
      {"EventId": "A-1", "EventType": "Preempt", "Resources": ["work-1"]},
      {"EventId": "B-2", "EventType": "Reboot", "Resources": ["work-0"]},
      {"EventId": "C-3", "EventType": "Preempt", "Resources": ["work-1", "work-0"]}]}'
  fi ;;
esac""",
    "mount.lustre": ":",
    "nvidia-smi": ":",
    "nvidia-ctk": ":",
    "containerd": ":",
    "ctr": r"""case "$*" in
*ls*) cat /fake/pulled ;;
*--hosts-dir*) grep -h authorization "$4"/*/hosts.toml >/fake/authorization && echo "$5" >>/fake/pulled ;;
*) echo "$3" >>/fake/pulled ;;
esac""",
    "docker-when-there": r"""case "$1" in
image) grep -qxF "$3" /fake/pulled ;;
pull) echo "$3" >>/fake/pulled ;;
esac""",
}
INSIDE = r"""
set -eu
root=$1
mount -t tmpfs none "$root"
mkdir -p "$root"/{usr,run,etc/systemd/system,etc/profile.d,proc,dev,tmp,root,var/lib,var/log,opt,fake,fakes}
mount --bind -o ro /usr "$root/usr"
mount -t tmpfs none "$root/usr/local/bin"
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
for device in null zero urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
mount -t proc none "$root/proc"
cp "$2"/fakes/* "$root/fakes"
cp "$2/bootstrap.sh" "$root/tmp"
cp "$2/disks" "$root/fake"
export PATH=/fakes:/usr/sbin:/usr/bin
chroot "$root" /bin/bash /tmp/bootstrap.sh || echo "first $?"
cp "$root/fake/asked" "$2/asked-first" 2>/dev/null || true
chroot "$root" /opt/tensorform/bootstrap/run || echo "second $?"
cp "$root/fake/asked" "$2/asked" 2>/dev/null || true
chroot "$root" /opt/tensorform/bootstrap/await || echo "await $?"
if [ -x "$root/opt/tensorform/bootstrap/checkpoint" ]; then
  chroot "$root" timeout 5 /opt/tensorform/bootstrap/checkpoint || true
  cp "$root/fake/asked" "$2/asked"
  cp "$root/etc/profile.d/tensorform-checkpoint.sh" "$2/profile"
fi
cp "$root"/root/* "$2/" 2>/dev/null || true
cp "$root/var/lib/tensorform/bootstrap/result" "$2/result"
cp "$root/var/log/tensorform-bootstrap.log" "$2/log"
"""


# What is looked at on a node that signs in to a registry.
REGISTRY = r"""
helper=/usr/local/bin/docker-credential-tensorform
if [ -e "$root/root/.docker/config.json" ]; then
  cp "$root/root/.docker/config.json" "$2/docker-config"
  echo own.azurecr.io | chroot "$root" "$helper" get >"$2/credentials"
  echo other.example | chroot "$root" "$helper" get >"$2/credentials-of-others" || true
  cp "$root/fake/asked" "$2/asked"
fi
cp "$root/fake/authorization" "$2/authorization" 2>/dev/null || true
rm -f "$root/fake/authorization"
grep -rlE "word-of-the-registry|token-of-the-node|authorization = .Basic [A-Za-z0-9+/]" \
  "$root"/{etc,opt,root,run,tmp,var} >"$2/left" || true
"""


def run(name, text, disks, more=""):
    """Runs a bootstrap twice on a machine of fakes with so many local disks."""
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "fakes"))
    os.makedirs(os.path.join(folder, "root"))
    for tool, body in FAKES.items():
        path = os.path.join(folder, "fakes", tool)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/bash\necho {tool} \"$@\" >>/fake/asked\n{body}\n")
        os.chmod(path, 0o755)
    for file, content in [("bootstrap.sh", text), ("disks", str(disks)), ("inside.sh", INSIDE + more)]:
        with open(os.path.join(folder, file), "w", encoding="utf-8") as written:
            written.write(content)
    unshare = ["unshare", "--mount", "--pid", "--fork"]
    if os.geteuid() != 0:
        unshare += ["--user", "--map-root-user"]
    done = subprocess.run(
        [*unshare, "bash", os.path.join(folder, "inside.sh"), os.path.join(folder, "root"), folder],
        capture_output=True, text=True, check=False, timeout=60,
    )
    check(done.returncode == 0, done.stdout + done.stderr)

    def read(file):
        path = os.path.join(folder, file)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as found:
            return found.read()

    return done.stdout + done.stderr, read


def count(asked, beginning):
    return sum(line.startswith(beginning) for line in asked.splitlines())


with open(os.path.join(WORK, "setup.sh"), "w", encoding="utf-8") as setup:
    setup.write(SCRIPT)
RENDERED = list(specs())

with suite.step("every example and pool of the matrix is valid for cloud-init", "cloud-init"):
    check(len(RENDERED) > len(SIZES) * len(MATRIX), "there are examples")
    for place, pool in RENDERED:
        rendered = os.path.join(WORK, "user-data")
        with open(rendered, "w", encoding="utf-8") as out:
            out.write(render(place, pool))
        schema(rendered)

with suite.step("a document that is none is refused", "cloud-init"):
    wrong = os.path.join(WORK, "wrong")
    with open(wrong, "w", encoding="utf-8") as out:
        out.write('#cloud-config\n{"write_files": [{"content": 1}], "runcmd": "x y"}\n')
    try:
        schema(wrong)
    except AssertionError:
        pass
    else:
        raise AssertionError("cloud-init takes anything")

with suite.step("every script is clean", "shellcheck"):
    for number, (place, pool) in enumerate(RENDERED):
        tree = os.path.join(WORK, f"tree-{number}")
        shellcheck(unpack(render(place, pool), tree))
        whole = os.path.join(WORK, "whole.sh")
        with open(whole, "w", encoding="utf-8") as out:
            out.write(render(place, pool, shell=True))
        shellcheck([whole])

with suite.step("the start task of a pool of Batch is the same script, and runs as it would there", "bash"):
    place = os.path.join(WORK, "batch.yaml")
    with open(place, "w", encoding="utf-8") as file:
        file.write(
            "version: 1\nname: matrix\nlocation: eastus\npools:\n  train:\n"
            "    stage: training\n    workload: generative\n    count: 2\n"
            "    orchestrator: batch\n    size: Standard_ND96isr_H100_v5\n" + MATRIX["both"]
        )
    text = render(place, "train")
    equal(text, render(place, "train", shell=True), "one form alone")
    whole = os.path.join(WORK, "start.sh")
    with open(whole, "w", encoding="utf-8") as out:
        out.write(text)
    shellcheck([whole])
    exported = subprocess.run(
        [BINARY, "-f", place, "export", "--offline"], capture_output=True, text=True, check=True
    )
    resources = json.loads(exported.stdout)["resources"]
    [task] = [one["properties"]["startTask"] for one in resources if "startTask" in one["properties"]]
    [setting] = task["environmentSettings"]
    equal(setting["value"], "[base64(parameters('customData_train'))]")
    # The line as a node takes it apart, in the folder of the task.
    encoded = base64.b64encode(text.encode()).decode()
    check(len(encoded) < 128 * 1024, "it fits a variable of Linux")
    line = f"cd /tmp\nexport {setting['name']}={encoded}\n" + shlex.join(shlex.split(task["commandLine"]))
    said, read = run("start-task", line, 8)
    equal(read("result"), "ready\n", said + read("log"))
    equal(read("runs"), "run\n")
    equal(count(read("asked"), "mdadm --create"), 1, read("asked"))

with suite.step("every unit is one", "systemd"):
    units = glob.glob(os.path.join(WORK, "tree-*/etc/systemd/system/*"))
    check(len(units) >= len(RENDERED), "there are units")
    for path in units:
        equal(verify(path), [], path)
    broken = os.path.join(WORK, "broken.service")
    with open(broken, "w", encoding="utf-8") as out:
        out.write("[Service]\nType=never\nExecStart=nothing\n")
    check(verify(broken), "systemd takes anything")

with suite.step("eight disks become one file system, once, and the script runs once", "bash"):
    place = os.path.join(WORK, "both-Standard_ND96isr_H100_v5.yaml")
    said, read = run("eight", render(place, "train", shell=True), 8)
    equal(read("result"), "ready\n", said + read("log"))
    asked = read("asked")
    equal(count(asked, "mdadm --create"), 1, asked)
    check("--raid-devices=8 /dev/nvme1n1 " in asked, asked)
    check("/dev/nvme0n1" not in asked, "network disks are left alone: " + asked)
    equal(count(asked, "mkfs.xfs"), 1, asked)
    equal(count(asked, "mount "), 1, asked)
    equal(read("runs"), "run\n")
    equal(read("scratch"), "/scratch\n")
    check("the bootstrap is done" in said, said)

with suite.step("one disk needs no array", "bash"):
    place = os.path.join(WORK, "scratch-Standard_NC24ads_A100_v4.yaml")
    said, read = run("one", render(place, "train", shell=True), 1)
    equal(read("result"), "ready\n", said + read("log"))
    equal(count(read("asked"), "mdadm"), 0, read("asked"))
    check("mkfs.xfs -q -L tf-scratch /dev/nvme1n1" in read("asked"), read("asked"))

with suite.step("a missing disk is said by name, and the script waits for it", "bash"):
    place = os.path.join(WORK, "both-Standard_ND96isr_H100_v5.yaml")
    said, read = run("seven", render(place, "train", shell=True), 7)
    equal(read("result"), "failed scratch 1\n", said)
    check("step `scratch` of the bootstrap failed with status 1" in said, said)
    check("expected 8 local NVMe disks, found 7" in read("log"), read("log"))
    equal(read("runs"), "", "the script does not run")
    equal(count(read("asked"), "mkfs.xfs"), 0, "nothing is formatted")

with suite.step("a script that fails is tried again, and its words stay on the node", "bash"):
    text = SCRIPT + "echo told-in-confidence\n[ \"$(wc -l </root/runs)\" -gt 1 ]\n"
    with open(os.path.join(WORK, "setup.sh"), "w", encoding="utf-8") as setup:
        setup.write(text)
    place = os.path.join(WORK, "script-Standard_NC24ads_A100_v4.yaml")
    said, read = run("again", render(place, "train", shell=True), 0)
    check("first 1" in said, said)
    equal(read("result"), "ready\n", said + read("log"))
    equal(read("runs"), "run\nrun\n")
    equal(read("scratch"), "none\nnone\n")
    check("told-in-confidence" in read("log") and "told-in-confidence" not in said, said)

with suite.step("stores are mounted by units that are called as systemd calls them", "systemd"):
    place = os.path.join(WORK, "mounts-Standard_ND96isr_H100_v5.yaml")
    text = render(place, "train")
    paths = {line.removeprefix("Where=") for file in document(text)["write_files"]
             for line in file["content"].splitlines() if line.startswith("Where=")}
    equal(paths, {"/data", "/mnt/my-home", "/fast"})
    for path in paths:
        done = subprocess.run(
            ["systemd-escape", "--path", "--suffix=mount", path],
            capture_output=True, text=True, check=True,
        )
        names = [os.path.basename(file["path"]) for file in document(text)["write_files"]]
        check(done.stdout.strip() in names, done.stdout, names)
    said, read = run("mounts", render(place, "train", shell=True), 8)
    equal(read("result"), "ready\n", said + read("log"))
    asked = read("asked")
    for name in ["data.mount", "fast.mount", r"mnt-my\x2dhome.mount"]:
        check(f"systemctl enable --now {name}" in asked, asked)
    equal(count(asked, "apt-get"), 2, "the client is installed once: " + asked)

with suite.step("a runtime that is missing is installed, and images are pulled once", "bash"):
    place = os.path.join(WORK, "docker-Standard_ND96isr_H100_v5.yaml")
    said, read = run("docker", render(place, "train", shell=True), 8)
    equal(read("result"), "ready\n", said + read("log"))
    asked = read("asked")
    equal(count(asked, "docker-when-there pull") + count(asked, "docker pull"), 2, asked)
    check("pull --quiet nvcr.io/nvidia/pytorch:24.07-py3" in asked, asked)
    check("pull --quiet docker.io/library/ubuntu:latest" in asked, asked)
    check("mount --bind /scratch/docker /var/lib/docker" in asked, asked)

with suite.step("a registry is signed in to by the identity, and nothing that opens it is left on the node", "bash"):
    place = os.path.join(WORK, "registry-docker-Standard_NC24ads_A100_v4.yaml")
    said, read = run("registry-docker", render(place, "train", shell=True), 0, REGISTRY)
    equal(read("result"), "ready\n", said + read("log"))
    equal(json.loads(read("docker-config"))["credHelpers"], {"own.azurecr.io": "tensorform"})
    answer = json.loads(read("credentials"))
    equal((answer["ServerURL"], answer["Secret"]), ("own.azurecr.io", "word-of-the-registry"))
    check("credentials not found" in read("credentials-of-others"), read("credentials-of-others"))
    equal(read("left"), "", "no file has a secret")
    asked = read("asked")
    check(f"msi_res_id={IDENTITY}" in asked and "token-of-the-node" not in asked, asked)
    place = os.path.join(WORK, "registry-containerd-Standard_NC24ads_A100_v4.yaml")
    said, read = run("registry-containerd", render(place, "train", shell=True), 0, REGISTRY)
    equal(read("result"), "ready\n", said + read("log"))
    word = base64.b64encode(b"00000000-0000-0000-0000-000000000000:word-of-the-registry").decode()
    equal(read("authorization"), f'authorization = "Basic {word}"\n')
    equal(read("left"), "", "no file has a secret")
    equal(count(read("asked"), "ctr images pull"), 2, read("asked"))

with suite.step("a notice about this node calls the hook of the user's script, and is answered when it ended well", "bash"):
    text = (
        "#!/bin/bash\nset -eu\ncat >/root/save <<'END'\n#!/bin/bash\n"
        "echo \"$1 $TENSORFORM_CHECKPOINT_URL\" >>/root/saved\n"
        "[ \"$(wc -l </root/saved)\" -gt 1 ]\nEND\nchmod 0700 /root/save\n"
    )
    with open(os.path.join(WORK, "setup.sh"), "w", encoding="utf-8") as setup:
        setup.write(text)
    place = os.path.join(WORK, "checkpoint-Standard_NC24ads_A100_v4.yaml")
    said, read = run("checkpoint", render(place, "train", shell=True), 0)
    equal(read("result"), "ready\n", said + read("log"))
    # The first call fails: it is called again, and not once more after that.
    equal(read("saved"), "preempt https://acct.blob.core.windows.net/saved\n" * 2, said)
    asked = read("asked")
    answers = [line for line in asked.splitlines() if "StartRequests" in line]
    equal(len(answers), 1, asked)
    check("C-3" in answers[0] and "Metadata:true" in answers[0], answers)
    check("systemctl enable --now tensorform-checkpoint.service" in asked, asked)
    check(f"AZCOPY_MSI_RESOURCE_STRING='{IDENTITY}'" in read("profile"), read("profile"))

with suite.step("the hook is called from time to time, one call after another, and a notice waits for none", "bash"):
    text = (
        "#!/bin/bash\nset -eu\necho 3 >/fake/quiet\ncat >/root/save <<'END'\n#!/bin/bash\n"
        "echo \"$1 begun $TENSORFORM_CHECKPOINT_URL\" >>/root/saved\n"
        "until [ \"$1\" = preempt ] || grep -q 'preempt ended' /root/saved; do sleep 0.1; done\n"
        "echo \"$1 ended\" >>/root/saved\nEND\nchmod 0700 /root/save\n"
    )
    with open(os.path.join(WORK, "setup.sh"), "w", encoding="utf-8") as setup:
        setup.write(text)
    place = os.path.join(WORK, "interval-Standard_NC24ads_A100_v4.yaml")
    said, read = run("interval", render(place, "train", shell=True), 0)
    equal(read("result"), "ready\n", said + read("log"))
    saved = read("saved").splitlines()
    # The first call goes on until the notice, which comes in the meantime, is answered.
    check(saved[0].startswith("interval begun https://matrix") and saved[0].endswith("/checkpoints/train"), saved)
    equal([line.split(" https")[0] for line in saved[1:4]], ["preempt begun", "preempt ended", "interval ended"], saved)
    check("/userAssignedIdentities/matrix-checkpoint'" in read("profile"), read("profile"))

# Of a server: the program that is there already, and the command line that talks to it.
SERVER_FAKES = {
    "cyclecloud": r"""case "$1 ${2:-}" in
account\ list) [ -e /fake/account ] && echo azure || true ;;
account\ create) cp "$4" /fake/account ;;
import_cluster\ *) cp /var/lib/tensorform/cyclecloud/cluster.txt /fake/imported ;;
delete_cluster\ *) [ -e /fake/ended ] || { touch /fake/ended; exit 1; } ;;
esac""",
    "curl": r"""case "$*" in
*oauth2/token*) echo '{"access_token":"told-in-confidence","client_id":"11111111-2222","expires_in":"1"}' ;;
*compute/subscriptionId*) printf 00000000-0000-0000-0000-000000000000 ;;
*compute/resourceGroupName*) printf rg-sims ;;
*compute/azEnvironment*) printf AzurePublicCloud ;;
*compute/location*) printf eastus ;;
esac""",
    "getent": "echo azureuser:x:1000:1000::/root:/bin/bash",
    "chown": ":",
    "install": r"""case "$*" in *cycle_server*) mkdir -p "${@: -1}" ;; *) exec /usr/bin/install "$@" ;; esac""",
    "ssh-keygen": 'echo made >"${@: -1}"',
    "sleep": ":",
    "systemctl": ":",
}
# The server takes in what it is given as soon as it is there.
SERVER_BEFORE = r"""mkdir -p /opt/cycle_server/config/data /root/.ssh
printf '#!/bin/bash\necho cycle_server "$@" >>/fake/asked\n' >/opt/cycle_server/cycle_server
chmod 0755 /opt/cycle_server/cycle_server
echo 'ssh-ed25519 AAAAkey somebody' >/root/.ssh/authorized_keys
cat >/fakes/mv <<'END'
#!/bin/bash
/usr/bin/mv "$@"
case "${@: -1}" in /opt/cycle_server/config/data/*)
  cp "${@: -1}" /fake/taken; /usr/bin/mv "${@: -1}" "${@: -1}.imported" ;;
esac
END
chmod 0755 /fakes/mv
"""
# Two arrays are imported, one of them with another bound, and both end.
SERVER_AFTER = r"""
put() { printf 'head\n%%%%\n%s\n%%%%\ntail\n' "$3" | /opt/tensorform/bootstrap/arrays put sims "$1" "$2"; cp /fake/imported "/root/imported-$1-$2"; }
put train no 'train 4'
put small no 'small 10'
put train yes 'train 6'
/opt/tensorform/bootstrap/arrays drop sims small
cp /fake/imported /root/imported-without
/opt/tensorform/bootstrap/arrays drop sims train
cp /fake/taken /root/taken; cp /fake/account /root/account
stat -c %a /var/lib/tensorform/cyclecloud/password >/root/mode
cp /var/lib/tensorform/cyclecloud/password /root/password
ls /opt/cycle_server/config/data >/root/left
"""

with suite.step("a server of CycleCloud is set up once, by a password of its own, and imports arrays", "bash"):
    place = os.path.join(TREE, "examples", "cyclecloud.yaml")
    text = render(place, SERVER, shell=True)
    FAKES.update(SERVER_FAKES)
    INSIDE = INSIDE.replace(
        'cp "$root"/root/* "$2/"',
        'chroot "$root" /bin/bash /fakes/after >/dev/null || echo "after $?"\ncp "$root/fake/asked" "$2/asked"\n'
        'cp "$root"/root/* "$2/"')
    FAKES["after"] = SERVER_AFTER
    said, read = run("server", SERVER_BEFORE + text, 0)
    equal(read("result"), "ready\n", said + read("log"))
    check("after " not in said, said)
    asked = read("asked")
    equal(count(asked, "cyclecloud account create"), 1, asked)
    equal(read("mode"), "600\n")
    password = read("password")
    check(len(password) > 40 and password not in text, "the password is made on the node")
    taken = json.loads(read("taken"))
    [user] = [one for one in taken if one["AdType"] == "AuthenticatedUser"]
    equal((user["Name"], user["RawPassword"], user["Superuser"]), ("azureuser", password, True))
    [key] = [one for one in taken if one["AdType"] == "Credential"]
    equal(key["PublicKey"], "ssh-ed25519 AAAAkey")
    equal(read("left"), "", "what has the password is not left there")
    account = json.loads(read("account"))
    equal(account["AzureRMClientId"], "11111111-2222")
    equal((account["RMStorageAccount"], account["RMStorageContainer"]), ("simslocker", "cyclecloud"))
    check(account["LockerIdentity"].endswith("/userAssignedIdentities/cyclecloud"), account)
    for words in [password, "told-in-confidence"]:
        check(words not in read("log") + said, "secrets stay where they are")
    equal(read("imported-train-no"), "head\ntrain 4\ntail\n")
    equal(read("imported-small-no"), "head\nsmall 10\ntrain 4\ntail\n")
    equal(read("imported-train-yes"), "head\nsmall 10\ntrain 6\ntail\n")
    equal(read("imported-without"), "head\ntrain 6\ntail\n")
    equal(count(asked, "cyclecloud start_cluster sims"), 1, asked)
    check('cyclecloud remove_node sims --filter=Template === "small" --no-prompt' in asked, asked)
    equal(count(asked, "cyclecloud terminate_cluster sims"), 1, asked)
    equal(count(asked, "cyclecloud delete_cluster sims"), 2, "it is deleted once nothing runs: " + asked)

suite.end()
