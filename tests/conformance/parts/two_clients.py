"""Two clients, one world: Tensorform beside the Azure CLI and the SDK."""
# needs: sdk cli

import os
import time

from azure.core.credentials import AccessToken
from azure.mgmt.compute import ComputeManagementClient

from clients import Az, tensorform
from conformance import SUBSCRIPTION, Sandbox, Suite, check, equal

os.environ["REQUESTS_CA_BUNDLE"] = os.environ["CONFORMANCE_CA"]
CLI, SDK, OURS = "azure-cli 2.91.0", "azure-mgmt-compute 39.0.0", "tensorform"
suite, sandbox = Suite(), Sandbox()
az = Az(sandbox)
SIZE, OTHER = "Standard_E8as_v5", "Standard_E16as_v5"
SPEC = f"""version: 1
name: shared
location: eastus
pools:
  train: {{stage: training, workload: small, size: {SIZE}, count: 2}}
"""
spec = os.path.join(os.environ["CONFORMANCE_WORK"], "tensorform.yaml")
with open(spec, "w", encoding="utf-8") as file:
    file.write(SPEC)


class Fixed:
    """A credential whose token the sandbox takes."""

    def get_token(self, *_scopes, **_options):
        return AccessToken("any", int(time.time()) + 3600)


compute = ComputeManagementClient(
    Fixed(), SUBSCRIPTION, base_url=sandbox.https, polling_interval=0,
    credential_scopes=["https://management.azure.com/.default"])


def changes():
    """What a plan would change: address to the attributes that differ."""
    plan = tensorform(sandbox, spec, "plan")
    return {step["address"]: [(entry["path"], entry["before"], entry["after"])
                              for entry in step["reason"].get("attributes", [])]
            for step in plan["steps"] if step["action"] != "noop"}


def through_cli():
    """VMs as `az vm list -d` reads them."""
    return {vm["name"]: (vm["hardwareProfile"]["vmSize"], vm["tags"], vm["vmId"],
                         vm["storageProfile"]["imageReference"]["exactVersion"], vm["powerState"])
            for vm in az("vm", "list", "-d", "-g", "rg-shared")}


def through_sdk():
    """VMs as the SDK reads them."""
    found = {}
    for vm in compute.virtual_machines.list("rg-shared"):
        view = compute.virtual_machines.instance_view("rg-shared", vm.name)
        power = next(status.display_status for status in view.statuses if status.code.startswith("PowerState/"))
        found[vm.name] = (vm.hardware_profile.vm_size, dict(vm.tags), vm.vm_id,
                          vm.storage_profile.image_reference.exact_version, power)
    return found


with suite.step("apply a pool of 2; a second plan changes nothing", OURS):
    tensorform(sandbox, spec, "apply", "--yes")
    equal(changes(), {})
with suite.step("read what Tensorform made", SDK):
    seen = through_sdk()
    equal(sorted(seen), ["shared-train-0", "shared-train-1"])
    size, tags, *_, power = seen["shared-train-0"]
    equal((size, tags["tensorform-stack"], power), (SIZE, "shared", "VM running"))
with suite.step("read the same", CLI):
    az.sign_in()
    equal(through_cli(), through_sdk())
with suite.step("vm resize of one VM is exactly that drift in our plan", f"{CLI}, {OURS}"):
    az("vm", "resize", "-g", "rg-shared", "-n", "shared-train-1", "--size", OTHER)
    equal(changes(), {"pool.train[1].vm": [("size", OTHER, SIZE)]})
with suite.step("a tag of another team, set by az, is no drift", f"{CLI}, {OURS}"):
    az("vm", "update", "-g", "rg-shared", "-n", "shared-train-0", "--set", "tags.team=physics")
    equal(list(changes()), ["pool.train[1].vm"])
with suite.step("apply takes the drift back, and both read the old size", f"{OURS}, {SDK}"):
    tensorform(sandbox, spec, "apply", "--yes")
    equal(changes(), {})
    equal({size for size, *_ in through_sdk().values()}, {SIZE})
with suite.step("a VM deleted through the SDK is made anew", f"{SDK}, {OURS}"):
    before = compute.virtual_machines.get("rg-shared", "shared-train-0").vm_id
    compute.virtual_machines.begin_delete("rg-shared", "shared-train-0").result()
    plan = tensorform(sandbox, spec, "plan")
    equal((plan["counts"]["create"], plan["counts"]["noop"]), (1, 8))
    tensorform(sandbox, spec, "apply", "--yes")
    check(compute.virtual_machines.get("rg-shared", "shared-train-0").vm_id != before, "another VM")
with suite.step("destroy leaves nothing for the others to read", f"{OURS}, {SDK}, {CLI}"):
    tensorform(sandbox, spec, "destroy", "--yes")
    equal(list(compute.virtual_machines.list_all()), [])
    equal(az("group", "list"), [])

sandbox.stop()
suite.end()
