"""Checks the JSON schema of the spec with the validator that editors and pipelines use.

The schema must be valid in the draft that it names, take every example and every golden that is
planned, and refuse specs with a mistake in them. Needs jsonschema and PyYAML.
"""

import json
import pathlib

import jsonschema
import yaml

root = pathlib.Path(__file__).resolve().parent.parent
schema = json.loads((root / "docs/spec.schema.json").read_text())
validator_class = jsonschema.validators.validator_for(schema, default=None)
assert validator_class is jsonschema.Draft202012Validator, schema["$schema"]
validator_class.check_schema(schema)
validator = validator_class(schema)


def mistakes(path):
    """What the validator says about a file, as places in it."""
    document = yaml.safe_load(path.read_text())
    return [error.json_path for error in validator.iter_errors(document)]


good = sorted(root.glob("examples/*.yaml")) + sorted(root.glob("tests/goldens/*/spec.yaml"))
assert len(good) > 20, good
for path in good:
    assert mistakes(path) == [], (path, mistakes(path))

# Mistakes that a schema can see; the others in that folder need the tool.
wrong = ["conflicts", "empty", "missing", "no_pools", "secret", "text", "types", "unknown_keys", "values"]
for name in wrong:
    path = root / "tests/goldens/spec" / f"{name}.yaml"
    assert mistakes(path) != [], path

example = yaml.safe_load((root / "examples/training-generative.yaml").read_text())
example["pools"]["train"]["cuont"] = 2
assert [error.json_path for error in validator.iter_errors(example)] == ["$.pools.train"]

print(f"the schema takes {len(good)} specs and refuses {len(wrong) + 1}")
