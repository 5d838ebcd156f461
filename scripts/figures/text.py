"""What follows from the program alone: its options, the fields of its report, and a report."""

import json
import re
import tempfile
from pathlib import Path

from .desk import ROOT, commands, option_groups, program, run, table

# Said once for all commands.
EVERYWHERE = ("Options", "Global options")


def options(desk):
    """A section per command; groups that a command shares with `segment` are told by a link."""
    parts = ["## All commands", "", rows_of("", EVERYWHERE), ""]
    known = dict(option_groups("segment"))
    for command in commands():
        parts += [f"## `lfield {command}`", ""]
        for heading, items in option_groups(command):
            items = [item for item in items if not re.search(r"--(help|version)\b", item[0])]
            if heading == "Global options" or not items:
                continue
            if command != "segment" and items == known.get(heading):
                parts += [f"**{heading}**: as for [`lfield segment`](#lfield-segment).", ""]
            else:
                parts += [f"**{heading}**", "", item_table(items), ""]
    return "\n".join(parts)


def rows_of(command, headings):
    return item_table([item for heading, items in option_groups(command) if heading in headings for item in items])


def item_table(items):
    def cell(text):
        return text.replace("|", "\\|")

    return table(["option", "default", "meaning"], [[f"`{cell(flags)}`", default_cell(cell(default)), cell(words)] for flags, (words, default) in items])


def default_cell(default):
    first, semicolon, rest = default.partition("; ")
    return (f"`{first}`" if re.fullmatch(r"[\w.,:/-]+", first) else first) + semicolon + rest


def report(desk):
    """The fields, from the published schema."""
    schema = json.loads((ROOT / "docs/report.schema.json").read_text())
    return table(["field", "type", "meaning"], fields(schema, schema, ""))


def fields(node, schema, prefix):
    for name, field in node["properties"].items():
        field, note = resolve(field, schema)
        item, _ = resolve(field["items"], schema) if "items" in field else (None, None)
        path = f"{prefix}{name}" + ("[]" if item else "")
        optional = "" if name in node.get("required", []) else " (left out where it has no meaning)"
        words = (note or field.get("description", "")).replace("\n", " ").replace("|", "\\|")
        words = re.sub(r"\[`(\w+)`\]", r"`\1`", words)
        yield [f"`{path}`", kind(field, schema), words + optional]
        inner = field if "properties" in field else item if item and "properties" in item else None
        if inner:
            yield from fields(inner, schema, f"{path}.")


def resolve(field, schema):
    """Follows a reference, and the one that may be null; the schema and the field's own description."""
    note = field.get("description")
    if "anyOf" in field:
        real = next(choice for choice in field["anyOf"] if choice.get("type") != "null")
        return {**resolve(real, schema)[0], "nullable": True}, note
    if "$ref" in field:
        return schema["$defs"][field["$ref"].rsplit("/", 1)[1]], note
    return field, note


def kind(field, schema):
    types = field.get("type", "any")
    types = [types] if isinstance(types, str) else types
    types = [*types, *(["null"] if field.get("nullable") else [])]
    if types[0] == "array":
        item, _ = resolve(field["items"], schema)
        return f"array of {item.get('type', 'any')}s"
    return " or ".join(types)


def example(desk):
    """The report of the beetle, without seconds and the longer lists."""
    with tempfile.TemporaryDirectory() as out:
        run([program(), "segment", "data/beetle.png", "-o", out, "-q", "--threads", "1"], cwd=ROOT)
        found = json.loads((Path(out) / "beetle.report.json").read_text())
    shown = {
        "schema": found["schema"],
        "input": found["input"],
        "scribbles": found["scribbles"],
        "model": found["model"],
        "solve": {key: value for key, value in found["solve"].items() if key != "seconds"},
        "bounds": found["bounds"],
        "map": found["map"],
        "marginals": found["marginals"],
        "outputs": found["outputs"],
        "warnings": found["warnings"],
    }
    shown = json.loads(json.dumps(shown), parse_float=lambda text: Rounded(text))
    lines = [f"  {json.dumps(key)}: {compact(value)}" for key, value in shown.items()]
    return "```json\n{\n" + ",\n".join(lines) + "\n}\n```"


class Rounded(float):
    """Six digits are enough to look at."""

    def __repr__(self):
        return f"{float(self):.6g}"


def compact(value):
    if isinstance(value, Rounded):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {compact(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(compact, value)) + "]"
    return json.dumps(value)
