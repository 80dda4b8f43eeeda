"""Trims public recordings of Azure Resource Manager to what the tests compare.

Usage: python3 trim.py FOLDER

FOLDER holds `recordings` and `live-samples`. A recording is a conversation: `provenance` (repo,
path, commit, license, recorded) and `interactions` (index, request, response); `replayed.json`
keeps of its answers the status, which headers are there, and every member with its value. What
differs from run to run (GUIDs, times, random names, addresses, image versions) becomes `*`.
A live sample is a single answer; `samples.json` keeps its headers and the names of its members.
"""

import csv
import json
import re
import sys
from pathlib import Path

# Recordings whose requests the sandbox serves, and the interactions to take (None: all). Where a
# client sent requests at the same time, they stand in the order of their effect.
TAKEN = {
    "resource-group": None,
    "vnet-subnet": None,
    "subnets-of-one-vnet-409": None,
    "subnet-429-retryable-with-retry-after": [59, 61, 65, 68, 66, 67, 69],
    "public-ip": None,
    "nsg-and-rules": None,
    "nat-gateway-429-retryable": [3, 2, 4, 5, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    "disk-create-delete-2024-03-02": None,
    "vm-create-update-delete-full": None,
    # Without the PUT, whose VM has an unmanaged disk.
    "vm-power-ops-update-delete-2024-07-01": [*range(31, 77), 81, 82, 83, 84],
    "vm-spot-priority-and-billing-2024-07-01": None,
    "delete-order-vm-nic-nsg-ip-vnet": None,
    "tags-patch": None,
    "resource-group-bad-location": None,
    "expired-token-401": None,
    "proximity-placement-group-2024-07-01": [1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13],
    "ppg-intent-vm-sizes-zone-2024-07-01": [1, 3, 4, 5, 6],
    "capacity-reservation-2024-07-01": [1, 3, 4, 5, 6, 7, 8, 9],
    "vm-simulate-eviction": None,
    "vmss-400-invalid-parameter": [2, 3],
    # Without load balancers, a type not served.
    "vmss-create-update-delete-full": [18, 19, 20, 21, 22, 25, 26, 27, 28, 39, 40, 41, 42, 43, 51],
    # The set was made by a template; without its sizes, and without the deletion of instances
    # that other ids were left of.
    "vmss-create-scale-instances-2024-07-01": [
        *[at for at in range(19, 64) if at not in (20, 22, 51, 52, 53, 54, 55)],
    ],
    "spot-placement-scores": None,
}

# The same of the services beside Compute and Network, which stand in a file of their own.
SERVICES = {
    "batch-account": None,
    "batch-location-quotas-and-skus": None,
    "managed-identity": None,
    "role-assignment-principal-not-found": None,
    "scope-locked-409": None,
    "network-usages": None,
    # Without what follows the polls of the last deletion, which are left out there.
    "aks-agent-pool-crud": [*range(83, 111)],
    "aks-gpu-nd96asr-node-pool": [11, 12, 13, 64, 65, 66],
    "aks-spot-node-pool": None,
    "marketplace-agreement-accept": None,
    "vm-auto-shutdown-devtestlab": [25, 27, 29],
}

# A balancer out of a recording of a scale set.
BALANCER = ("vmss-create-update-delete-full", [3, 4, 7, 9, 10, 12, 8, 13, 17])

SERVICE_SAMPLES = [
    "managedidentity_userassignedidentities_DELETE_200",
    "managedidentity_userassignedidentities_DELETE_404",
    "managedidentity_userassignedidentities_GET_200",
    "managedidentity_userassignedidentities_GET_404",
    "managedidentity_userassignedidentities_PUT_200",
    "managedidentity_userassignedidentities_PUT_201",
    "managedidentity_userassignedidentities_list_GET_200",
]

HEADERS = [
    "azure-asyncoperation",
    "azure-asyncnotification",
    "location",
    "retry-after",
    "etag",
    "x-ms-failure-cause",
    "x-ms-ratelimit-remaining-resource",
]

VOLATILE = [
    (re.compile(r"https://management\.azure\.com[^ \"]*"), "http*"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "*"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)"), "*"),
    (re.compile(r"[0-9a-f]{32}"), "*"),
    (re.compile(r"[a-z0-9]{26}\.\w+\.internal"), "*.internal"),
]

# Members whose values say something about the day or the account alone.
OPAQUE = re.compile(
    r"(exactVersion|macAddress|ipAddress|keyData|publicKey|vmAgentVersion|osVersion|osName|nodeImageVersion)$"
)


def masked(path, value):
    if not isinstance(value, str):
        return value
    if OPAQUE.search(path):
        return "*"
    if not value.startswith("/subscriptions/00000000-0000-0000-0000-000000000000"):
        prefix, rest = "", value
    else:
        prefix, rest = value[:51], value[51:]
    for pattern, replacement in VOLATILE:
        rest = pattern.sub(replacement, rest)
    return prefix + rest


def members(value, path=""):
    """Every member with its value; empty objects and arrays stand for themselves."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from members(inner, f"{path}/{key}")
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from members(inner, f"{path}/{at}")
    else:
        yield path, masked(path, value)


def exchange(interaction):
    request, response = interaction["request"], interaction["response"]
    names = {name.lower(): text for name, text in response["headers"].items()}
    body = response.get("body")
    urls = {
        name: names[name]
        for name in ("azure-asyncoperation", "location")
        if name in names
    }
    found = {
        "index": interaction["index"],
        "method": request["method"],
        "url": request["url"],
    }
    if request.get("body") is not None:
        found["body"] = request["body"]
    found["status"] = response["status"]
    found["headers"] = [name for name in HEADERS if name in names]
    if urls:
        found["begins"] = urls
    if body is not None:
        found["members"] = dict(members(body))
    return found


# Live samples of answers that the sandbox gives, without the folder and the ending.
SAMPLES = [
    "compute_disks_GET_200",
    "compute_disks_GET_404",
    "compute_locations-publishers-artifacttypes-offers-skus-versions_GET_200",
    "compute_locations-publishers-artifacttypes-offers-skus-versions_list_GET_200",
    "compute_locations-publishers-artifacttypes-offers-skus-versions_list_expand_GET_200",
    "compute_locations-publishers-artifacttypes-offers-skus_list_GET_200",
    "compute_locations-publishers-artifacttypes-offers_list_GET_200",
    "compute_locations-publishers_list_GET_200",
    "compute_locations-usages_list_GET_200",
    "compute_locations-vmsizes_list_GET_200",
    "compute_sshpublickeys-generatekeypair_POST_200",
    "compute_sshpublickeys_DELETE_200",
    "compute_sshpublickeys_GET_200",
    "compute_sshpublickeys_PATCH_200",
    "compute_sshpublickeys_PUT_201",
    "compute_sshpublickeys_list_GET_200",
    "compute_virtualmachines-deallocate_POST_202",
    "compute_virtualmachines_DELETE_202",
    "compute_virtualmachines_GET_200",
    "compute_virtualmachines_GET_404",
    "compute_virtualmachines_PATCH_200",
    "compute_virtualmachines_expand_GET_200",
    "compute_virtualmachines_list_GET_200",
    "network_networksecuritygroups_GET_200",
    "network_networksecuritygroups_GET_404",
    "network_publicipaddresses_GET_200",
    "network_publicipaddresses_GET_404",
    "network_virtualnetworks-subnets_GET_200",
    "network_virtualnetworks-subnets_GET_404",
    "network_virtualnetworks_GET_200",
    "network_virtualnetworks_GET_404",
]


# Samples of the types around VMs, which want a world of their own.
COMPUTE_SAMPLES = [
    "compute_availabilitysets_GET_200",
    "compute_availabilitysets_PUT_200",
    "compute_availabilitysets_list_GET_200",
    "compute_availabilitysets_list_expand_GET_200",
    "compute_capacityreservationgroups-capacityreservations_GET_200",
    "compute_capacityreservationgroups-capacityreservations_PUT_201",
    "compute_capacityreservationgroups_PUT_201",
    "compute_disks_DELETE_202",
    "compute_disks_DELETE_404",
    "compute_disks_PUT_202",
    "compute_images_GET_200",
    "compute_images_PUT_200",
    "compute_images_PUT_201",
    "compute_proximityplacementgroups_GET_200",
    "compute_proximityplacementgroups_PUT_200",
    "compute_proximityplacementgroups_PUT_201",
    "compute_proximityplacementgroups_list_GET_200",
    "compute_snapshots_DELETE_202",
    "compute_snapshots_DELETE_404",
    "compute_snapshots_GET_200",
    "compute_snapshots_GET_404",
    "compute_snapshots_PUT_202",
    "compute_virtualmachines-extensions_DELETE_202",
    "compute_virtualmachines-extensions_GET_200",
    "compute_virtualmachines-extensions_PUT_200",
    "compute_virtualmachines-extensions_PUT_201",
    "compute_virtualmachines-extensions_expand_GET_200",
    "compute_virtualmachines-generalize_POST_200",
    "compute_virtualmachines-poweroff_POST_202",
    "compute_virtualmachines-redeploy_POST_202",
    "compute_virtualmachines-restart_POST_202",
    "compute_virtualmachines-retrievebootdiagnosticsdata_POST_200",
    "compute_virtualmachines_PUT_200",
    "compute_virtualmachinescalesets-deallocate_POST_202",
    "compute_virtualmachinescalesets-delete_POST_202",
    "compute_virtualmachinescalesets-instanceview_list_GET_200",
    "compute_virtualmachinescalesets-manualupgrade_POST_202",
    "compute_virtualmachinescalesets-poweroff_POST_202",
    "compute_virtualmachinescalesets-reimage_POST_202",
    "compute_virtualmachinescalesets-reimageall_POST_202",
    "compute_virtualmachinescalesets-restart_POST_202",
    "compute_virtualmachinescalesets-setorchestrationservicestate_POST_202",
    "compute_virtualmachinescalesets-start_POST_202",
    "compute_virtualmachinescalesets-virtualmachines-deallocate_POST_202",
    "compute_virtualmachinescalesets-virtualmachines-instanceview_list_GET_200",
    "compute_virtualmachinescalesets-virtualmachines-instanceview_list_GET_404",
    "compute_virtualmachinescalesets-virtualmachines_GET_200",
    "compute_virtualmachinescalesets-virtualmachines_PUT_200",
    "compute_virtualmachinescalesets-virtualmachines_expand_GET_200",
    "compute_virtualmachinescalesets-virtualmachines_list_expand_GET_200",
    "compute_virtualmachinescalesets_GET_200",
    "compute_virtualmachinescalesets_GET_404",
    "compute_virtualmachinescalesets_PATCH_200",
    "compute_virtualmachinescalesets_PUT_200",
    "compute_virtualmachinescalesets_PUT_400",
    "compute_virtualmachinescalesets_expand_GET_200",
]


def shape(value, path=""):
    """Names of all members; the items of an array share theirs."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from shape(inner, f"{path}/{key}")
    elif isinstance(value, list) and value:
        for inner in value:
            yield from shape(inner, f"{path}/*")
    else:
        yield path


def sample(folder, row):
    exchange = json.loads((folder / row["file"]).read_text())
    answer = exchange["liveResponse"]
    names = {name.lower() for name in answer["headers"]}
    body = answer.get("body")
    return {
        "name": row["file"].removesuffix(".json"),
        "source": f"{row['source']} {row['recording_path']} {row['interaction']}",
        "status": int(answer["statusCode"]),
        "headers": [name for name in HEADERS if name in names],
        "members": sorted(set(shape(body))) if body is not None else [],
    }


def write(name, value):
    text = json.dumps(value, indent=1, ensure_ascii=False)
    (Path(__file__).parent / name).write_text(text + "\n")


def trimmed(folder, name, wanted):
    """A recording with the wanted interactions in their order."""
    recording = json.loads((folder / f"{name}.json").read_text())
    origin = recording["provenance"]
    repo = origin["repo"].split(" ")[0]
    interactions = recording["interactions"]
    if wanted is not None:
        order = {index: place for place, index in enumerate(wanted)}
        interactions = [one for one in interactions if one["index"] in order]
        interactions.sort(key=lambda one: order[one["index"]])
    return {
        "name": name,
        "source": f"{repo}@{origin['commit'][:12]} {origin['path']}",
        "license": origin["license"],
        "recorded": origin["recorded"],
        "exchanges": [exchange(interaction) for interaction in interactions],
    }


def main():
    live = Path(sys.argv[1]) / "live-samples"
    index = list(csv.DictReader((live.parent / "live-samples-index.csv").open()))
    rows = {row["file"].removesuffix(".json"): row for row in index}
    write("samples.json", {"samples": [sample(live, rows[name]) for name in SAMPLES]})
    around = [sample(live, rows[name]) for name in COMPUTE_SAMPLES]
    write("compute.json", {"samples": around})
    folder = Path(sys.argv[1]) / "recordings"
    recordings = [trimmed(folder, name, wanted) for name, wanted in TAKEN.items()]
    write("replayed.json", {"recordings": recordings})
    recordings = [trimmed(folder, name, wanted) for name, wanted in SERVICES.items()]
    balancer = trimmed(folder, *BALANCER)
    balancer["name"] = "load-balancer"
    samples = [sample(live, rows[name]) for name in SERVICE_SAMPLES]
    write("services.json", {"recordings": [*recordings, balancer], "samples": samples})


main()
