#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether an installation has the files that its manual pages, its --help and its pages name.

usage: installed_paths.py PREFIX

What a text says to be "of npusim's source" is not looked for, nor what of a page's paths begins with
a folder of the source alone (docs/README.md).
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import markdown_check  # noqa: E402

PATH = re.compile(r"(?<![\w/.-])((?:docs|examples|configs|guest|tests|share|PREFIX)/[\w./-]*\w)(?!/?[\w-])(?! of npusim's\s+source)")
OF_A_PAGE = ("docs/", "examples/", "configs/", "share/", "PREFIX/")
# Pages about the source: paths in them are of a checkout.
ABOUT_THE_SOURCE = ("CONTRIBUTING.md", "CHANGELOG.md", "architecture.md", "accuracy.md", "writing-a-workload.md",
                    "writing-an-operator.md", "kernels-and-graphs.md")


def texts_of(prefix, documents):
    for page in sorted((prefix / "share/man").rglob("*.1*")):
        text = subprocess.run(["mandoc", "-T", "utf8", page], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        yield page.name, re.sub(r".\x08", "", text)
    program = str(prefix / "bin/npusim")
    main = help_of([program])
    yield "npusim --help", main
    for command in sorted(set(re.findall(r"^  ([a-z]+)  +\S", main, re.M))):
        yield f"npusim {command} --help", help_of([program, command])
    yield "npudemo --help", help_of([str(prefix / "bin/npudemo")])
    for page in sorted(documents.rglob("*.md")):
        if page.name not in ABOUT_THE_SOURCE and "sources" not in page.parts and "saxpy" not in page.parts:
            yield str(page.relative_to(documents)), page.read_text()


def help_of(words):
    return subprocess.run([*words, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout


def exists(path, prefix, documents):
    path = path.removeprefix("PREFIX/")
    places = (documents, documents / "docs", prefix, prefix / "share/npusim")
    return any((place / path).exists() for place in places)


def main():
    prefix = pathlib.Path(sys.argv[1]).resolve()
    documents = prefix / "share/doc/npusim"
    wrong, found = [], 0
    for name, text in texts_of(prefix, documents):
        for path in sorted(set(PATH.findall(text))):
            if name.endswith(".md") and not path.startswith(OF_A_PAGE):
                continue
            found += 1
            if not exists(path, prefix, documents):
                wrong.append(f"{name} names {path}, which is not installed")
    for page in markdown_check.pages_of(documents):
        wrong += [f"{page.relative_to(documents)}:{line}: {text}"
                  for line, text in markdown_check.check(page)]
    print("\n".join(wrong))
    print(f"{found} paths, {len(wrong)} defects")
    return 1 if wrong or found < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
