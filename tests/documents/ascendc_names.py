#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascendc_names.py SOURCE: the table of docs/ascendc.md names what include/npu/ascendc declares for
kernels, all of it and nothing else."""
import pathlib
import re
import sys

# What __gm__ becomes, and what only the headers use.
INSIDE = {"GmAddress", "GmPointer", "GmReference", "GmRow", "GmVariable"}
LANGUAGE = {"__global__", "__gm__", "__vector__", "__cube__", "__mix__"}  # kernels/ascendc replaces them
DECLARATIONS = [
    r"^(?:class|struct|enum class|enum) (\w+)\b(?! *;)",
    r"^using (\w+) = ",
    r"^(?:inline )?[\w:<>]+[*&]? (\w+)\(",
    r"^NPU_ASCENDC_[A-Z]+\((\w+), ",
    r"^#define (?!NPU_)(\w+)",
]


def declared(source):
    names = set()
    for path in sorted((source / "include/npu/ascendc").glob("*.h*")):
        text = path.read_text(encoding="utf-8")
        # Of the namespace npu::ascendc nothing is a kernel's.
        text = re.sub(r"^namespace npu::ascendc \{$.*?^\}  // namespace npu::ascendc$", "", text,
                      flags=re.M | re.S)
        for pattern in DECLARATIONS:
            names.update(re.findall(pattern, text, flags=re.M))
    return names - INSIDE


def documented(source):
    page = (source / "docs/ascendc.md").read_text(encoding="utf-8")
    table = page[page.index("| group | names |"):].split("\n\n")[0]
    return set(re.findall(r"`([^`]+)`", table))


def main():
    source = pathlib.Path(sys.argv[1])
    there, said = declared(source) | LANGUAGE, documented(source)
    for name in sorted(there - said):
        print(f"docs/ascendc.md does not name {name}")
    for name in sorted(said - there):
        print(f"include/npu/ascendc has no {name}")
    if len(there) < 80:
        print(f"only {len(there)} names were found in include/npu/ascendc")
    return 0 if there == said and len(there) >= 80 else 1


if __name__ == "__main__":
    sys.exit(main())
