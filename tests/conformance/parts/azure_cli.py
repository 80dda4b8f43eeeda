"""The Azure CLI through a registered cloud."""
# needs: cli

import json
import os
import threading

from conformance import IMAGE, KEY, SUBSCRIPTION, TENANT, Sandbox, Suite, check, equal
from clients import Az, Refused

CLIENT = "azure-cli 2.91.0"
suite, sandbox = Suite(), Sandbox()
az = Az(sandbox)
URN = ":".join(IMAGE)
LOCATION, GROUP = "eastus", "cli"
VM = ["-g", GROUP, "-n", "vm"]
TEMPLATE = """{
  // Comments stay in, because the CLI sends the file as it is.
  "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
  "contentVersion": "1.0.0.0",
  "parameters": {"prefix": {"type": "string", "defaultValue": "disk"}, "count": {"type": "int"}},
  "variables": {"names": {"copy": [{"name": "all", "count": "[parameters('count')]",
    "input": "[format('{0}-{1:D2}', parameters('prefix'), copyIndex('all'))]"}]}},
  "resources": [{
    "type": "Microsoft.Compute/disks", "apiVersion": "2024-03-02",
    "name": "[variables('names').all[copyIndex()]]", "location": "[resourceGroup().location]",
    "copy": {"name": "disks", "count": "[parameters('count')]"},
    "sku": {"name": "Premium_LRS"},
    "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}}],
  "outputs": {"First": {"type": "int", "value": "[reference(variables('names').all[0]).diskSizeGB]"}}
}
"""


def run(name, *arguments):
    """A step that is one command; answers what it printed."""
    with suite.step(name, CLIENT):
        return az(*arguments)
    return None


def refused(code, *arguments):
    """Expects a command to be refused with this code."""
    try:
        az(*arguments)
    except Refused as error:
        check(code in str(error), "expected", code, "found", error)
        return
    raise AssertionError(f"expected a refusal with {code}")


def power(name):
    """The power state that `az vm list -d` shows."""
    return {vm["name"]: vm["powerState"] for vm in az("vm", "list", "-d", "-g", GROUP)}[name]


def data_disks():
    """Names of the disks that the template makes."""
    return sorted(disk["name"] for disk in az("disk", "list", "-g", GROUP) if disk["name"].startswith("disk-"))


def lists():
    """What only reads; one of it takes long, because the CLI reads the sizes of all regions."""
    with suite.step("vm list-usage: quotas of the region", CLIENT):
        usage = az("vm", "list-usage", "-l", LOCATION)
        check(any(entry["name"]["value"] == "standardDSv5Family" for entry in usage), "a family")
    with suite.step("vm list-skus: sizes with zones and restrictions", CLIENT):
        skus = az("vm", "list-skus", "-l", LOCATION, "--size", "Standard_ND96", "--resource-type", "virtualMachines")
        check(any(sku["name"] == "Standard_ND96isr_H100_v5" for sku in skus), [sku["name"] for sku in skus][:5])


def deployments():
    """Templates, and how they fail."""
    template = os.path.join(os.environ["CONFORMANCE_WORK"], "template.json")
    with open(template, "w", encoding="utf-8") as file:
        file.write(TEMPLATE)
    arguments = ["-g", GROUP, "-n", "disks", "--template-file", template, "--parameters", "count=2"]
    with suite.step("deployment group validate: nothing is made", CLIENT):
        shown = az("deployment", "group", "validate", *arguments)
        equal(len(shown["properties"]["validatedResources"]), 2)
        equal(data_disks(), [])
    with suite.step("deployment group create: comments, loops, outputs", CLIENT):
        shown = az("deployment", "group", "create", *arguments)
        equal(shown["properties"]["outputs"], {"first": {"type": "Int", "value": 4}})
        equal(data_disks(), ["disk-00", "disk-01"])
    with suite.step("deployment operation group list", CLIENT):
        operations = az("deployment", "operation", "group", "list", "-g", GROUP, "-n", "disks")
        equal({entry["properties"]["provisioningState"] for entry in operations}, {"Succeeded"})
        equal(len(operations), 3)
    with suite.step("a template that is wrong: InvalidTemplate", CLIENT):
        with open(template, "w", encoding="utf-8") as file:
            file.write(TEMPLATE.replace("[resourceGroup().location]", "[whereabouts()]"))
        refused("The template function 'whereabouts' is not valid", "deployment", "group", "create", *arguments)
    with suite.step("a quota that does not suffice: InvalidTemplateDeployment, QuotaExceeded", CLIENT):
        sandbox.admin("PUT", f"quota/{SUBSCRIPTION}/{LOCATION}", {"standardFSv2Family": 1})
        refused("QuotaExceeded", "vm", "create", "-g", GROUP, "-n", "large", "--image", URN, "--size",
                "Standard_F4s_v2", "--admin-username", "azureuser", "--ssh-key-values", KEY)
    with suite.step("no capacity: DeploymentFailed with AllocationFailed inside", CLIENT):
        sandbox.admin("POST", "faults", {"rules": [{
            "name": "capacity", "match": {"method": "PUT", "type": "Microsoft.Compute/virtualMachines", "name": "unlucky"},
            "then": {"fail_in_operation": {"code": "AllocationFailed"}}}]})
        refused("AllocationFailed", "vm", "create", "-g", GROUP, "-n", "unlucky", "--image", URN, "--size",
                "Standard_D2s_v5", "--admin-username", "azureuser", "--ssh-key-values", KEY)


def scale_sets():
    """Scale sets, with the load balancer that the CLI puts before them."""
    with suite.step("vmss create: Flexible, Spot, 3 instances, load balancer", CLIENT):
        az("vmss", "create", "-g", GROUP, "-n", "set", "--image", URN, "--vm-sku", "Standard_D2s_v5",
           "--instance-count", "3", "--orchestration-mode", "Flexible", "--priority", "Spot",
           "--eviction-policy", "Delete", "--admin-username", "azureuser", "--ssh-key-values", KEY,
           "--vnet-name", "setnet", "--subnet", "default")
        equal([entry["sku"]["capacity"] for entry in az("vmss", "list", "-g", GROUP)], [3])
    with suite.step("vmss list-instances", CLIENT):
        equal(len(az("vmss", "list-instances", "-g", GROUP, "-n", "set")), 3)
    with suite.step("vmss create: Uniform, 2 instances; vmss scale", CLIENT):
        az("vmss", "create", "-g", GROUP, "-n", "uniform", "--image", URN, "--vm-sku", "Standard_D2s_v5",
           "--instance-count", "2", "--orchestration-mode", "Uniform", "--upgrade-policy-mode", "Manual",
           "--admin-username", "azureuser", "--ssh-key-values", KEY, "--vnet-name", "setnet", "--subnet", "default")
        az("vmss", "scale", "-g", GROUP, "-n", "uniform", "--new-capacity", "4")
        equal(len(az("vmss", "list-instances", "-g", GROUP, "-n", "uniform")), 4)
    suite.leave_out("deployment group create --mode Complete, what-if, deployments of a subscription", CLIENT,
                    "not served; the sandbox says so")
    suite.leave_out("vm extension, vm encryption, vm image lists of all publishers", CLIENT, "not tried")


def batch():
    """Batch accounts."""
    with suite.step("batch account create", CLIENT):
        shown = az("batch", "account", "create", "-g", GROUP, "-n", "sandboxbatch", "-l", LOCATION)
        equal((shown["name"], shown["provisioningState"]), ("sandboxbatch", "Succeeded"))


def machine():
    """One VM from its creation to its end."""
    with suite.step("vm create: address, security group, own NIC, through a deployment", CLIENT):
        shown = az("vm", "create", *VM, "--image", URN, "--size", "Standard_D4s_v5", "--vnet-name", "net",
                   "--subnet", "default", "--admin-username", "azureuser", "--ssh-key-values", KEY)
        equal((shown["powerState"], shown["privateIpAddress"]), ("VM running", "10.0.0.4"))
        check(shown["publicIpAddress"], "a public address")
    with suite.step("vm list -d: power state and addresses", CLIENT):
        equal(power("vm"), "VM running")
    with suite.step("a NIC in use cannot be deleted: NicInUse", CLIENT):
        refused("NicInUse", "network", "nic", "delete", "-g", GROUP, "-n", "vmVMNic")
    with suite.step("vm deallocate", CLIENT):
        az("vm", "deallocate", *VM)
        equal(power("vm"), "VM deallocated")
    with suite.step("vm resize", CLIENT):
        equal(az("vm", "resize", *VM, "--size", "Standard_D8s_v5")["hardwareProfile"]["vmSize"], "Standard_D8s_v5")
    with suite.step("vm start", CLIENT):
        az("vm", "start", *VM)
        equal(power("vm"), "VM running")
    with suite.step("vm get-instance-view, vm show, resource list", CLIENT):
        view = az("vm", "get-instance-view", *VM)["instanceView"]
        check(any(status["code"] == "PowerState/running" for status in view["statuses"]), view)
        equal(az("vm", "show", *VM)["name"], "vm")
        kinds = {entry["type"] for entry in az("resource", "list", "-g", GROUP)}
        check("Microsoft.Compute/virtualMachines" in kinds, kinds)


run("cloud register: endpoints from the metadata of the cloud", "cloud", "register", "-n", "Sandbox",
    "--endpoint-resource-manager", sandbox.https)
run("cloud set", "cloud", "set", "-n", "Sandbox")
run("login --service-principal", "login", "--service-principal", "-u", "44444444-4444-4444-4444-444444444444",
    "-p", "secret", "--tenant", TENANT)
run("group create", "group", "create", "-n", GROUP, "-l", LOCATION)
run("network vnet create", "network", "vnet", "create", "-g", GROUP, "-n", "net", "-l", LOCATION,
    "--subnet-name", "default")

# Where the service names no time to wait, the CLI waits 30 s; so lanes go side by side.
lanes = [threading.Thread(target=lane) for lane in (lists, machine, deployments)]
for lane in lanes:
    lane.start()
scale_sets()
batch()
for lane in lanes:
    lane.join()
with suite.step("group delete: all of it is gone", CLIENT):
    az("group", "delete", "-n", GROUP, "-y")
    equal(json.dumps(az("group", "list")), "[]")

sandbox.stop()
suite.end()
