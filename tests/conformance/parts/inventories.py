"""The inventories, as OpenSSH, Ansible and Slurm read them; the node arrays of CycleCloud too."""
# needs: ansible

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

from conformance import Sandbox, Suite, check, equal

TREE, WORK = os.environ["CONFORMANCE_TREE"], os.environ["CONFORMANCE_WORK"]
ANSIBLE = os.path.join(os.environ["CONFORMANCE_ANSIBLE"], "bin", "ansible-inventory")
OPENSSH, ANSIBLE_NAME, SLURM = "OpenSSH", "ansible-core 2.19.14", "slurmctld"
SPEC = """version: 1
name: list
location: eastus
access: ACCESS
pools:
  gpu-work: {stage: training, workload: generative, size: Standard_ND96isr_H100_v5, count: 2}
  serve: {stage: inference, workload: small, size: Standard_F4als_v7, count: 2}
"""
ACCESS = {
    "private": "{via: none}",
    "public": "{via: public_ip, ssh_from: [203.0.113.0/24]}",
    "bastion": "{via: bastion}",
}
HOSTS = ["list-gpu-work_0", "list-gpu-work_1", "list-serve-0", "list-serve-1"]
# Stands for the Azure CLI: a tunnel to a server that greets as SSH does.
AZ = """#!PYTHON
import socket, sys
port = int(sys.argv[sys.argv.index("--port") + 1])
server = socket.create_server(("127.0.0.1", port))
while True:
    client, _ = server.accept()
    client.sendall(b"SSH-2.0-through " + sys.argv[sys.argv.index("--name") + 1].encode() + b"\\n")
    client.close()
"""
# What of netcat is used: `-z` to look, and otherwise to talk.
NC = """#!PYTHON
import socket, sys
looks = sys.argv[1] == "-z"
host, port = sys.argv[-2:]
try:
    server = socket.create_connection((host, int(port)), timeout=5)
except OSError:
    sys.exit(1)
while not looks and (data := server.recv(4096)):
    sys.stdout.buffer.write(data)
"""
# Nodes that come and go need programs that make and delete them, which CycleCloud brings.
POWER_SAVING = "SuspendProgram=/bin/true\nResumeProgram=/bin/true\nSuspendTime=300\nPrivateData=cloud\n"
suite = Suite()


def run(sandbox, folder, *arguments):
    """Our own tool on the stack of a folder."""
    environment = {**os.environ, "TENSORFORM_ACCESS_TOKEN": "any"}
    done = subprocess.run(
        [os.environ["CONFORMANCE_BINARY"], "--endpoint", sandbox.http, "--credential", "token", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    check(done.returncode == 0, done.stdout, done.stderr)
    return done.stdout


def settings(config, host):
    """What OpenSSH makes of a configuration for a host."""
    done = subprocess.run(["ssh", "-G", "-F", config, host], capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def read_by_ansible(path):
    done = subprocess.run([ANSIBLE, "-i", path, "--list"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)
    check("WARNING" not in done.stderr, done.stderr)
    return json.loads(done.stdout)


def executable(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("PYTHON", sys.executable))
    os.chmod(path, 0o755)


def greeting(command):
    """What comes through a proxy command, with programs that stand for others."""
    tools = os.path.join(WORK, "tools")
    os.makedirs(tools, exist_ok=True)
    executable(os.path.join(tools, "az"), AZ)
    executable(os.path.join(tools, "nc"), NC)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", f"exec {command}"], env=environment,
                          capture_output=True, text=True, timeout=60, check=False)
    return done.stdout


def slurm(lines, folder, more=""):
    """A controller starts with the lines: what it says, and how it shows its nodes."""
    config = os.path.join(folder, "slurm.conf")
    state = os.path.join(folder, "state")
    os.makedirs(state)
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"""ClusterName=list
SlurmctldHost={os.uname().nodename}(127.0.0.1)
SlurmctldPort=17817
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={state}
SlurmctldPidFile={folder}/pid
SelectType=select/cons_tres
ProctrackType=proctrack/pgid
ReturnToService=2
MailProg=/bin/true
MpiDefault=none
{more}{lines}""")
    command = ["slurmctld", "-D", "-c", "-f", config, "-vv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said, end, shown = [], time.monotonic() + 30, ""
    try:
        for line in process.stdout:
            said.append(line)
            if "Running as primary controller" in line or time.monotonic() > end:
                break
        shown = subprocess.run(
            ["scontrol", "-o", "show", "nodes"], env={**os.environ, "SLURM_CONF": config},
            capture_output=True, text=True, timeout=30, check=False).stdout
    finally:
        process.terminate()
        process.wait(timeout=20)
    return "".join(said), dict(re.findall(r"^NodeName=(\S+)(.*)$", shown, re.MULTILINE))


def parsing_errors(said):
    """What a controller says against its configuration."""
    about = re.compile(r"pars|node|partition|gres|topo", re.IGNORECASE)
    return [line for line in said.splitlines() if "error: " in line and about.search(line)]


for way, access in ACCESS.items():
    sandbox = Sandbox(name=way)
    folder = os.path.join(WORK, f"stack-{way}")
    os.makedirs(folder)
    with open(os.path.join(folder, "tensorform.yaml"), "w", encoding="utf-8") as file:
        file.write(SPEC.replace("ACCESS", access))
    try:
        run(sandbox, folder, "apply", "--yes")
        document = json.loads(run(sandbox, folder, "-o", "json", "inventory"))["inventory"]
        texts = {}
        texts["cyclecloud"] = run(sandbox, folder, "-q", "export", "--cyclecloud=slurm")
        for form in ("ssh", "ansible", "hostfile", "slurm"):
            texts[form] = run(sandbox, folder, "inventory", "--format", form)
            with open(os.path.join(folder, f"{form}.yaml" if form == "ansible" else form), "w",
                      encoding="utf-8") as file:
                file.write(texts[form])
    finally:
        sandbox.stop()
    nodes = {node["name"]: node for node in document["nodes"]}
    reached = "public_ip" if way == "public" else "private_ip"
    with suite.step(f"{way}: every node has its settings", OPENSSH):
        equal(sorted(nodes), HOSTS)
        for name, node in nodes.items():
            found = settings(os.path.join(folder, "ssh"), name)
            equal((found["hostname"], found["user"]), (node[reached], "azureuser"), name)
            equal("proxycommand" in found, way == "bastion", name)
            same = settings(os.path.join(folder, "ssh"), node["host_name"])
            equal(same["hostname"], node[reached], "by the name that it calls itself")
    with suite.step(f"{way}: groups and hosts", ANSIBLE_NAME):
        listed = read_by_ansible(os.path.join(folder, "ansible.yaml"))
        equal(sorted(listed["gpu_work"]["hosts"]), HOSTS[:2])
        equal(sorted(listed["serve"]["hosts"]), HOSTS[2:])
        for name, node in nodes.items():
            found = listed["_meta"]["hostvars"][name]
            equal((found["ansible_host"], found["tensorform_gpus"]), (node[reached], node["gpus"]), name)
    if way == "bastion":
        with suite.step("a tunnel is opened, used and closed", OPENSSH):
            command = settings(os.path.join(folder, "ssh"), HOSTS[0])["proxycommand"]
            equal(greeting(command), "SSH-2.0-through list-bastion\n")
        with suite.step("the same command in the arguments of Ansible", ANSIBLE_NAME):
            arguments = listed["_meta"]["hostvars"][HOSTS[1]]["ansible_ssh_common_args"]
            option, value = shlex.split(arguments)
            equal(option, "-o")
            equal(greeting(value.removeprefix("ProxyCommand=")), "SSH-2.0-through list-bastion\n")
    if way == "private":
        with suite.step("a slot for each GPU", "a hostfile"):
            slots = dict(re.findall(r"^(\S+) slots=(\d+)$", texts["hostfile"], re.MULTILINE))
            equal(slots, {node["private_ip"]: str(node["gpus"] or node["vcpus"]) for node in nodes.values()})
        if shutil.which("slurmctld"):
            with suite.step("a controller starts with the lines", SLURM):
                said, shown = slurm(texts["slurm"], folder)
                check("Running as primary controller" in said, said[-400:])
                equal(parsing_errors(said), [])
                equal(sorted(shown), sorted(node["host_name"] for node in nodes.values()))
                for node in nodes.values():
                    gres = f"gpu:{node['gpus']}" if node["gpus"] else "(null)"
                    check(f"Gres={gres} " in shown[node["host_name"]], shown[node["host_name"]])
                    memory = int(re.search(r"RealMemory=(\d+)", shown[node["host_name"]])[1])
                    check(0.8 * node["memory_mib"] < memory < node["memory_mib"], memory)
            with suite.step("a controller starts with the node arrays of CycleCloud", SLURM):
                arrays = os.path.join(folder, "arrays")
                os.makedirs(arrays)
                said, shown = slurm(texts["cyclecloud"], arrays, POWER_SAVING)
                check("Running as primary controller" in said, said[-400:])
                equal(parsing_errors(said), [])
                equal(sorted(shown), ["list-gpu-work-1", "list-gpu-work-2", "list-serve-1", "list-serve-2"])
                for name, node in shown.items():
                    like = nodes["list-gpu-work_0" if "gpu" in name else "list-serve-0"]
                    gres = f"gpu:{like['gpus']}" if like["gpus"] else "(null)"
                    check(f"Gres={gres} " in node and "CLOUD" in node, node)
                    check(f"CPUTot={like['vcpus']} " in node, node)
            with suite.step("a controller takes the placement groups as switches", SLURM):
                switched = os.path.join(folder, "switched")
                os.makedirs(switched)
                topology = re.findall(r"^# topology.conf: (.*)$", texts["cyclecloud"], re.MULTILINE)
                equal(topology, [f"SwitchName={pool} Nodes=list-{pool}-[1-2]" for pool in ("gpu-work", "serve")])
                with open(os.path.join(switched, "topology.conf"), "w", encoding="utf-8") as file:
                    file.write("\n".join(topology) + "\n")
                said, _ = slurm(texts["cyclecloud"], switched, POWER_SAVING + "TopologyPlugin=topology/tree\n")
                check("Running as primary controller" in said, said[-400:])
                equal(parsing_errors(said), [])
        else:
            suite.leave_out("the lines of nodes and partitions", SLURM, "slurmctld is not installed")
suite.end()
