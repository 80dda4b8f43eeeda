"""The Azure SDK for JavaScript."""
# needs: js

import os
import subprocess
import sys

from conformance import IMAGE, KEY, SUBSCRIPTION, Sandbox

sandbox = Sandbox()
# Modules are looked for beside the program: it stands in the folder of the clients' packages.
program = os.path.join(os.environ["CONFORMANCE_WORK"], "client.mjs")
os.symlink(os.path.join(os.environ["CONFORMANCE_JS"], "node_modules"),
           os.path.join(os.environ["CONFORMANCE_WORK"], "node_modules"))
source = os.path.join(os.environ["CONFORMANCE_TREE"], "tests/conformance/javascript_sdk.mjs")
with open(source, encoding="utf-8") as file, open(program, "w", encoding="utf-8") as copy:
    copy.write(file.read())
environment = {**os.environ, "NODE_EXTRA_CA_CERTS": os.environ["CONFORMANCE_CA"], "ENDPOINT": sandbox.https,
               "SUBSCRIPTION": SUBSCRIPTION, "IMAGE": ":".join(IMAGE), "SSH_KEY": KEY}
done = subprocess.run(["node", program], env=environment, timeout=300, check=False)
sandbox.stop()
sys.exit(done.returncode)
