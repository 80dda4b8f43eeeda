"""Slurm's own controller reads the lines that `inventory --format slurm` prints."""
# needs: slurm

import glob
import os
import re
import socket
import subprocess
import time

from clients import tensorform
from conformance import Sandbox, Suite, check, equal

ROOT = os.environ["CONFORMANCE_SLURM"]
WORK = os.environ["CONFORMANCE_WORK"]
PLUGINS = glob.glob(os.path.join(ROOT, "usr/lib/*/slurm-wlm"))[0]
ENVIRONMENT = {**os.environ, "SLURM_CONF": os.path.join(WORK, "slurm.conf"),
               "LD_LIBRARY_PATH": f"{os.path.dirname(PLUGINS)}:{PLUGINS}"}
PORT = 16817
SPEC = """version: 1
name: nodes
location: eastus
pools:
  train: {stage: training, workload: generative, size: Standard_ND96isr_H100_v5, count: 2}
  serve: {stage: inference, workload: small, size: Standard_NC4as_T4_v3, count: 1}
"""
HEAD = f"""ClusterName=check
SlurmctldHost={socket.gethostname().split('.')[0]}(127.0.0.1)
SlurmctldPort={PORT}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
PluginDir={PLUGINS}
StateSaveLocation={WORK}/state
SlurmctldPidFile={WORK}/state/pid
SlurmdSpoolDir={WORK}/state
ProctrackType=proctrack/pgid
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
"""

suite, sandbox = Suite(), Sandbox()
spec = os.path.join(WORK, "tensorform.yaml")
with open(spec, "w", encoding="utf-8") as file:
    file.write(SPEC)
version = subprocess.run([f"{ROOT}/usr/sbin/slurmctld", "-V"], env=ENVIRONMENT, text=True,
                         capture_output=True, check=True).stdout.strip()


def ask(program, *arguments):
    """What a program of Slurm prints, errors too."""
    done = subprocess.run([f"{ROOT}/usr/bin/{program}", *arguments], env=ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout


class Controller:
    """A controller in the foreground, for as long as a step takes."""

    def __init__(self, lines, gres):
        subprocess.run(["rm", "-rf", f"{WORK}/state"], check=True)
        os.makedirs(f"{WORK}/state")
        with open(f"{WORK}/slurm.conf", "w", encoding="utf-8") as conf:
            conf.write(HEAD + lines)
        with open(f"{WORK}/gres.conf", "w", encoding="utf-8") as conf:
            conf.write(gres)

    def __enter__(self):
        self.log = open(f"{WORK}/slurmctld.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [f"{ROOT}/usr/sbin/slurmctld", "-D", "-f", f"{WORK}/slurm.conf"],
            env=ENVIRONMENT, stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(100):
            if "is UP" in ask("scontrol", "ping") or self.process.poll() is not None:
                break
            time.sleep(0.1)
        check(self.process.poll() is None, "slurmctld ended:", self.said())
        return self

    def said(self):
        """What it has logged."""
        self.log.flush()
        with open(f"{WORK}/slurmctld.log", encoding="utf-8") as log:
            return log.read()

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.log.close()


def inventory():
    """The lines for `slurm.conf`."""
    done = subprocess.run(
        [os.environ["CONFORMANCE_BINARY"], "-f", spec, "--endpoint", sandbox.http,
         "--credential", "token", "inventory", "--format", "slurm"],
        env={**os.environ, "TENSORFORM_ACCESS_TOKEN": "any"}, text=True, capture_output=True, check=True)
    return done.stdout


with suite.step("apply a pool of 2 nodes with 8 GPUs and one with 1", "tensorform"):
    tensorform(sandbox, spec, "apply", "--yes")
    lines = inventory()
    check("Gres=gpu:8" in lines, lines)

with suite.step("read nodes, CPUs, memory, GPUs and partitions", version):
    # As the first lines of the output advise.
    with Controller(lines, "AutoDetect=nvml\n") as controller:
        told = ask("sinfo", "-a", "-N", "-h", "-o", "%c %m %G %P").split("\n")
        # 95 % of the memory of the sizes, of which Slurm may give jobs all.
        expected = ["96 1848320 gpu:8 train"] * 2 + ["4 27239 gpu:1 serve"]
        equal(sorted(line.replace("*", "") for line in told if line), sorted(expected))
        check(not re.search(r"fatal|gres.*error|error.*gres", controller.said(), re.I), controller.said())

with suite.step("place jobs with as many GPUs as there are, and refuse more", version):
    # Nodes that never registered take no jobs; those of a cloud are started for them, and cannot
    # find their GPUs by themselves.
    with Controller(lines.replace("State=UNKNOWN", "State=CLOUD"), ""):
        with open(f"{WORK}/job.sh", "w", encoding="utf-8") as job:
            job.write("#!/bin/sh\ntrue\n")

        def placed(*arguments):
            """Whether the scheduler would start such a job."""
            return "to start at" in ask("sbatch", "--test-only", *arguments, f"{WORK}/job.sh")

        check(placed("-p", "train", "-N2", "--gres=gpu:8"), "16 GPUs on two nodes")
        check(not placed("-p", "train", "-N2", "--gres=gpu:9"), "9 GPUs of a node with 8")
        check(not placed("-p", "serve", "-N1", "--gres=gpu:2"), "2 GPUs of a node with 1")
        check(placed("-p", "train", "-N1", "--mem=1848320"), "all memory of a node")
        check(not placed("-p", "train", "-N1", "--mem=1848321"), "more memory than a node has")

sandbox.stop()
suite.end()
