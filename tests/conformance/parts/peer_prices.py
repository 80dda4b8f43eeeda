"""The cheapest GPUs of Azure, as SkyPilot and gpuhunt answer from the rows of our tables.

Both get our rows in the format of their own catalogues, and are asked with their own code;
Tensorform is asked by `sizes`, region by region. From the rows of sizes that their regions offer,
all must answer the same. From every row that has a price, peers may find something cheaper, and
then each place that they found must be one where the size is not offered.
"""
# needs: peers

import csv
import glob
import json
import os
import subprocess
from decimal import Decimal

from conformance import Suite, check, equal

TREE, WORK = os.environ["CONFORMANCE_TREE"], os.environ["CONFORMANCE_WORK"]
BINARY = os.environ["CONFORMANCE_BINARY"]
PYTHON = os.path.join(os.environ["CONFORMANCE_PEERS"], "bin", "python")
QUESTIONS = [("A100-80", 8), ("H100", 8), ("T4", 1)]
# What peers call a GPU, where it differs, and its memory in GB where the name does not tell.
SKYPILOT_NAMES = {"A100-40": "A100", "A100-80": "A100-80GB"}
GPUHUNT_NAMES = {"A100-40": "A100", "A100-80": "A100"}
suite = Suite()


def table(path):
    with open(os.path.join(TREE, "manifests", path), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def prices():
    """Each price row of a size with whole GPUs: its region, its size's row and itself."""
    sizes = {size["name"]: size for size in table("sizes.csv")}
    for path in sorted(glob.glob(os.path.join(TREE, "manifests", "prices", "vm", "*.csv"))):
        region = os.path.basename(path).removesuffix(".csv")
        for row in table(path):
            size = sizes.get("Standard_" + row["size"])
            if size and size["gpu"] and size["gpu_share"].isdigit() and size["gpu_memory_gb"]:
                yield region, size, row


def offers(region):
    """The sizes that a region offers, and whether as spot; `None` where that is not known."""
    path = os.path.join("offers", f"{region}.csv")
    if region not in OFFERS:
        known = os.path.exists(os.path.join(TREE, "manifests", path))
        rows = table(path) if known else []
        OFFERS[region] = {"Standard_" + row["size"]: row["spot"] for row in rows} if known else None
    return OFFERS[region]


def as_offered(region, size, row):
    """A price row with the prices of what the region offers; `None` where it offers nothing."""
    known = offers(region)
    if known is None:
        return region, size, row
    if size["name"] not in known:
        return None
    return region, size, row if known[size["name"]] == "yes" else {**row, "spot": ""}


OFFERS = {}
ROWS = list(prices())
OFFERED = [row for row in (as_offered(*row) for row in ROWS) if row]


def is_offered(kind, size, region):
    """Whether a region offers a size on demand, or as spot."""
    known = offers(region)
    spot = kind == "spot_hourly"
    return known is None or known.get(size, "") == "yes" or (size in known and not spot)


def write(path, fields, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(rows)


def peer(program, environment):
    """What a peer's own code prints, asked in its own Python."""
    done = subprocess.run([PYTHON, "-c", program], env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=300, check=False)
    check(done.returncode == 0, done.stderr[-1000:])
    return json.loads(done.stdout.splitlines()[-1])


def for_skypilot(region, size, row):
    memory = {"Gpus": [{"MemoryInfo": {"SizeInMiB": int(size["gpu_memory_gb"]) * 1024}}]}
    return {"InstanceType": size["name"], "vCPUs": size["vcpus"],
            "MemoryGiB": int(size["memory_mib"] or 0) / 1024,
            "AcceleratorName": SKYPILOT_NAMES.get(size["gpu"], size["gpu"]),
            "AcceleratorCount": size["gpu_share"], "GpuInfo": memory,
            "Price": row["linux"], "SpotPrice": row["spot"], "Region": region, "Generation": "V2"}


def ask_skypilot(rows, folder):
    """Every question's cheapest price on demand and as spot, with all places that have it."""
    rows = [for_skypilot(*row) for row in rows]
    catalogues = os.path.join(folder, ".sky", "catalogs", "v8", "azure")
    write(os.path.join(catalogues, "vms.csv"), list(rows[0]), rows)
    write(os.path.join(catalogues, "images.csv"), ["Tag", "Region", "OS", "OSVersion", "ImageId"], [])
    questions = [(SKYPILOT_NAMES.get(gpu, gpu), count) for gpu, count in QUESTIONS]
    return peer(f"""
import json, math
from sky.catalog import azure_catalog
answers = []
for gpu, count in {questions!r}:
    found = azure_catalog.list_accelerators(
        gpus_only=True, name_filter="^" + gpu + "$", region_filter=None, quantity_filter=count,
        all_regions=True).get(gpu, [])
    for kind in ("price", "spot_price"):
        known = [entry for entry in found if not math.isnan(getattr(entry, kind))]
        least = min(getattr(entry, kind) for entry in known)
        answers.append([repr(least), sorted(
            [entry.instance_type, entry.region] for entry in known if getattr(entry, kind) == least)])
print(json.dumps(answers))
""", {"HOME": folder, "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"})


def for_gpuhunt(region, size, row):
    for spot, price in (("False", row["linux"]), ("True", row["spot"])):
        if price:
            yield {"instance_name": size["name"], "location": region, "price": price,
                   "cpu": size["vcpus"], "memory": int(size["memory_mib"] or 0) / 1024,
                   "gpu_count": size["gpu_share"],
                   "gpu_name": GPUHUNT_NAMES.get(size["gpu"], size["gpu"]),
                   "gpu_memory": size["gpu_memory_gb"], "spot": spot, "disk_size": "",
                   "gpu_vendor": "amd" if size["gpu"].startswith("MI") else "nvidia",
                   "flags": "", "cpu_arch": "x86", "provider_data": "{}"}


def ask_gpuhunt(rows, folder):
    """As of SkyPilot."""
    rows = [entry for row in rows for entry in for_gpuhunt(*row)]
    write(os.path.join(folder, "azure.csv"), list(rows[0]), rows)
    memory = {size["gpu"]: float(size["gpu_memory_gb"]) for _, size, _ in ROWS}
    questions = [(GPUHUNT_NAMES.get(gpu, gpu), count, memory[gpu]) for gpu, count in QUESTIONS]
    return peer(f"""
import json
from gpuhunt import Catalog
catalog = Catalog(balance_resources=False, auto_reload=False)
answers = []
for gpu, count, memory in {questions!r}:
    for spot in (False, True):
        found = catalog.query(
            provider="azure", gpu_name=gpu, min_gpu_count=count, max_gpu_count=count,
            min_gpu_memory=memory, max_gpu_memory=memory, spot=spot)
        least = min(item.price for item in found)
        answers.append([repr(least), sorted(
            [item.instance_name, item.location] for item in found if item.price == least)])
print(json.dumps(answers))
""", {"GPUHUNT_CATALOG_DIR": folder})


def ask_tensorform(gpu, count, kind):
    """The cheapest price, and every place where a size with that many GPUs has it."""
    found = []
    for region in sorted({region for region, _, _ in ROWS}):
        done = subprocess.run([BINARY, "-o", "json", "sizes", "--gpu", gpu, "--location", region],
                              capture_output=True, text=True, timeout=60, check=True)
        for size in json.loads(done.stdout)["sizes"]:
            price = (size["price"] or {}).get(kind)
            if price and size["gpu"]["count"] == count and size["gpu"]["part_of"] is None:
                found.append((Decimal(price), size["size"], region))
    least = min(found)[0]
    return least, sorted([size, region] for price, size, region in found if price == least)


PEERS = [("skypilot 0.14.1", ask_skypilot), ("gpuhunt 0.1.34", ask_gpuhunt)]
answers = {}
for name, ask in PEERS:
    for words, rows in (("offered", OFFERED), ("priced", ROWS)):
        with suite.step(f"{len(rows)} rows of sizes that are {words} are read and asked", name):
            found = ask(rows, os.path.join(WORK, f"{ask.__name__}-{words}"))
            equal(len(found), 2 * len(QUESTIONS), "answers")
            # Peers count money in floats; a float's shortest text is the row's own.
            answers[name, words] = [(Decimal(price), places) for price, places in found]

kinds = [("linux_hourly", "on demand"), ("spot_hourly", "spot")]
asked = [(gpu, count, *kind) for gpu, count in QUESTIONS for kind in kinds]
for number, (gpu, count, kind, words) in enumerate(asked):
    ours = ask_tensorform(gpu, count, kind)
    regions = ", ".join(" in ".join(place) for place in ours[1])
    for name, _ in PEERS:
        with suite.step(f"cheapest {count} x {gpu} {words}: {ours[0]} USD, {regions}", name):
            equal(answers[name, "offered"][number], ours, "price and places")
            price, places = answers[name, "priced"][number]
            if (price, places) != ours:
                check(price <= ours[0], f"with more rows the least price is {price}")
                strange = [place for place in places
                           if place not in ours[1] and is_offered(kind, *place)]
                equal(strange, [], "places that nothing explains")
                found = sorted({size for size, region in places if not is_offered(kind, size, region)})
                suite.leave_out(f"{price} USD for {', '.join(found)}", name,
                                "priced in regions that do not offer it, or not as spot")

suite.end()
