#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of a Markdown page: blocks that begin with ```LANGUAGE file=NAME.

usage: extract.py PAGE FOLDER
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "documents"))
import page_text  # noqa: E402


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = page_text.read_page(page).files
    if not files:
        sys.exit(f"{page}: no block with file=NAME")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


main()
