#!/usr/bin/env python3
"""Computes every figure of cost previews again, from the rows of `manifests/prices`.

    python3 tests/recompute/recompute.py BINARY

Nothing of the tool is used but its answers: `plan` says which resources there are, `cost` says
what they cost, and each amount must be equal to the micro-unit. All examples are checked, and
stacks made from a fixed seed. Fails where anything differs, and where too little was checked.
"""

import csv
import fractions
import functools
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRICES = ROOT / "manifests/prices"
RANDOM_STACKS = 20
SEED = 730
HOURS = "37.5"
F = fractions.Fraction
MICRO = 1_000_000
MONTH = 730

TIERS = {1: 4, 2: 8, 3: 16, 4: 32, 6: 64, 10: 128, 15: 256, 20: 512, 30: 1024, 40: 2048,
         50: 4096, 60: 8192, 70: 16384, 80: 32768}
FIXED_DISKS = {"premium": ("P", "premium_ssd", "Premium SSD"),
               "standard_ssd": ("E", "standard_ssd", "Standard SSD"),
               "standard_hdd": ("S", "standard_hdd", "Standard HDD")}
COLUMNS = {"on_demand": "linux", "spot": "spot", "savings_plan_1y": "savings_plan_1y"}
OPTIONS = ["on_demand", "spot", "savings_plan_1y", "savings_plan_3y", "reservation_1y", "reservation_3y"]


class Different(Exception):
    """A figure that is not what the rows say."""


class Checked:
    """Counts comparisons, and stops at the first difference."""

    def __init__(self):
        self.figures = 0
        self.unknown = 0

    def same(self, found, expected, what):
        self.figures += 1
        if expected is None:
            self.unknown += 1
        if found != expected:
            raise Different(f"{what}: the rows say {expected!r}, the tool says {found!r}")


def micros(amount):
    """Rounds half to even; unknown stays unknown."""
    return None if amount is None else round(amount * MICRO)


def total(amounts):
    return sum(amount for amount in amounts if amount is not None)


# The rows.

def table(path):
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@functools.cache
def sizes():
    return {row["name"].lower(): row for row in table(ROOT / "manifests/sizes.csv")}


@functools.cache
def of_sizes(region):
    return {row["size"].lower(): row for row in table(PRICES / f"vm/{region}.csv")}


@functools.cache
def of_items(region):
    return {row["item"]: row for row in table(PRICES / f"items/{region}.csv")}


@functools.cache
def of_commitments(region):
    rows = table(PRICES / f"commitments/{region}.csv")
    return {(row["size"].lower(), row["plan"], row["years"]): row for row in rows}


@functools.cache
def of_offers(region):
    path = ROOT / f"manifests/offers/{region}.csv"
    return {row["size"].lower(): row for row in table(path)} if path.exists() else None


@functools.cache
def days():
    return {row["code"]: row["as_of"] for row in table(ROOT / "manifests/sources.csv")}


@functools.cache
def windows_images():
    rows = table(ROOT / "manifests/images.csv")
    return {(row["publisher"].lower(), row["offer"].lower(), row["sku"].lower())
            for row in rows if row["os"] == "windows"}


def short(size):
    return size.lower().removeprefix("standard_")


def machine(region, size, windows, option):
    """The price of a node and the hours it is for, its text, and its day."""
    row = of_sizes(region).get(short(size), {})
    if windows and option != "on_demand":
        return None
    if option in COLUMNS:
        text = row.get("windows" if windows else COLUMNS[option], "")
        return (F(text), 1, text, days()[row["source"]]) if text else None
    plan, years = option.rsplit("_", 1)
    row = of_commitments(region).get((short(size), plan, years[0]))
    if row is None:
        return None
    hours = 12 * MONTH * int(years[0]) if plan == "reservation" else 1
    return F(row["price"]), hours, row["price"], row["as_of"]


def cannot_be_spot(region, size):
    """Whether the region offers the size, but not as spot."""
    return (of_offers(region) or {}).get(short(size), {}).get("spot") == "no"


def item(region, meter):
    row = of_items(region).get(meter) or of_items("global").get(meter)
    if row is None:
        return None
    hours = {"hour": 1, "rule-hour": 1, "address-hour": 1, "GiB-hour": 1, "disk-month": MONTH}
    return F(row["price"]), hours[row["unit"]], row["price"], days()[row["source"]]


def disk(region, kind, size_gb):
    """What a disk is called, and its price."""
    if kind == "premium_v2":
        price = item(region, "disk.premium_v2.capacity_gib_hour")
        if price:
            price = (price[0] * size_gb, price[1], None, price[3])
        return f"Premium SSD v2 {size_gb} GiB", price
    if kind == "ultra":
        return f"Ultra Disk {size_gb} GiB", None
    letter, product, words = FIXED_DISKS[kind]
    fitting = [tier for tier, holds in TIERS.items() if holds >= size_gb and (letter != "S" or tier >= 4)]
    if not fitting:
        return f"{words} {size_gb} GiB", None
    return f"{words} {letter}{fitting[0]}", item(region, f"disk.{product}.{letter}{fitting[0]}.lrs")


# What a plan wants.

def things(step, region=None):
    """Name, kind and price of all that a resource is billed for; whether it is a node."""
    after, kind = step["after"], step["type"].rsplit("/", 1)[-1]
    region = region or after.get("location")
    if kind in ("virtualMachines", "virtualMachineScaleSets"):
        os_disk = after["os_disk"]
        if kind == "virtualMachineScaleSets":
            for data in after["data_disks"].values():
                yield "disk", *disk(region, data["disk_type"], data["size_gb"])
        # One on the node is part of the machine.
        if not os_disk.get("ephemeral"):
            yield "disk", *disk(region, os_disk["disk_type"], os_disk["size_gb"])
        option = "spot" if after["priority"]["kind"] == "spot" else "on_demand"
        name = sizes()[after["size"].lower()]["name"]
        yield "compute", name, machine(region, after["size"], is_windows(after), option)
    elif kind == "disks":
        yield "disk", *disk(region, after["disk_type"], after["size_gb"])
    elif kind == "storageAccounts":
        # What is written there decides, which nobody knows before.
        yield "service", "Storage account, by what is in it", None
    elif kind == "natGateways":
        yield "network", "NAT gateway", item(region, "nat_gateway.hour")
    elif kind == "publicIPAddresses":
        yield "network", "Standard public IP address", item(region, "public_ip.standard.static.hour")


def is_windows(vm):
    image = vm["image"]
    return tuple(image[key].lower() for key in ("publisher", "offer", "sku")) in windows_images()


def address(step):
    path = step["address"]
    return ".".join(path.split("[")[0].split(".")[:2]) if path.startswith("pool.") else path


def machines(steps):
    """Every node, also those of scale sets."""
    nodes = []
    for step in steps:
        if step["type"].endswith("/virtualMachines"):
            nodes.append(step["after"])
        elif step["type"].endswith("/virtualMachineScaleSets"):
            nodes += [step["after"]] * step["after"]["capacity"]
    return nodes


def bill(steps, region=None):
    """Lines by address, kind and name, with the number of each and its price."""
    lines = {}
    for step in steps:
        if step["after"] is None:
            continue
        for kind, name, price in things(step, region):
            key = (address(step), ["compute", "disk", "network", "service"].index(kind), name)
            count, _ = lines.get(key, (0, None))
            each = step["after"]["capacity"] if step["type"].endswith("/virtualMachineScaleSets") else 1
            lines[key] = (count + each, price)
    return dict(sorted(lines.items()))


def over(line, hours):
    """What a line costs for some hours."""
    count, price = line
    return None if price is None else micros(price[0] * count * hours / price[1])


def amount(lines):
    lines = list(lines)
    return {"hourly_micros": total(over(line, 1) for line in lines),
            "monthly_micros": total(over(line, MONTH) for line in lines),
            "complete": all(line[1] is not None for line in lines)}


# What a preview says.

def check_lines(checked, cost, lines):
    checked.same(len(cost["lines"]), len(lines), "number of lines")
    for line, ((owner, kind, name), billed) in zip(cost["lines"], lines.items()):
        count, price = billed
        what = f"{owner} {name}"
        checked.same((line["address"], line["item"], line["quantity"]), (owner, name, count), what)
        checked.same(line["hourly_micros"], over(billed, 1), f"{what} hourly")
        checked.same(line["monthly_micros"], over(billed, MONTH), f"{what} monthly")
        checked.same(line["known"], price is not None, f"{what} known")
        checked.same(line["as_of"], price and price[3], f"{what} day")
        stated = line["unit_hourly"] or line["unit_monthly"]
        checked.same(stated and F(stated), price and price[0], f"{what} each")
        hours = price and (MONTH if line["unit_monthly"] else 1)
        checked.same(hours, price and price[1], f"{what} unit")
    after = amount(lines.values())
    nothing = {"hourly_micros": 0, "monthly_micros": 0}
    checked.same(cost["complete"], after.pop("complete"), "complete")
    checked.same(cost["before"], nothing, "before")
    checked.same(cost["after"], after, "after")
    checked.same(cost["delta"], after, "difference")


def check_pool(checked, name, pool, steps, hours):
    own = [step for step in steps if address(step) == f"pool.{name}"]
    nodes = machines(own)
    lines = bill(own)
    vm, region, count = nodes[0], nodes[0]["location"], len(nodes)
    checked.same(pool["total"], amount(lines.values()), f"{name} total")
    checked.same((pool["size"], pool["count"]), (vm["size"], count), f"{name} nodes")
    share = sizes()[vm["size"].lower()]["gpu_share"]
    checked.same(pool["gpus_per_node"], share or None, f"{name} GPUs")
    gpus = F(share) if share else None
    bought = "spot" if vm["priority"]["kind"] == "spot" else "on_demand"
    windows = is_windows(vm)
    on_demand = machine(region, vm["size"], windows, "on_demand")
    checked.same([way["option"] for way in pool["options"]], OPTIONS, f"{name} options")
    for way in pool["options"]:
        option, what = way["option"], f"{name} {way['option']}"
        price = machine(region, vm["size"], windows, option)
        if option == "spot" and bought != "spot" and cannot_be_spot(region, vm["size"]):
            price = None
            checked.same(way["flags"], ["spot_not_offered"], f"{what} flags")
        line = (count, price)
        checked.same(way["chosen"], option == bought, f"{what} chosen")
        checked.same(way["unit_price"] and F(way["unit_price"]), price and price[0], f"{what} each")
        checked.same(way["hourly_micros"], over(line, 1), f"{what} hourly")
        checked.same(way["monthly_micros"], over(line, MONTH), f"{what} monthly")
        checked.same(way["run_micros"], over(line, hours), f"{what} run")
        checked.same(way["as_of"], price and price[3], f"{what} day")
        of_gpu = micros(price[0] / price[1] / gpus) if price and gpus else None
        checked.same(way["gpu_hour_micros"], of_gpu, f"{what} GPU-hour")
        if option == bought:
            checked.same(pool["gpu_hour_micros"], of_gpu, f"{name} GPU-hour")
        even = None
        if price and on_demand and option not in ("on_demand", "spot"):
            use = price[0] * MONTH / price[1] / on_demand[0]
            even = F(-(-use * 10 // 1), 10)
        checked.same(way["break_even_hours"] and F(way["break_even_hours"]), even, f"{what} breaks even")
    check_states(checked, name, pool["states"], own, lines)
    run = total(over(line, hours) for line in lines.values())
    expected = {"basis": "hours", "seconds": int(hours * 3600), "micros": run,
                "complete": pool["total"]["complete"], "million_tokens_micros": None}
    checked.same(pool["run"], expected, f"{name} run")
    return run


def check_states(checked, name, states, own, lines):
    disks = {key: line for key, line in lines.items() if key[1] != 0}
    checked.same(states["running"], amount(lines.values()), f"{name} running")
    checked.same(states["stopped"], amount(disks.values()), f"{name} stopped")
    checked.same(states["no_nodes"], amount([]), f"{name} without nodes")
    vm = machines(own)[0]
    evicted = None
    if vm["priority"]["kind"] == "spot":
        # Instances of a set take all their disks along.
        gone = vm["priority"]["eviction"] == "delete" and vm["os_disk"].get("delete_with_vm", True)
        left = [step for step in own if step["type"].endswith("/disks")] if gone else None
        evicted = amount(bill(left).values()) if gone else amount(disks.values())
    checked.same(states["evicted"], evicted, f"{name} evicted")


def check_stack(checked, report, steps, lines, runs, hours):
    shared = {key: line for key, line in lines.items() if not key[0].startswith("pool.")}
    checked.same(report["shared"], amount(shared.values()), "shared")
    rest = amount(line for key, line in lines.items() if key[1] != 0)
    for option in report["options"]:
        ways = [way for pool in report["pools"].values() for way in pool["options"]
                if way["option"] == option["option"]]
        expected = {key: rest[key] + total(way[key] for way in ways) for key in ("hourly_micros", "monthly_micros")}
        expected["complete"] = rest["complete"] and all(way["unit_price"] for way in ways)
        if not any(way["unit_price"] for way in ways):
            expected = None
        checked.same(option["total"], expected, f"whole stack {option['option']}")
    run = {"seconds": int(hours * 3600), "without": [],
           "micros": sum(runs) + total(over(line, hours) for line in shared.values()),
           "complete": all(line[1] is not None for line in lines.values())}
    checked.same(report["run"], run, "run")


def check_lifetime(checked, text, report, lines):
    """What the stack costs until its lifetime ends; without a cloud it begins with the preview."""
    span = re.search(r"^lifetime: (\d+)h$", text, re.MULTILINE)
    found = report["lifetime"]
    checked.same(found is not None, span is not None, "lifetime")
    if span is None:
        return
    hours = int(span[1])
    checked.same(found["seconds"], hours * 3600, "lifetime left")
    checked.same(found["starts"], report["created_at"], "lifetime begins")
    checked.same(found["micros"], total(over(line, hours) for line in lines.values()), "lifetime")
    known = all(line[1] is not None for line in lines.values())
    checked.same(found["complete"], known, "lifetime complete")
    rest = [line for key, line in lines.items() if key[1] != 0]
    checked.same([way["option"] for way in found["options"]], ["on_demand", "spot"], "lifetime options")
    for way in found["options"]:
        nodes = []
        for pool in report["pools"].values():
            price = next(each for each in pool["options"] if each["option"] == way["option"])["unit_price"]
            nodes.append(price and micros(F(price) * pool["count"] * hours))
        what = f"lifetime {way['option']}"
        expected = total(nodes) + total(over(line, hours) for line in rest) if any(nodes) else None
        checked.same(way["micros"], expected, what)
        known = all(nodes) and all(line[1] is not None for line in rest)
        checked.same(way["complete"], known, f"{what} complete")


def check_regions(checked, report, steps):
    here = report["scope"]["location"]
    nodes = machines(steps)
    ranked = []
    for row in table(ROOT / "manifests/regions.csv"):
        region, offers = row["name"], of_offers(row["name"])
        lines = bill(steps, region)
        offered = offers is not None and all(
            short(vm["size"]) in offers
            and (vm["priority"]["kind"] != "spot" or offers[short(vm["size"])]["spot"] == "yes")
            for vm in nodes)
        if offered and all(line[1] is not None for key, line in lines.items() if key[1] == 0):
            there = amount(lines.values())
            ranked.append((there["monthly_micros"], not there["complete"], region, there))
    ranked.sort(key=lambda row: row[:3])
    planned = amount(bill(steps, here).values())
    found = report["regions"]
    checked.same([row["location"] for row in found["ranked"]], [row[2] for row in ranked], "regions")
    for row, (monthly, _, region, there) in zip(found["ranked"], ranked):
        checked.same(row["total"], there, f"total in {region}")
        known = planned["complete"] and there["complete"]
        difference = monthly - planned["monthly_micros"] if known else None
        checked.same(row["monthly_difference_micros"], difference, f"difference in {region}")
        checked.same(row["planned"], region == here, f"planned {region}")


def check_sizes(checked, tool, text, report, hours):
    """A plan with the size named says which resources there are; its rows say what they cost."""
    for name, costs in report["sizes"].items():
        places = [(cost["run"] and (not cost["run"]["complete"], cost["run"]["micros"])) for cost in costs]
        checked.same(places, sorted(places), f"order of the sizes of {name}")
        for cost in costs[:2]:
            named = named_size(text, name, cost["size"])
            if named is None:
                continue
            steps = tool.plan(named)["steps"]
            own = bill(step for step in steps if address(step) == f"pool.{name}")
            checked.same(cost["total"], amount(own.values()), f"{name} of {cost['size']}")
            run = total(over(line, hours) for line in own.values())
            checked.same(cost["run"]["micros"], run, f"run of {name} of {cost['size']}")


def named_size(text, pool, size):
    """The spec with a size named for a pool; `None` where it names one already."""
    lines, inside, done = [], False, False
    for line in text.splitlines():
        if line.startswith("  ") and not line.startswith("   ") and line.strip().endswith(":"):
            inside = line.strip() == f"{pool}:"
        if inside and line.strip().startswith("size:"):
            return None
        lines.append(line)
        if inside and not done and line.strip().startswith("workload:"):
            lines.append(f"    size: {size}")
            done = True
    return "\n".join(lines) + "\n" if done else None


def check_own_runs(checked, tool, text, plan):
    """Runs that tokens or a deadline give, without hours on the command line."""
    report = tool.run(text, "cost", "--offline")
    for name, pool in report["pools"].items():
        run = pool["run"]
        speed = plan["pools"][name]["throughput"]
        if run is None:
            continue
        lines = bill(step for step in plan["steps"] if address(step) == f"pool.{name}")
        cost = total(over(line, F(run["seconds"], 3600)) for line in lines.values())
        checked.same(run["micros"], cost, f"{name} own run")
        if run["basis"] == "throughput":
            checked.same(run["seconds"], math.ceil(speed["seconds"]), f"{name} seconds")
            tokens = re.search(rf"^  {name}:\n(?:    .*\n)*?    .*tokens: ([0-9.]+)([KMBT]?)", text, re.MULTILINE)
            if tokens:
                count = F(tokens[1]) * 1000 ** " KMBT".index(tokens[2] or " ")
                known = all(line[1] is not None for line in lines.values())
                million = micros(F(cost, MICRO) * MICRO / count) if known else None
                checked.same(run["million_tokens_micros"], million, f"{name} million tokens")


class Tool:
    """The binary, in an empty folder and without an environment."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = pathlib.Path(folder)

    def run(self, text, *arguments):
        (self.folder / "tensorform.yaml").write_text(text, encoding="utf-8")
        command = [self.binary, "-o", "json", *arguments]
        environment = {"HOME": self.folder.as_posix(), "PATH": os.environ.get("PATH", "")}
        ran = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, check=False)
        document = json.loads(ran.stdout)
        return document if ran.returncode in (0, 4) else None

    def plan(self, text):
        return self.run(text, "plan", "--offline")

    def cost(self, text):
        return self.run(text, "cost", "--offline", "--hours", HOURS, "--compare-regions", "--compare-sizes")


def check(checked, tool, text):
    """Checks one spec; whether there was anything to check."""
    plan = tool.plan(text)
    if plan is None:
        return False
    report = tool.cost(text)
    steps, hours = plan["steps"], F(HOURS)
    lines = bill(steps)
    checked.same(report["cost"], plan["cost"], "the plan's cost")
    check_lines(checked, report["cost"], lines)
    changes = [(change["address"], change["item"], change["monthly_micros"]) for change in report["changes"]]
    expected = [(key[0], key[2], over(line, MONTH)) for key, line in lines.items()]
    checked.same(changes, expected, "changes")
    runs = [check_pool(checked, name, pool, steps, hours) for name, pool in report["pools"].items()]
    check_stack(checked, report, steps, lines, runs, hours)
    check_lifetime(checked, text, report, lines)
    check_regions(checked, report, steps)
    check_sizes(checked, tool, text, report, hours)
    check_own_runs(checked, tool, text, plan)
    return True


def random_spec(chance):
    """A spec that may or may not be one that can be planned."""
    regions = ["eastus", "eastus2", "westus2", "westus3", "southcentralus", "swedencentral",
               "westeurope", "uksouth", "japaneast", "indonesiacentral", "australiaeast", "francecentral"]
    lines = ["version: 1", f"name: made-{chance.randrange(10_000)}", f"location: {chance.choice(regions)}"]
    if chance.random() < 0.5:
        lines.append(f"lifetime: {chance.randint(1, 2_000)}h")
    lines.append("pools:")
    for number in range(chance.randint(1, 4)):
        stage = chance.choice(["inference", "inference", "training"])
        workload = chance.choice(["small", "complex", "generative"])
        lines += [f"  pool{number}:", f"    stage: {stage}", f"    workload: {workload}",
                  f"    count: {chance.randint(1, 7)}",
                  f"    grouping: {chance.choice(['vms', 'scale_set'])}"]
        if stage == "inference" and chance.random() < 0.6:
            lines.append(f"    priority: {{spot: {{eviction: {chance.choice(['delete', 'deallocate'])}}}}}")
        kinds = ["premium", "standard_ssd", "standard_hdd", "ultra", "premium_v2"]
        data = [f"{{size_gb: {chance.randint(4, 32767)}, type: {chance.choice(kinds)}, lun: {lun}}}"
                for lun in range(chance.randint(0, 3))]
        lines.append(f"    disks: {{os: {{size_gb: {chance.randint(256, 2048)}}}, data: [{', '.join(data)}]}}")
        sizes_by_workload = {"small": ["F4s_v2", "F8s_v2", "D4s_v5", "E8s_v5"],
                             "complex": ["NC4as_T4_v3", "NC24ads_A100_v4"],
                             "generative": ["NC24ads_A100_v4", "NC48ads_A100_v4", "NC40ads_H100_v5"]}
        if chance.random() < 0.6:
            lines.append(f"    size: Standard_{chance.choice(sizes_by_workload[workload])}")
    return "\n".join(lines) + "\n"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    checked, stacks = Checked(), 0
    # What pools of services cost is held by the tests of the planner: this knows VMs and scale sets.
    examples = sorted(path for path in (ROOT / "examples").glob("*.yaml") if path.name not in ("aks.yaml", "batch.yaml", "cyclecloud.yaml"))
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(pathlib.Path(arguments[0]).resolve().as_posix(), folder)
        for script in (ROOT / "examples").glob("*.sh"):
            shutil.copy(script, folder)
        named = [(path.name, path.read_text(encoding="utf-8")) for path in examples]
        tried = 0
        while named or (stacks < len(examples) + RANDOM_STACKS and tried < 10 * RANDOM_STACKS):
            name, text = named.pop(0) if named else (f"random {tried}", random_spec(chance))
            tried += name.startswith("random")
            try:
                was_checked = check(checked, tool, text)
            except Different as different:
                sys.exit(f"{name}: {different}\n{text}")
            if not was_checked and not name.startswith("random"):
                sys.exit(f"{name} has no plan")
            stacks += was_checked
    print(f"recomputed {checked.figures} figures of {stacks} stacks, {checked.unknown} of them unknown: all equal")
    if len(examples) < 6 or stacks < len(examples) + RANDOM_STACKS or checked.figures < 5_000 or not checked.unknown:
        sys.exit(f"too little was checked: {len(examples)} examples, {stacks} stacks")


if __name__ == "__main__":
    main(sys.argv[1:])
