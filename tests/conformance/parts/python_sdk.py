"""The Azure SDK for Python."""
# needs: sdk

import os
import time

from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceNotFoundError
from azure.identity import ClientSecretCredential, ManagedIdentityCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.resource.deployments import DeploymentsMgmtClient
from azure.mgmt.resource.resources import ResourceManagementClient

from conformance import IMAGE, KEY, SUBSCRIPTION, TENANT, Sandbox, Suite, check, equal

IDENTITY = "azure-identity 1.27.0"
COMPUTE, NETWORK, RESOURCE = "azure-mgmt-compute 39.0.0", "azure-mgmt-network 33.1.0", "azure-mgmt-resource 26.0.0"
DEPLOYMENTS = "…-deployments 2.0.0"
LOCATION, GROUP, SIZE, FAMILY = "eastus", "sdk", "Standard_D4s_v5", "standardDSv5Family"

os.environ["REQUESTS_CA_BUNDLE"] = os.environ["CONFORMANCE_CA"]
suite, sandbox = Suite(), Sandbox()


class Fixed:
    """A credential with a token that somebody gave it."""

    def __init__(self, token="any"):
        self.token = token

    def get_token(self, *_scopes, **_options):
        return AccessToken(self.token, int(time.time()) + 3600)


def clients(credential):
    """The three clients, over https."""
    options = {
        "base_url": sandbox.https,
        "credential_scopes": ["https://management.azure.com/.default"],
        "polling_interval": 0,
    }
    return (
        ComputeManagementClient(credential, SUBSCRIPTION, **options),
        NetworkManagementClient(credential, SUBSCRIPTION, **options),
        ResourceManagementClient(credential, SUBSCRIPTION, **options),
    )


compute, network, resources = clients(Fixed())
machines = compute.virtual_machines


def nic(name, subnet):
    """Makes a network interface."""
    poller = network.network_interfaces.begin_create_or_update(GROUP, name, {
        "location": LOCATION,
        "properties": {"ipConfigurations": [{"name": "ip", "properties": {"subnet": {"id": subnet}}}]},
    })
    return poller.result().id


def machine(nic_id, name, size=SIZE):
    """A VM as a request has it."""
    publisher, offer, sku, version = IMAGE
    return {
        "location": LOCATION,
        "properties": {
            "hardwareProfile": {"vmSize": size},
            "storageProfile": {
                "imageReference": {"publisher": publisher, "offer": offer, "sku": sku, "version": version},
                "osDisk": {"createOption": "FromImage", "deleteOption": "Delete"},
            },
            "osProfile": {
                "computerName": name,
                "adminUsername": "azureuser",
                "linuxConfiguration": {
                    "disablePasswordAuthentication": True,
                    "ssh": {"publicKeys": [{"path": "/home/azureuser/.ssh/authorized_keys", "keyData": KEY}]},
                },
            },
            "networkProfile": {"networkInterfaces": [{"id": nic_id}]},
        },
    }


def usage(name):
    """What is used of a quota of Compute."""
    return next(int(entry.current_value) for entry in compute.usage.list(LOCATION) if entry.name.value == name)


def power(name):
    """The power state of a VM."""
    view = machines.instance_view(GROUP, name)
    return next(status.code for status in view.statuses if status.code.startswith("PowerState/"))


def refused(act, status, code):
    """Expects a refusal and answers it."""
    try:
        act()
    except HttpResponseError as error:
        found = error.error.code if error.error else None
        equal((error.status_code, found), (status, code), "refusal")
        return error
    raise AssertionError(f"expected the refusal {code}")


with suite.step("a service principal's token, with discovery of the authority", IDENTITY):
    secret = ClientSecretCredential(
        TENANT, "44444444-4444-4444-4444-444444444444", "secret",
        authority=sandbox.https, disable_instance_discovery=True)
    groups = clients(secret)[2].resource_groups
    equal(list(groups.list()), [])
with suite.step("a managed identity's token, as App Service gives it", IDENTITY):
    os.environ.update(IDENTITY_ENDPOINT=f"{sandbox.http}/msi/token", IDENTITY_HEADER="header")
    check(ManagedIdentityCredential().get_token("https://management.azure.com/.default").token, "a token")
    del os.environ["IDENTITY_ENDPOINT"], os.environ["IDENTITY_HEADER"]
with suite.step("a managed identity's token, as a machine's metadata service gives it", IDENTITY):
    os.environ["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = sandbox.http
    check(ManagedIdentityCredential().get_token("https://management.azure.com/.default").token, "a token")
    del os.environ["AZURE_POD_IDENTITY_AUTHORITY_HOST"]

subnet = None
with suite.step("create a group and a network", RESOURCE):
    group = resources.resource_groups.create_or_update(GROUP, {"location": LOCATION, "tags": {"a": "1"}})
    equal(group.properties.provisioning_state, "Succeeded")
    made = network.virtual_networks.begin_create_or_update(GROUP, "net", {
        "location": LOCATION,
        "properties": {
            "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
            "subnets": [{"name": "default", "properties": {"addressPrefix": "10.0.0.0/24"}}],
        },
    }).result()
    subnet = made.subnets[0].id

with suite.step("create a VM and read it back", COMPUTE):
    poller = machines.begin_create_or_update(GROUP, "vm", machine(nic("nic", subnet), "vm"))
    vm = poller.result()
    equal((vm.provisioning_state, vm.hardware_profile.vm_size), ("Succeeded", SIZE))
    equal(vm.storage_profile.image_reference.exact_version[:3], "25.", "the image's version")
    equal(power("vm"), "PowerState/running")
    disk = compute.disks.get(GROUP, vm.storage_profile.os_disk.name)
    equal((disk.disk_state, disk.managed_by.lower()), ("Attached", vm.id.lower()))
with suite.step("update a VM: tags by PATCH", COMPUTE):
    vm = machines.begin_update(GROUP, "vm", {"tags": {"team": "a"}}).result()
    equal(vm.tags, {"team": "a"})
with suite.step("usage moves with each VM, and does not with deallocation", COMPUTE):
    equal((usage("cores"), usage(FAMILY), usage("virtualMachines")), (4, 4, 1))
    machines.begin_create_or_update(GROUP, "second", machine(nic("second-nic", subnet), "second")).result()
    equal((usage("cores"), usage(FAMILY), usage("virtualMachines")), (8, 8, 2))
    machines.begin_deallocate(GROUP, "second").result()
    equal(power("second"), "PowerState/deallocated")
    equal((usage("cores"), usage("virtualMachines")), (8, 2))
with suite.step("resize: deallocate, other size, start", COMPUTE):
    vm = machines.begin_update(GROUP, "second", {"properties": {"hardwareProfile": {"vmSize": "Standard_D8s_v5"}}}).result()
    equal(vm.hardware_profile.vm_size, "Standard_D8s_v5")
    equal((usage("cores"), usage(FAMILY)), (12, 12))
    machines.begin_start(GROUP, "second").result()
    equal(power("second"), "PowerState/running")
with suite.step("stop, restart, reapply", COMPUTE):
    machines.begin_power_off(GROUP, "second").result()
    equal(power("second"), "PowerState/stopped")
    machines.begin_restart(GROUP, "second").result()
    machines.begin_reapply(GROUP, "second").result()
    equal(power("second"), "PowerState/running")
with suite.step("list 53 VMs in pages of 50, of a group and of all", COMPUTE):
    pending = [
        machines.begin_create_or_update(
            GROUP, f"many-{number}", machine(nic(f"many-{number}-nic", subnet), f"many-{number}", "Standard_D2s_v5"))
        for number in range(51)
    ]
    for poller in pending:
        poller.result()
    pages = [len(list(page)) for page in machines.list(GROUP).by_page()]
    equal(pages, [50, 3])
    equal(len({vm.id for vm in machines.list_all()}), 53)
    equal(usage("virtualMachines"), 53)
with suite.step("SKUs of a region, with zones, family and capabilities", COMPUTE):
    skus = [sku for sku in compute.resource_skus.list(filter=f"location eq '{LOCATION}'")
            if sku.resource_type == "virtualMachines"]
    found = next(sku for sku in skus if sku.name == SIZE)
    capabilities = {entry.name: entry.value for entry in found.capabilities}
    equal((found.family, capabilities["vCPUs"]), (FAMILY, "4"))
    gpu = next(sku for sku in skus if sku.name == "Standard_ND96isr_H100_v5")
    equal({entry.name: entry.value for entry in gpu.capabilities}["GPUs"], "8")
with suite.step("an unknown size is refused", COMPUTE):
    spare = nic("spare-nic", subnet)
    error = refused(
        lambda: machines.begin_create_or_update(GROUP, "bad", machine(spare, "bad", "Standard_Nope")),
        400, "InvalidParameter")
    check("Standard_Nope" in error.message, error.message)
with suite.step("a NIC in use cannot be deleted", NETWORK):
    refused(lambda: network.network_interfaces.begin_delete(GROUP, "nic").result(), 400, "NicInUse")
with suite.step("a quota that does not suffice refuses a VM", COMPUTE):
    sandbox.admin("PUT", f"quota/{SUBSCRIPTION}/{LOCATION}", {FAMILY: 1})
    error = refused(
        lambda: machines.begin_create_or_update(GROUP, "bad", machine(spare, "bad")), 409, "OperationNotAllowed")
    check("Current Limit: 1" in error.message, error.message)
    sandbox.admin("PUT", f"quota/{SUBSCRIPTION}/{LOCATION}", {FAMILY: 1000})
with suite.step("a create that fails in its operation stays, as Failed", COMPUTE):
    sandbox.admin("PUT", "faults", {"rules": [{
        "name": "capacity", "match": {"method": "PUT", "type": "Microsoft.Compute/virtualMachines", "count": 1},
        "then": {"fail_in_operation": {"code": "AllocationFailed"}}}]})
    poller = machines.begin_create_or_update(GROUP, "failed", machine(spare, "failed"))
    error = refused(poller.result, 200, "AllocationFailed")
    equal(machines.get(GROUP, "failed").provisioning_state, "Failed")
    machines.begin_delete(GROUP, "failed").result()
with suite.step("a throttled create is tried again by the client", COMPUTE):
    sandbox.admin("PUT", "faults", {"rules": [{
        "name": "throttle", "match": {"method": "PUT", "type": "Microsoft.Compute/virtualMachines", "count": 1},
        "then": {"throttle": {"retry_after": 1}}}]})
    fresh = nic("fresh-nic", subnet)
    vm = machines.begin_create_or_update(GROUP, "throttled", machine(fresh, "throttled")).result()
    equal((vm.provisioning_state, sandbox.fired()), ("Succeeded", {"throttle": 1}))
with suite.step("an expired token is told as such", COMPUTE):
    sandbox.admin("PUT", "faults", {"expired_tokens": ["yesterday"]})
    try:
        list(clients(Fixed("yesterday"))[0].virtual_machines.list(GROUP))
        raise AssertionError("expected a refusal")
    except ClientAuthenticationError as error:
        equal((error.status_code, error.error.code), (401, "ExpiredAuthenticationToken"))
with suite.step("a template deployment, with its outputs", DEPLOYMENTS):
    template = {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "parameters": {"name": {"type": "string"}},
        "resources": [{
            "type": "Microsoft.Compute/disks", "apiVersion": "2024-03-02", "name": "[parameters('name')]",
            "location": "[resourceGroup().location]", "sku": {"name": "Premium_LRS"},
            "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}}],
        "outputs": {"size": {"type": "int", "value": "[reference(parameters('name')).diskSizeGB]"}},
    }
    client = DeploymentsMgmtClient(
        Fixed(), SUBSCRIPTION, base_url=sandbox.https, polling_interval=0,
        credential_scopes=["https://management.azure.com/.default"])
    done = client.deployments.begin_create_or_update(GROUP, "disk", {"properties": {
        "mode": "Incremental", "template": template, "parameters": {"name": {"value": "data"}}}}).result()
    equal(done.properties.outputs, {"size": {"type": "Int", "value": 8}})
with suite.step("delete: VM, NIC, network, group", COMPUTE):
    machines.begin_delete(GROUP, "vm").result()
    try:
        machines.get(GROUP, "vm")
        raise AssertionError("expected the VM to be gone")
    except ResourceNotFoundError as error:
        check(error.error.code in ("NotFound", "ResourceNotFound"), error)
    network.network_interfaces.begin_delete(GROUP, "nic").result()
    check(all(found.name != "nic" for found in network.network_interfaces.list(GROUP)), "the NIC is gone")
    resources.resource_groups.begin_delete(GROUP).result()
    equal(list(resources.resource_groups.list()), [])
    equal((usage("cores"), usage("virtualMachines")), (0, 0))

sandbox.stop()
suite.end()
