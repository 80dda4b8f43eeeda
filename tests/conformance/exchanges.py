"""Recorded exchanges as `oav` wants them, and what it finds in them."""

import csv
import hashlib
import json
import os
import re
import subprocess
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
SPECS = os.path.join(HERE, "specs")
UNDEFINED = "Error: Undefined operation "
# Versions that are sent and of which no schema is here, the one that their bodies are held against,
# and the members that came in between: nothing may be in a body that is neither in that schema nor
# among them.
OLDER = {("Microsoft.ContainerService", "2026-05-01"): ("2024-09-01", {"gpuProfile"})}


def check_specs():
    """Refuses schemas that are not the originals; answers how many there are."""
    with open(os.path.join(SPECS, "DIGESTS"), encoding="utf-8") as file:
        expected = dict(reversed(line.split()) for line in file)
    found = {}
    for folder, _, names in os.walk(os.path.join(SPECS, "specification")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, SPECS)] = hashlib.sha256(file.read()).hexdigest()
    if found != expected:
        wrong = {path for path, digest in found.items() ^ expected.items()}
        raise AssertionError(f"schemas are not the originals: {sorted(wrong)[:3]}")
    return len(found)


def kind(path):
    """The provider of a path, and the type that comes first in it, in lower case."""
    parts = re.split(r"/providers/", f"/{path.strip('/')}", flags=re.IGNORECASE)
    if len(parts) > 1 and "/" in parts[-1]:
        provider, first = parts[-1].split("/")[:2]
        return provider, first.lower()
    if len(parts) > 1:
        return "Microsoft.Resources", "providers"
    names = parts[0].split("/")[1:]
    return "Microsoft.Resources", names[2].lower() if len(names) > 2 else names[0].lower()


def with_schemas():
    """Provider, version and first type of all operations in the schemas."""
    found = set()
    for folder, _, names in os.walk(os.path.join(SPECS, "specification")):
        version = os.path.basename(folder)
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                paths = json.load(file).get("paths", {})
            found |= {(*kind(path), version) for path in paths if "{" not in kind(path)[0]}
    return found


def read(path):
    """The exchanges of a recording."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def without(value, members, counts):
    """A body without these members, which are counted."""
    if isinstance(value, list):
        return [without(one, members, counts) for one in value]
    if not isinstance(value, dict):
        return value
    counts.update(name for name in value if name in members)
    return {name: without(one, members, counts) for name, one in value.items() if name not in members}


class Exchange:
    """One exchange, with the provider and the version it went to."""

    def __init__(self, entry):
        self.entry = entry
        self.request, self.response = entry["request"], entry["response"]
        self.path, _, query = self.request["url"].split("/", 3)[3].partition("?")
        self.url = f"https://management.azure.com/{self.path}?{query}"
        match = re.search(r"(?:^|[?&])api-version=([^&]+)", query, re.IGNORECASE)
        self.version = match.group(1) if match else ""
        provider, self.kind = kind(self.path)
        self.provider = SPELLED.get(provider.lower(), provider)
        self.sent_as, self.newer = self.version, Counter()
        older = OLDER.get((self.provider, self.version))
        if older:
            self.hold_against(*older)

    def hold_against(self, version, members):
        """Makes of the exchange one of an older version, without what only the newer one has."""
        self.url = self.url.replace(f"api-version={self.version}", f"api-version={version}")
        self.version = version
        for message in (self.request, self.response or {}):
            if "body" in message:
                message["body"] = without(message["body"], members, self.newer)

    @property
    def why_not(self):
        """Why no schema can cover it; nothing if one should."""
        if self.entry["kind"] in ("token", "prices"):
            return f"{self.entry['kind']}: not of Azure Resource Manager"
        if self.entry["kind"] == "poll":
            return f"{self.provider}: operation URLs, which no schema has"
        if self.response is None:
            return f"{self.provider}: the connection was closed"
        if self.kind == "providers":
            return f"{self.provider}: reads of a provider, which oav looks for in the schema of that one"
        if (self.provider, self.kind, self.version) not in KNOWN:
            versions = {version for provider, _, version in KNOWN if provider == self.provider}
            what = f"no {self.kind} in" if self.version in versions else "no"
            return f"{self.provider} {self.version}: {what} schema of this version here"
        if self.kind == "permissions" and "/resourcegroups/" not in self.path.lower():
            return f"{self.provider}: permissions of a subscription, which the schema has of groups alone"
        if self.kind == "virtualmachinescalesets" and "/networkInterfaces" in self.path:
            return f"{self.provider}: interfaces of instances, which are in a schema of 2018 that is not here"
        return None

    def payload(self):
        """The form that oav reads."""
        payload = {
            "liveRequest": {"method": self.request["method"], "url": self.url, "headers": self.request["headers"]},
            "liveResponse": {"statusCode": str(self.response["status"]), "headers": self.response["headers"]},
        }
        for side, message in (("liveRequest", self.request), ("liveResponse", self.response)):
            if "body" in message:
                payload[side]["body"] = message["body"]
        return payload


KNOWN = with_schemas()
SPELLED = {provider.lower(): provider for provider, *_ in KNOWN}


class Findings:
    """What oav says about exchanges."""

    def __init__(self, exchanges, work):
        self.sent = Counter(one.provider for one in exchanges)
        os.makedirs(os.path.join(work, "traffic"))
        for number, one in enumerate(exchanges):
            with open(os.path.join(work, "traffic", f"{number:06}.json"), "w", encoding="utf-8") as file:
                json.dump(one.payload(), file, indent=1)
        report = os.path.join(work, "report.json")
        with open(os.path.join(work, "output"), "w", encoding="utf-8") as output:
            # It ends with 1 if it found anything, so that its status says nothing more.
            subprocess.run(
                ["node", os.path.join(os.environ["CONFORMANCE_OAV"], "node_modules", "oav", "dist", "cli.js"),
                 "validate-traffic", os.path.join(work, "traffic"), os.path.join(SPECS, "specification"),
                 "--report", os.path.join(work, "report.html"), "--jsonReport", report,
                 "-l", "off", "-f", os.path.join(work, "log")],
                stdout=output, stderr=subprocess.STDOUT, timeout=600, check=False)
        with open(os.path.join(work, "output"), encoding="utf-8") as file:
            output = file.read()
        with open(report, encoding="utf-8") as file:
            report = json.load(file)
        providers = {one.url: one.provider for one in exchanges}
        self.undefined = Counter()
        self.examples = []
        for line in output.splitlines():
            if line.startswith(UNDEFINED):
                told = json.loads(line[len(UNDEFINED):])["validationRequest"]
                self.undefined[providers.get(told["requestUrl"], "unknown")] += 1
                self.examples.append(f"{told['requestMethod']} {told['requestUrl'][:160]}")
        # What oav itself failed at, which ends its run.
        self.exceptions = re.findall(r'"runtimeExceptions": \[\s*\{.*?\}', output, re.DOTALL)
        self.operations = report["coveredOperations"]
        self.found = Counter(
            (re.search(r"Microsoft\.\w+", error["spec"]).group(0), error["operationId"], error["issueSource"],
             error["errorCode"], error["errorMessage"])
            for error in report["errors"])

    def covered(self, provider):
        """How many exchanges a schema was found for."""
        return self.sent[provider] - self.undefined[provider]


def deviations(name):
    """The findings that a table allows, each with its reading."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return {(row["operationId"], row["side"], row["code"], row["message"]): row["reading"]
            for row in csv.DictReader(lines)}
