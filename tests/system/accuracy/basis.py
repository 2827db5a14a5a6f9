#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""basis.py [--write]: of how many published, fitted and assumed values each part of a kernel's time
consists, as the comments in configs/ say: docs/accuracy/basis.csv. Without --write exit code 1 says that the
file is another one."""
import csv
import io
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
CONFIGS = ROOT / "configs"
FILE = ROOT / "docs/accuracy/basis.csv"
# Parts are those of the report's limits (docs/reports.md); patterns of keys, the first that fits counts.
PARTS = [
    ("way", r"core\.\w+\.latency_clocks"),
    ("mte2", r"core\.gm_to_\w+\..*|core\.(segment_bytes|outstanding_kib)"),
    ("mte3", r"core\.ub_to_gm\..*"),
    ("fixpipe", r"core\.l0c_to_\w+\..*"),
    ("mte1", r"core\.l0[ab_].*(per_clock|fill).*"),
    ("cube", r"core\.cube\..*"),
    ("vector", r"core\.vector\..*"),
    ("flags", r"core\.(flag_clocks|scalar_flag_clocks|cross_flag_ns)"),
    ("scalar_memory", r"core\.(miss_clocks|write_back_clocks|dcci_clocks|cache_\w+|instruction_\w+)"),
    ("scalar", r"core\.(scalar_ipc_percent|issue_clocks|ub_clocks|register_clocks|set_up\..*)"),
    ("hbm", r"hbm\..*"),
    ("l2", r"l2\..*"),
    ("mmu", r"mmu\..*"),
    ("launch", r"aicore\..*|command\..*"),
]
# Sizes and names: they are no costs.
NO_COST = re.compile(r".*\.(schema|name|functional|type|counter_mhz|usable_mib|installed_mib|policy|size_\w+)$")
LINE = re.compile(r"^(\s*)([\w]+):\s*([^#]*?)\s*(?:#\s*(.*))?$")


def sourced(path):
    """Keys of a file with what their comments say, in order; `base` and linked files included."""
    keys, stack, defaults = {}, [], {}
    block, after_head, last = [], False, None
    for line in path.read_text().splitlines():
        match = LINE.match(line)
        if not match:
            text = line.strip()
            if not text.startswith("#"):
                block, last = [], None
            elif last and len(line) - len(line.lstrip()) > 8:  # goes on behind a key
                keys[last] += " " + text.lstrip("# ")
            else:
                block.append(text.lstrip("# "))
            continue
        depth, name, value, comment = len(match[1]), match[2], match[3], match[4] or ""
        stack = [each for each in stack if each[0] < depth]
        section = ".".join(each[1] for each in stack)
        key = f"{section}.{name}" if section else name
        said, block = " ".join(block), []
        if after_head and said:
            defaults[section] = said
        after_head, last = value == "", None
        if value == "":
            stack.append((depth, name))
        elif name == "base":
            keys = {**sourced(path.parent / value), **keys}
        elif value.endswith(".yaml") and (CONFIGS / value).exists() and name != "system":
            prefix = section if name == "timings" else key
            keys = {each: said for each, said in keys.items() if name == "timings" or not each.startswith(key + ".")}
            keys.update({f"{prefix}.{each}": said for each, said in sourced(CONFIGS / value).items()})
        else:
            last = key
            keys[key] = comment or said or defaults.get(section, "")
    return keys


def kind_of(key, keys, depth=0):
    comment = keys[key]
    like = re.match(r"as (?:core\.)?([\w.]+)", comment)
    if like and depth < 4:
        section, leaf = key.rsplit(".", 1)
        near = f"{section.rsplit('.', 1)[0]}.{like[1]}.{leaf}"
        if near in keys and near != key:
            return kind_of(near, keys, depth + 1)
    words = comment.split(";")[0].lower()
    if words.startswith("fit") or ", fit" in words or "a fit" in words:
        return "fitted"
    if "assumed" in comment.lower() or not comment:
        return "assumed"
    return "published"


def listed_fits():
    """Keys of docs/accuracy/fitted.csv by chip."""
    with open(ROOT / "docs/accuracy/fitted.csv", newline="") as file:
        return {(row["where"], re.sub(r"\.percent$", "", row["key"])) for row in csv.DictReader(file)}


def base_of(path):
    match = re.search(r"^base: (\S+)", path.read_text(), re.M)
    return path.parent / match[1] if match else None


def chain(path):
    while path is not None:
        yield path.stem
        path = base_of(path)


def rows():
    listed = listed_fits()
    for path in sorted(CONFIGS.glob("*.yaml")):
        if "schema: npusim.chip/1" not in path.read_text():
            continue
        keys = sourced(path)
        counts = {part: {"published": 0, "fitted": 0, "assumed": 0} for part, _ in PARTS}
        fits = {part: [] for part, _ in PARTS}
        for key in keys:
            part = next((part for part, pattern in PARTS if re.fullmatch(pattern, key)), None)
            if part is None or NO_COST.fullmatch(key):
                continue
            kind = "fitted" if any((stem, key) in listed for stem in chain(path)) else kind_of(key, keys)
            counts[part][kind] += 1
            if kind == "fitted":
                fits[part].append(key)
        for part in sorted(counts):
            yield [path.stem, part, *counts[part].values(), " ".join(sorted(fits[part]))]


def text():
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["sku", "part", "published", "fitted", "assumed", "fits"])
    writer.writerows(rows())
    return out.getvalue()


def main():
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(text())
        return 0
    if sys.argv[1:]:
        sys.exit("usage: basis.py [--write]")
    if FILE.read_text() == text():
        return 0
    print(f"{FILE.relative_to(ROOT)} is not what configs/ says; tests/system/accuracy/basis.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
