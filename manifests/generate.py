#!/usr/bin/env python3
"""Trims the collected Azure data to the tables that the binary embeds.

    python3 manifests/generate.py COLLECTED

COLLECTED is the folder with the collected data (`gpu-skus.csv`, `skus/`, `prices/`, `quota/`).
Without it only the index is made again: `info.csv`, `DIGEST` and `embedded.rs`, which is what
a change to a table kept by hand needs. The same input gives the same bytes.
"""

import collections
import csv
import hashlib
import io
import json
import pathlib
import re
import shutil
import sys

import naming
from sources import Sources

HERE = pathlib.Path(__file__).resolve().parent
EMBEDDED = HERE.parent / "crates/model/src/catalog/embedded.rs"
KEPT_BY_HAND = ["acceptance.csv", "article.csv", "gpus.csv", "image_families.csv", "image_fit.csv", "images.csv",
                "models.csv"]
STATED = {"true": "yes", "false": "no", "yes": "yes", "no": "no", "": ""}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def csv_text(header, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def write(name, header, rows):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(csv_text(header, rows).encode())


def short(name):
    """A size's name without the tier that all of them have."""
    if not name.startswith("Standard_"):
        raise ValueError(f"expected a size of tier Standard, found `{name}`")
    return name.removeprefix("Standard_")


def by_name(row):
    return row[0].lower()


# Sizes.

SIZES_HEADER = [
    "name", "family", "series", "version", "vcpus", "memory_mib", "max_data_disks", "max_nics",
    "architecture", "generations", "accelerated_networking", "premium_disks",
    "ephemeral_os_disk", "encryption_at_host", "gpu", "gpu_share", "gpu_memory_gb",
    "gpu_interconnect", "rdma", "local_nvme", "lifecycle", "lifecycle_day", "image_family",
    "notes", "source", "as_of",
]


def mebibytes(gibibytes):
    if not gibibytes:
        return ""
    value = float(gibibytes) * 1024
    if value != int(value):
        raise ValueError(f"expected whole MiB, found `{gibibytes}` GiB")
    return int(value)


def gpu_columns(gpu):
    """Model, share of one or count, and memory of one GPU or of the part, as far as known."""
    if gpu is None:
        return "", "", ""
    model = naming.gpu_name(gpu["gpu_model"])
    count, total = gpu["gpu_count"], gpu["gpu_memory_gib_total"]
    if not total:
        # The count is ARM's, which says 1 for parts of a GPU too.
        return model, "", ""
    memory = total if "/" in count else int(total) // int(count)
    return model, count, memory


def interconnect(gpu):
    text = gpu["gpu_interconnect"] if gpu else ""
    return "" if text.startswith("none") else text


def size_row(name, arm, gpu, sources):
    known = arm or {}
    series, version = naming.series_and_version(name)
    model, share, memory = gpu_columns(gpu)
    fallback = gpu or collections.defaultdict(str)
    architecture = (known.get("cpu_arch") or fallback["cpu_arch"]).lower()
    generations = known.get("hyperv_generations") or fallback["hyperv_generations"]
    codes = sources.of_gpu_row(gpu["source"]) if gpu else [sources.use("D")]
    life = naming.lifecycle(name, fallback["status"], fallback["retirement_date"])
    if life.source:
        codes.append(sources.use(life.source))
    notes = [note for note in [fallback["notes"], hint(gpu, share), life.note] if note]
    rdma = fallback["rdma"].startswith("yes") or naming.has_rdma_by_name(name, series)
    return [
        name, known.get("family", ""), series, version,
        known.get("vcpus") or fallback["vcpus"],
        mebibytes(known.get("memory_gb") or fallback["ram_gib"]),
        known.get("max_data_disks") or fallback["max_data_disks"],
        known.get("max_nics") or fallback["max_nics"],
        architecture, generations.replace("V", "").replace("|", "+"),
        STATED[known.get("accelerated_networking") or fallback["accelerated_networking"]],
        STATED[known.get("premium_io", "")], STATED[known.get("ephemeral_os_disk", "")],
        STATED[known.get("encryption_at_host", "")],
        model, share, memory, interconnect(gpu), "yes" if rdma else "no",
        fallback["local_nvme"], life.stage, life.day,
        naming.image_family(name, series, version, model, architecture),
        "; ".join(notes), "+".join(codes),
        sources.day("D") if arm else sources.day(codes[0]),
    ]


def hint(gpu, share):
    """What the status of a GPU size says beyond the stage of its life."""
    if gpu is None:
        return ""
    if gpu["gpu_count"] and not share:
        return f"ARM counts {gpu['gpu_count']} GPU; whether it is a part of one is not known"
    # Announced retirements and the word `current` are in the columns of the lifecycle.
    if re.match(r"current|retire", gpu["status"]):
        return ""
    return gpu["status"]


def sizes(collected, sources):
    arm = {row["name"]: row for row in read(collected / "skus/sku-catalog.csv")}
    gpus = {row["size"]: row for row in read(collected / "gpu-skus.csv")}
    rows = [
        size_row(name, arm.get(name), gpus.get(name), sources)
        for name in {*arm, *gpus}
    ]
    write("sizes.csv", SIZES_HEADER, sorted(rows, key=by_name))


# Regions, what they offer and what it costs.

def offers(collected, sources):
    regions = collections.defaultdict(list)
    for row in read(collected / "skus/sku-regions.csv"):
        regions[row["region"]].append([
            short(row["name"]), row["zones"].replace("|", " "),
            STATED[row["low_priority_capable"]], sources.use("D"),
        ])
    for region, rows in regions.items():
        write(f"offers/{region}.csv", ["size", "zones", "spot", "source"], sorted(rows, key=by_name))
    return set(regions)


def paid(price):
    """A price, or nothing for 0: sources have 0 for sizes whose price is not announced."""
    return "" if price and float(price) == 0 else price


def vm_prices(collected, sources):
    regions = collections.defaultdict(list)
    for row in read(collected / "prices/vm-prices.csv"):
        if row["as_of"] != sources.day(row["source"]):
            raise ValueError(f"expected the day of source {row['source']}, found {row}")
        prices = [paid(row[column]) for column in [
            "linux_ondemand_usd_h", "linux_spot_usd_h", "windows_ondemand_usd_h",
            "linux_savingsplan_1y_usd_h",
        ]]
        if any(prices) or "cs_withheld" in row["flags"]:
            regions[row["region"]].append([
                short(row["sku"]), *prices, sources.use(row["source"]), row["flags"].replace("|", " "),
            ])
    header = ["size", "linux", "spot", "windows", "savings_plan_1y", "source", "flags"]
    for region, rows in regions.items():
        write(f"prices/vm/{region}.csv", header, sorted(rows, key=by_name))
    return set(regions)


def item_prices(collected, sources):
    regions = collections.defaultdict(list)
    for row in read(collected / "prices/network-and-disk-prices.csv"):
        code = sources.of_item_row(row["source"], row["as_of"])
        if row["as_of"] != sources.day(code):
            raise ValueError(f"expected the day of source {code}, found {row}")
        note = row["note"].replace("reduced copy of the API row; transcribed by hand", "")
        region = "global" if row["region"] in ("", "unstated") else row["region"]
        regions[region].append([
            row["item"], row["price_usd"], row["unit"], row["confidence"], code,
            note.removesuffix("; ").strip(),
        ])
    header = ["item", "price", "unit", "confidence", "source", "notes"]
    for region, rows in regions.items():
        write(f"prices/items/{region}.csv", header, sorted(rows, key=by_name))
    return set(regions) - {"global"}


COMMITMENT_SOURCES = {"BAB": "B", "IDC": "I"}


def commitments(collected, sources, known):
    """Reservations, and the one savings plan of three years that a source has, by region.

    Regions of other clouds are left out, and of two rows for one thing the older one.
    """
    rows = {}
    for row in read(collected / "prices/vm-reservations.csv"):
        code = sources.use(COMMITMENT_SOURCES[row["source"]])
        years = {"1 Year": "1", "3 Years": "3"}[row["term"]]
        key = (row["region"], short(row["sku"]), "reservation", years)
        new = [row["total_usd"], row["effective_start"], code, row["as_of"]]
        if key not in rows or rows[key][-1] < row["as_of"]:
            rows[key] = new
    with open(collected / "prices/raw/retail-items.savingsplan-and-reservation.json", encoding="utf-8") as file:
        items = json.load(file, parse_float=str)
    for item in items:
        for plan in item.get("savingsPlan", []):
            if plan["term"] == "3 Years":
                key = (item["armRegionName"], short(item["armSkuName"]), "savings_plan", "3")
                start = item["effectiveStartDate"][:10]
                rows[key] = [plan["retailPrice"], start, sources.use("X"), sources.day("X")]
    regions = collections.defaultdict(list)
    for (region, *key), cells in rows.items():
        if region in known:
            regions[region].append([*key, *cells])
    header = ["size", "plan", "years", "price", "effective", "source", "as_of"]
    for region, lines in regions.items():
        write(f"prices/commitments/{region}.csv", header, sorted(lines, key=lambda row: (row[0].lower(), row[1:3])))


def regions(collected, sources, offered, priced):
    with open(collected / "skus/regions.json", encoding="utf-8") as file:
        known = {row["name"]: row for row in json.load(file)}
    rows = []
    for name in {*known, *offered, *priced}:
        row = known.get(name)
        # What no list names has no name for people either.
        code = sources.use("D" if row or name in offered else "K")
        rows.append([
            name, row["displayName"] if row else name, row["geographyGroup"] if row else "",
            "yes" if name in offered else "no", code, sources.day(code),
        ])
    write("regions.csv", ["name", "display_name", "geography", "has_offers", "source", "as_of"], sorted(rows))


def quota_families(collected, sources):
    rows = []
    for row in read(collected / "quota/family-quota-map.csv"):
        confirmed = row["match"] == "exact"
        code = "D+" + sources.use("U") if confirmed else "D"
        rows.append([
            row["sku_family"], row["usage_name_value"], row["usage_localized_value"],
            "yes" if confirmed else "no", code, sources.day("D"),
        ])
    header = ["family", "usage_name", "localized_name", "confirmed", "source", "as_of"]
    write("quota_families.csv", header, sorted(rows, key=by_name))


# The index over all tables.

def table_group(name):
    """The row of `info.csv` that a table counts for."""
    return re.sub(r"^(offers|prices/vm|prices/items|prices/commitments)/.*", r"\1", name).removesuffix(".csv")


def info(names, sources):
    day_of = {code: row["as_of"] for code, row in sources.items()}
    groups = collections.defaultdict(list)
    for name in names:
        groups[table_group(name)] += read(HERE / name)
    rows = []
    for group, members in sorted(groups.items()):
        repositories, days = set(), collections.Counter()
        for row in members:
            cell = row.get("source") or row["code"]
            repositories |= {sources[code]["repository"] for code in cell.split("+")}
            days[row.get("as_of") or day_of[cell]] += 1
        usual = max(days, key=lambda day: (days[day], day))
        rows.append([group, len(members), min(days), max(days), usual, "; ".join(sorted(repositories))])
    return csv_text(["table", "rows", "oldest", "newest", "usual", "sources"], rows)


def check_sources(names, sources):
    for name in names:
        for row in read(HERE / name):
            for code in (row.get("source") or row["code"]).split("+"):
                if code not in sources:
                    raise ValueError(f"{name}: no source has the code `{code}`: {row}")


def index():
    """The texts that follow from the tables, by their paths."""
    names = sorted(
        path.relative_to(HERE).as_posix() for path in HERE.rglob("*.csv") if path.name != "info.csv"
    )
    sources = {row["code"]: row for row in read(HERE / "sources.csv")}
    check_sources(names, sources)
    texts = {name: (HERE / name).read_bytes() for name in names}
    texts["info.csv"] = info(names, sources).encode()
    lines = [f"{hashlib.sha256(texts[name]).hexdigest()}  {name}\n" for name in sorted(texts)]
    whole = hashlib.sha256("".join(lines).encode()).hexdigest()
    return {
        HERE / "info.csv": texts["info.csv"],
        HERE / "DIGEST": ("".join(lines) + f"# sha256:{whole}\n").encode(),
        EMBEDDED: embedded(sorted(texts)).encode(),
    }


def embedded(names):
    listed = "".join(f'    "{name}"\n' for name in names)
    return f"""\
//! The tables that the binary embeds. Written by `manifests/generate.py`.

macro_rules! tables {{
    ($($name:literal)+) => {{
        &[$(($name, include_str!(concat!("../../../../manifests/", $name)))),+]
    }};
}}

/// One line a table, `sha256sum` form, and a last one over those.
pub(super) const DIGEST: &str = include_str!("../../../../manifests/DIGEST");

/// Names and texts, sorted by name.
pub(super) const TABLES: &[(&str, &str)] = tables! {{
{listed}}};
"""


def tables(collected):
    for folder in ["offers", "prices"]:
        shutil.rmtree(HERE / folder, ignore_errors=True)
    sources = Sources()
    sizes(collected, sources)
    offered = offers(collected, sources)
    priced = vm_prices(collected, sources) | item_prices(collected, sources)
    commitments(collected, sources, offered | priced)
    regions(collected, sources, offered, priced)
    quota_families(collected, sources)
    for name in KEPT_BY_HAND:
        for row in read(HERE / name):
            for code in row["source"].split("+"):
                sources.use(code)
    header = ["code", "repository", "commit", "path", "as_of", "licence"]
    write("sources.csv", header, [sources.rows[code] for code in sorted(sources.used)])


def main(arguments):
    if len(arguments) > 1:
        sys.exit(__doc__)
    if arguments:
        tables(pathlib.Path(arguments[0]))
    for path, text in index().items():
        path.write_bytes(text)


if __name__ == "__main__":
    main(sys.argv[1:])
