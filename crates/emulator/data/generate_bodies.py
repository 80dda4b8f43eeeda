#!/usr/bin/env python3
"""Writes bodies.json: which members a request body may have, per resource type.

Usage: generate_bodies.py SPECIFICATION_FOLDER > bodies.json

SPECIFICATION_FOLDER is `specification/` of Azure/azure-rest-api-specs (MIT) at the
commit named in SOURCE. Only member names, their types, and whether they are read-only or
required are kept. To serve another type, add a line to BODIES and run the script again.
"""

import json
import os
import sys

SOURCE = "Azure/azure-rest-api-specs@7dfd17073198 (2024-11-05), MIT"
COMPUTE = "compute/resource-manager/Microsoft.Compute/ComputeRP/stable/2024-07-01/"
DISK = "compute/resource-manager/Microsoft.Compute/DiskRP/stable/2024-03-02/"
GALLERY = "compute/resource-manager/Microsoft.Compute/GalleryRP/stable/2023-07-03/"
NETWORK = "network/resource-manager/Microsoft.Network/stable/2024-03-01/"
RESOURCES = "resources/resource-manager/Microsoft.Resources/stable/2024-07-01/"
BATCH = "batch/resource-manager/Microsoft.Batch/stable/2024-07-01/BatchManagement.json"
CLUSTERS = (
    "containerservice/resource-manager/Microsoft.ContainerService/aks/stable/2024-09-01/"
    "managedClusters.json"
)
IDENTITY = "msi/resource-manager/Microsoft.ManagedIdentity/stable/2023-01-31/ManagedIdentity.json"
ROLES = (
    "authorization/resource-manager/Microsoft.Authorization/stable/2022-04-01/"
    "authorization-RoleAssignmentsCalls.json"
)
LOCKS = "resources/resource-manager/Microsoft.Authorization/stable/2020-05-01/locks.json"
TERMS = (
    "marketplaceordering/resource-manager/Microsoft.MarketplaceOrdering/stable/2021-01-01/"
    "Agreements.json"
)
SCHEDULES = "devtestlabs/resource-manager/Microsoft.DevTestLab/stable/2018-09-15/DTL.json"

# type -> api-version of the schema, and (file, definition) of its PUT and PATCH bodies.
BODIES = {
    "Microsoft.Compute/virtualMachines": (
        "2024-07-01",
        (COMPUTE + "virtualMachine.json", "VirtualMachine"),
        (COMPUTE + "virtualMachine.json", "VirtualMachineUpdate"),
    ),
    "Microsoft.Compute/disks": (
        "2024-03-02",
        (DISK + "disk.json", "Disk"),
        (DISK + "disk.json", "DiskUpdate"),
    ),
    "Microsoft.Compute/sshPublicKeys": (
        "2024-07-01",
        (COMPUTE + "sshPublicKey.json", "SshPublicKeyResource"),
        (COMPUTE + "sshPublicKey.json", "SshPublicKeyUpdateResource"),
    ),
    "Microsoft.Compute/virtualMachineScaleSets": (
        "2024-07-01",
        (COMPUTE + "virtualMachineScaleSet.json", "VirtualMachineScaleSet"),
        (COMPUTE + "virtualMachineScaleSet.json", "VirtualMachineScaleSetUpdate"),
    ),
    "Microsoft.Compute/virtualMachineScaleSets/virtualMachines": (
        "2024-07-01",
        (COMPUTE + "virtualMachineScaleSet.json", "VirtualMachineScaleSetVM"),
        None,
    ),
    "Microsoft.Compute/virtualMachineScaleSets/extensions": (
        "2024-07-01",
        (COMPUTE + "virtualMachineScaleSet.json", "VirtualMachineScaleSetExtension"),
        (COMPUTE + "virtualMachineScaleSet.json", "VirtualMachineScaleSetExtensionUpdate"),
    ),
    "Microsoft.Compute/virtualMachines/extensions": (
        "2024-07-01",
        (COMPUTE + "virtualMachine.json", "VirtualMachineExtension"),
        (COMPUTE + "virtualMachine.json", "VirtualMachineExtensionUpdate"),
    ),
    "Microsoft.Compute/virtualMachines/runCommands": (
        "2024-07-01",
        (COMPUTE + "runCommand.json", "VirtualMachineRunCommand"),
        (COMPUTE + "runCommand.json", "VirtualMachineRunCommandUpdate"),
    ),
    "Microsoft.Compute/availabilitySets": (
        "2024-07-01",
        (COMPUTE + "availabilitySet.json", "AvailabilitySet"),
        (COMPUTE + "availabilitySet.json", "AvailabilitySetUpdate"),
    ),
    "Microsoft.Compute/proximityPlacementGroups": (
        "2024-07-01",
        (COMPUTE + "proximityPlacementGroup.json", "ProximityPlacementGroup"),
        (COMPUTE + "proximityPlacementGroup.json", "ProximityPlacementGroupUpdate"),
    ),
    "Microsoft.Compute/capacityReservationGroups": (
        "2024-07-01",
        (COMPUTE + "capacityReservation.json", "CapacityReservationGroup"),
        (COMPUTE + "capacityReservation.json", "CapacityReservationGroupUpdate"),
    ),
    "Microsoft.Compute/capacityReservationGroups/capacityReservations": (
        "2024-07-01",
        (COMPUTE + "capacityReservation.json", "CapacityReservation"),
        (COMPUTE + "capacityReservation.json", "CapacityReservationUpdate"),
    ),
    "Microsoft.Compute/images": (
        "2024-07-01",
        (COMPUTE + "image.json", "Image"),
        (COMPUTE + "image.json", "ImageUpdate"),
    ),
    "Microsoft.Compute/snapshots": (
        "2024-03-02",
        (DISK + "snapshot.json", "Snapshot"),
        (DISK + "snapshot.json", "SnapshotUpdate"),
    ),
    "Microsoft.Compute/galleries": (
        "2023-07-03",
        (GALLERY + "gallery.json", "Gallery"),
        (GALLERY + "gallery.json", "GalleryUpdate"),
    ),
    "Microsoft.Compute/galleries/images": (
        "2023-07-03",
        (GALLERY + "gallery.json", "GalleryImage"),
        (GALLERY + "gallery.json", "GalleryImageUpdate"),
    ),
    "Microsoft.Compute/galleries/images/versions": (
        "2023-07-03",
        (GALLERY + "gallery.json", "GalleryImageVersion"),
        (GALLERY + "gallery.json", "GalleryImageVersionUpdate"),
    ),
    "Microsoft.Network/virtualNetworks": (
        "2024-03-01",
        (NETWORK + "virtualNetwork.json", "VirtualNetwork"),
        (NETWORK + "network.json", "TagsObject"),
    ),
    "Microsoft.Network/virtualNetworks/subnets": (
        "2024-03-01",
        (NETWORK + "virtualNetwork.json", "Subnet"),
        None,
    ),
    "Microsoft.Network/networkSecurityGroups": (
        "2024-03-01",
        (NETWORK + "networkSecurityGroup.json", "NetworkSecurityGroup"),
        (NETWORK + "network.json", "TagsObject"),
    ),
    "Microsoft.Network/networkSecurityGroups/securityRules": (
        "2024-03-01",
        (NETWORK + "networkSecurityGroup.json", "SecurityRule"),
        None,
    ),
    "Microsoft.Network/publicIPAddresses": (
        "2024-03-01",
        (NETWORK + "publicIpAddress.json", "PublicIPAddress"),
        (NETWORK + "network.json", "TagsObject"),
    ),
    "Microsoft.Network/natGateways": (
        "2024-03-01",
        (NETWORK + "natGateway.json", "NatGateway"),
        (NETWORK + "network.json", "TagsObject"),
    ),
    "Microsoft.Network/networkInterfaces": (
        "2024-03-01",
        (NETWORK + "networkInterface.json", "NetworkInterface"),
        (NETWORK + "network.json", "TagsObject"),
    ),
    "Microsoft.Network/loadBalancers": (
        "2024-03-01",
        (NETWORK + "loadBalancer.json", "LoadBalancer"),
        (NETWORK + "network.json", "TagsObject"),
    ),
    "Microsoft.Network/loadBalancers/backendAddressPools": (
        "2024-03-01",
        (NETWORK + "loadBalancer.json", "BackendAddressPool"),
        None,
    ),
    "Microsoft.Network/loadBalancers/inboundNatRules": (
        "2024-03-01",
        (NETWORK + "loadBalancer.json", "InboundNatRule"),
        None,
    ),
    "Microsoft.Network/bastionHosts": (
        "2024-03-01",
        (NETWORK + "bastionHost.json", "BastionHost"),
        (NETWORK + "network.json", "TagsObject"),
    ),
    "Microsoft.Batch/batchAccounts": (
        "2024-07-01",
        (BATCH, "BatchAccountCreateParameters"),
        (BATCH, "BatchAccountUpdateParameters"),
    ),
    "Microsoft.Batch/batchAccounts/pools": ("2024-07-01", (BATCH, "Pool"), (BATCH, "Pool")),
    "Microsoft.ContainerService/managedClusters": (
        "2024-09-01",
        (CLUSTERS, "ManagedCluster"),
        (CLUSTERS, "TagsObject"),
    ),
    "Microsoft.ContainerService/managedClusters/agentPools": (
        "2024-09-01",
        (CLUSTERS, "AgentPool"),
        None,
    ),
    "Microsoft.ManagedIdentity/userAssignedIdentities": (
        "2023-01-31",
        (IDENTITY, "Identity"),
        (IDENTITY, "IdentityUpdate"),
    ),
    "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials": (
        "2023-01-31",
        (IDENTITY, "FederatedIdentityCredential"),
        None,
    ),
    "Microsoft.Authorization/roleAssignments": (
        "2022-04-01",
        (ROLES, "RoleAssignmentCreateParameters"),
        None,
    ),
    "Microsoft.Authorization/locks": ("2020-05-01", (LOCKS, "ManagementLockObject"), None),
    "Microsoft.MarketplaceOrdering/offerTypes/publishers/offers/plans/agreements": (
        "2021-01-01",
        (TERMS, "AgreementTerms"),
        None,
    ),
    "Microsoft.DevTestLab/schedules": (
        "2018-09-15",
        (SCHEDULES, "Schedule"),
        (SCHEDULES, "ScheduleFragment"),
    ),
    "Microsoft.Resources/resourceGroups": (
        "2024-07-01",
        (RESOURCES + "resources.json", "ResourceGroup"),
        (RESOURCES + "resources.json", "ResourceGroupPatchable"),
    ),
    "Microsoft.Resources/tags": (
        "2024-07-01",
        (RESOURCES + "resources.json", "TagsResource"),
        (RESOURCES + "resources.json", "TagsPatchResource"),
    ),
}

ROOT = sys.argv[1]
FILES = {}
OBJECTS = {}


def load(path):
    path = os.path.normpath(path)
    if path not in FILES:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            FILES[path] = json.load(file)
    return FILES[path]


def follow(path, reference):
    """The file and the definition that a `$ref` of this file names."""
    file, _, pointer = reference.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    name = pointer.rsplit("/", 1)[1]
    return target, name, load(target)["definitions"][name]


def members(path, definition):
    """Own and inherited members, each with the file that declares it."""
    found, required = {}, list(definition.get("required", []))
    for parent in definition.get("allOf", []):
        target, _, inherited = follow(path, parent["$ref"])
        more, also = members(target, inherited)
        found.update(more)
        required += also
    for name, member in definition.get("properties", {}).items():
        found[name] = (path, member)
    return found, required


def kind(path, schema):
    """The type of a member as one word or phrase."""
    if "$ref" in schema:
        target, name, definition = follow(path, schema["$ref"])
        if "enum" in definition or definition.get("type") in ("string", "integer", "boolean"):
            return definition.get("type", "string")
        if definition.get("type") == "array":
            return "array of " + kind(target, definition["items"])
        found, _ = members(target, definition)
        if not found:
            if isinstance(definition.get("additionalProperties"), dict):
                return "map of " + kind(target, definition["additionalProperties"])
            return "any"
        return declare(target, name, definition)
    if schema.get("type") == "array":
        return "array of " + kind(path, schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        return "map of " + kind(path, schema["additionalProperties"])
    if schema.get("type") == "object" or "properties" in schema:
        return "any"
    return schema.get("type", "any")


def declare(path, name, definition):
    """Adds an object type once and answers its name, told apart by file where two share one."""
    key = name
    if key in OBJECTS and OBJECTS[key]["file"] != path:
        key = name + "@" + os.path.basename(path).removesuffix(".json")
    if key in OBJECTS:
        return key
    OBJECTS[key] = {"file": path, "members": {}}
    found, required = members(path, definition)
    for member, (where, schema) in sorted(found.items()):
        # A read-only member is accepted and ignored whatever is in it.
        if schema.get("readOnly"):
            OBJECTS[key]["members"][member] = "read-only any"
            continue
        prefix = "required " if member in required else ""
        OBJECTS[key]["members"][member] = prefix + kind(where, schema)
    return key


def body(place):
    if place is None:
        return None
    path, name = place
    return declare(os.path.normpath(path), name, load(path)["definitions"][name])


bodies = {}
for resource_type, (version, put, patch) in BODIES.items():
    bodies[resource_type] = {"version": version, "put": body(put), "patch": body(patch)}
json.dump(
    {
        "source": SOURCE,
        "bodies": bodies,
        "objects": {name: OBJECTS[name]["members"] for name in sorted(OBJECTS)},
    },
    sys.stdout,
    indent=1,
    sort_keys=True,
)
print()
