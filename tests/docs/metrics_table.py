#!/usr/bin/env python3
"""The counter tables of docs/metrics.md, made from configs/counters.

metrics_table.py          fails, with the difference, if the document says anything else than the tables
metrics_table.py --write  puts the tables into the document, between their markers
"""

import difflib
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/metrics.md"
BEGIN = "<!-- counters: made by tests/docs/metrics_table.py --write -->\n"
END = "<!-- end of counters -->\n"
SOURCES = ("ethtool", "rdma", "dcb")
SCOPES = {
    "port": "",
    "function": "of this function",
    "bond": "of the port, summed over a bond",
}


def load(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def definitions_table(counters):
    lines = [
        "| counter | per | unit | direction | kind | meaning |",
        "|---|---|---|---|---|---|",
    ]
    for c in counters:
        lines.append(
            f"| `{c['name']}` | {c['per']} | {c['unit']} | {c['direction']} | {c['kind']} | {cell(c['meaning'])} |"
        )
    return lines


def place(row):
    if "absent" in row:
        return f"*absent*: {cell(row['absent'])}"
    names = [f"`{name}` ({source})" for source in SOURCES for name in row.get(source, [])]
    remarks = []
    if row["width_bits"] != 64:
        remarks.append(f"{row['width_bits']} bits, wraps")
    if row.get("divide_by", 1) != 1:
        remarks.append(f"divided by {row['divide_by']}")
    if SCOPES[row["counts"]]:
        remarks.append(SCOPES[row["counts"]])
    if row["exists_when"] != "always":
        remarks.append(row["exists_when"])
    if "note" in row:
        remarks.append(row["note"])
    return cell(", else ".join(names) + ("; " + "; ".join(remarks) if remarks else ""))


def vendor_table(table, order):
    rows = {row["name"]: row for row in table["counter"]}
    lines = ["| counter | where | source |", "|---|---|---|"]
    lines += [f"| `{name}` | {place(rows[name])} | {cell(rows[name]['origin'])} |" for name in order]
    return lines


def tables():
    folder = ROOT / "configs/counters"
    schema = load(folder / "schema.toml")["counter"]
    order = [c["name"] for c in schema]
    lines = ["", "### Names, units, meaning", ""] + definitions_table(schema)
    for path in sorted(folder.glob("*.toml")):
        if path.name == "schema.toml":
            continue
        table = load(path)
        lines += ["", f"### Where {table['nic']} keeps them", ""] + vendor_table(table, order)
        if "rdma_prefixes" in table:
            prefixes = ", ".join(f"`{p}`" for p in table["rdma_prefixes"])
            lines += ["", f"RDMA names are also looked for with {prefixes} in front (switchdev representors)."]
    return "\n".join(lines) + "\n\n"


def main():
    old = DOCUMENT.read_text()
    if old.count(BEGIN) != 1 or old.count(END) != 1:
        sys.exit(f"{DOCUMENT}: the markers of the counter tables are not there once each")
    head, rest = old.split(BEGIN)
    new = head + BEGIN + tables() + END + rest.split(END)[1]
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(new)
    elif new != old:
        sys.stdout.writelines(
            difflib.unified_diff(old.splitlines(True), new.splitlines(True), "docs/metrics.md", "configs/counters")
        )
        sys.exit("docs/metrics.md differs from configs/counters: run tests/docs/metrics_table.py --write")


if __name__ == "__main__":
    main()
