#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether docs/public-interfaces.md says of every public function whether it is there.

usage: public_interfaces.py PAGE PREFIX

PREFIX is an installation: its headers, what its libraries export, and what functions of the ACL, the
runtime and the HAL that the page calls refused return under `npusim exec`. Each defect is a line, and
the exit code is 1.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

Interface = collections.namedtuple("Interface", "headers names libraries runs")
DSMI = r"(?:dsmi|npu_dsmi)_\w+"
# By the heading of its table. `names`: of functions; `runs`: programs under `npusim exec` have them.
INTERFACES = {
    "ACL": Interface(["acl/acl*.h", "aclnn/*.h", "aclnnop/*.h", "mstx/*.h", "profiling/*.h"],
                     r"(?:acl|mstx[A-Z]|Msprof)\w+",
                     ["ascendcl", "acl_rt"], True),
    "The runtime": Interface(["runtime/*.h"], r"(?:rt|npusimRt)\w+", ["runtime"], True),
    "HAL": Interface(["ascend_hal.h", "ascend_hal_external.h"], r"(?:hal|drv)\w+", ["ascend_hal"],
                     True),
    "HCCL": Interface(["hccl/*.h"], r"Hccl\w+", ["hccl"], True),
    "DSMI": Interface(["dsmi/dsmi_*.h"], DSMI, ["npudsmi"], False),
    "DCMI": Interface(["dsmi/dcmi_*.h"], r"dcmi_\w+", ["npudsmi"], False),
}
STATE = re.compile(r"there|partly: \S.*|refused: (-?\d+)")


def rows_of(text):
    """Heading -> [(functions, state)] of its table."""
    rows, heading = collections.defaultdict(list), None
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 2 and cells[0] != "functions" \
                and not set(cells[0]) <= set("-"):
            rows[heading].append((re.split(r",\s*", cells[0]), cells[1]))
    return rows


def declared_in(text, names):
    """Functions that a header declares; none of what it calls in macros or comments."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return set(re.findall(r"\b(" + names + r")\s*\(", text))


def exported_by(listing, names):
    """Of what `nm -D --defined-only` has listed."""
    symbols = [line.split() for line in listing.splitlines()]
    return {s[-1] for s in symbols if len(s) == 3 and s[1] in "TW"
            and re.fullmatch(names, s[-1])}


def defects_of(heading, rows, declared, exported):
    """`exported`: library -> functions."""
    named = collections.Counter(name for functions, _ in rows for name in functions)
    for name, count in sorted(named.items()):
        if count > 1:
            yield f"{heading}: {name} has {count} rows"
        if name not in declared:
            yield f"{heading}: {name} has a row, and no header declares it"
    for name in sorted(declared - set(named)):
        yield f"{heading}: {name} is declared and has no row"
    for library, functions in exported.items():
        for name in sorted(declared - functions):
            yield f"{heading}: {name} is declared and lib{library} does not export it"
        for name in sorted(functions - declared):
            yield f"{heading}: lib{library} exports {name}, and no header declares it"
    for functions, state in rows:
        if not STATE.fullmatch(state):
            yield f"{heading}: \"{state}\" of {functions[0]} is no state"


def refused_in(rows):
    """Function -> the code that the page says."""
    codes = {}
    for functions, state in rows:
        found = STATE.fullmatch(state)
        if found and found.group(1):
            codes.update((name, int(found.group(1))) for name in functions)
    return codes


def program_of(codes):
    """Calls each with zeros; without headers, so with any types."""
    calls = "".join(
        f'  if ((got = {name}(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L)) != {code}) '
        f'printf("{name} returns %d, refused with {code} by the page\\n", got);\n'
        for name, code in sorted(codes.items()))
    externs = "".join(f"int {name}(long, long, long, long, long, long, long, long);\n"
                      for name in sorted(codes))
    return f"#include <stdio.h>\n{externs}int main(void) {{\n  int got = 0;\n{calls}  return 0;\n}}\n"


def run_refused(heading, codes, library, folder, prefix):
    if not codes:
        return
    with tempfile.TemporaryDirectory() as there:
        source, program = pathlib.Path(there, "refused.c"), pathlib.Path(there, "refused")
        source.write_text(program_of(codes))
        subprocess.run(["cc", source, "-L", folder, "-l" + library, "-o", program], check=True)
        ran = subprocess.run([prefix / "bin/npusim", "--config", "910b2", "exec", "--report",
                              pathlib.Path(there, "report.json"), "--", program],
                             capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        yield f"{heading}: the program that calls what is refused ends with {ran.returncode}"
    for line in ran.stdout.splitlines():
        if " refused with " in line:
            yield f"{heading}: {line}"


def main(page, prefix):
    prefix = pathlib.Path(prefix)
    folder = next((prefix / "lib").rglob("libruntime.so")).parent
    rows = rows_of(pathlib.Path(page).read_text())
    defects = [f"{heading}: no such interface" for heading in rows if heading not in INTERFACES]
    for heading, interface in INTERFACES.items():
        headers = [h for pattern in interface.headers for h in (prefix / "include").glob(pattern)]
        declared = set().union(*(declared_in(h.read_text(), interface.names) for h in headers))
        exported = {}
        for library in interface.libraries:
            listing = subprocess.run(["nm", "-D", "--defined-only", folder / f"lib{library}.so"],
                                     capture_output=True, text=True, check=True).stdout
            exported[library] = exported_by(listing, interface.names)
        defects += defects_of(heading, rows[heading], declared, exported)
        if interface.runs:
            defects += run_refused(heading, refused_in(rows[heading]), interface.libraries[0],
                                   folder, prefix)
    for defect in defects:
        print(defect)
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
