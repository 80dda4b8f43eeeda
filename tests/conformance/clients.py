"""How the parts call clients that are programs of their own."""

import json
import os
import subprocess

from conformance import TENANT


class Refused(Exception):
    """A command that ended with an error, and what it said."""


class Az:
    """The Azure CLI, with a folder of settings of its own and an answer in JSON."""

    def __init__(self, sandbox):
        self.program = os.path.join(os.environ["CONFORMANCE_CLI"], "bin", "az")
        self.sandbox = sandbox
        self.environment = {
            **os.environ,
            "AZURE_CONFIG_DIR": os.path.join(os.environ["CONFORMANCE_WORK"], "az"),
            "AZURE_CORE_INSTANCE_DISCOVERY": "false",
            "AZURE_CORE_COLLECT_TELEMETRY": "false",
            "AZURE_CORE_CHECK_VERSION": "false",
            "AZURE_CORE_NO_COLOR": "true",
            "REQUESTS_CA_BUNDLE": os.environ["CONFORMANCE_CA"],
        }
        self.environment.pop("PYTHONPATH")

    def __call__(self, *arguments):
        done = subprocess.run(
            [self.program, *arguments, "-o", "json"],
            env=self.environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if not line.startswith("WARNING")]
            raise Refused("\n".join(lines))
        return json.loads(done.stdout) if done.stdout.strip() else None

    def sign_in(self):
        """Registers the sandbox as a cloud, and signs in."""
        self("cloud", "register", "-n", "Sandbox", "--endpoint-resource-manager", self.sandbox.https)
        self("cloud", "set", "-n", "Sandbox")
        self("login", "--service-principal", "-u", "44444444-4444-4444-4444-444444444444",
             "-p", "secret", "--tenant", TENANT)


def tensorform(sandbox, spec, *arguments):
    """Our own tool against a sandbox that somebody serves; answers its JSON."""
    environment = {**os.environ, "TENSORFORM_ACCESS_TOKEN": "any"}
    command = [os.environ["CONFORMANCE_BINARY"], "--endpoint", sandbox.http, "--credential", "token",
               "-f", spec, "-o", "json", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise Refused(done.stdout + done.stderr)
    return json.loads(done.stdout)
