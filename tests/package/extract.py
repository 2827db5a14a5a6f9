#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of a Markdown page: blocks that begin with ```LANGUAGE file=NAME. Blocks that
begin with ```sh run become one script, run.sh.

usage: extract.py PAGE FOLDER
"""
import pathlib
import re
import sys


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    script = "set -euxo pipefail\n"
    found = 0
    for info, text in re.findall(r"^```(\S+ [^\n]*)\n(.*?)^```$", page.read_text(), re.M | re.S):
        name = re.search(r"\bfile=(\S+)", info)
        if name:
            path = folder / name[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            found += 1
        elif info.split()[1:] == ["run"]:
            script += text
    if not found:
        sys.exit(f"{page}: no block with file=NAME")
    (folder / "run.sh").write_text(script)


main()
