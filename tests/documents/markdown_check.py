#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the Markdown of pages is whole.

usage: markdown_check.py FOLDER [PAGE...]

Looks at every *.md below FOLDER (without build folders), or at those PAGEs of it. Each defect is a
line PAGE:LINE: TEXT, and the exit code is 1.
"""
import collections
import functools
import pathlib
import re
import sys
import unicodedata
import urllib.parse

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark").enable("table")
Defect = collections.namedtuple("Defect", "line text")

# What a formatter of code leaves of prose.
GAP = re.compile(r"\w ([.,;:])(?:\s|$)")
NO_GAP = re.compile(r"[a-z)]{2}[.;][A-Z][a-z]")
RUN = re.compile(r"\S {2,}\S")


def anchor_of(heading, seen):
    """The anchor that GitHub gives a heading."""
    kept = [c for c in heading.strip().lower()
            if c in " -_" or unicodedata.category(c)[0] in "LN"]
    anchor = "".join(kept).replace(" ", "-")
    seen[anchor] += 1
    return anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor] - 1}"


def text_of(inline):
    return "".join(t.content for t in inline.children if t.type in ("text", "code_inline"))


@functools.lru_cache(maxsize=None)
def anchors_of(path):
    tokens = PARSER.parse(path.read_text())
    seen = collections.Counter()
    return {anchor_of(text_of(tokens[i + 1]), seen)
            for i, token in enumerate(tokens) if token.type == "heading_open"}


def headings(tokens):
    level = 0
    for i, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        line, found = token.map[0] + 1, int(token.tag[1])
        if token.markup in ("=", "-"):
            yield Defect(line, "a heading by underlining; write # in front of it")
        if level == 0 and found != 1:
            yield Defect(line, "the first heading is not of level 1")
        elif level != 0 and found == 1:
            yield Defect(line, "a second heading of level 1")
        elif found > level + 1:
            yield Defect(line, f"a heading of level {found} below one of level {level}")
        if not tokens[i + 1].content:
            yield Defect(line, "a heading without text")
        level = found
    if level == 0:
        yield Defect(1, "no heading")


def cells_of(row):
    """The columns of a line of a table; a | behind \\ or in code is none of its own."""
    row = row.strip().replace("\\|", "")
    return row.strip("|").count("|") + 1 if row.endswith("|") and row.startswith("|") else 0


def tables(tokens, lines):
    for token in tokens:
        if token.type != "table_open":
            continue
        begin, end = token.map
        wanted = cells_of(lines[begin])
        for number in range(begin, end):
            found = cells_of(lines[number])
            if found == 0:
                yield Defect(number + 1, "a row of a table without | at both ends")
            elif found != wanted:
                yield Defect(number + 1, f"a row of {found} columns in a table of {wanted}")


def fences(tokens, lines):
    for token in tokens:
        if token.type == "code_block":
            yield Defect(token.map[0] + 1, "an indented block; code stands between ``` and ```")
        if token.type == "fence" and not lines[token.map[1] - 1].strip().startswith(token.markup):
            yield Defect(token.map[0] + 1, f"a block that {token.markup} does not end")


def prose(tokens, lines):
    """Markdown that is none any more, and sentences that a formatter of code has been at."""
    for i, token in enumerate(tokens):
        if token.type != "inline" or not token.map:
            continue
        begin, end = token.map
        line = begin + 1
        in_table = tokens[i - 1].type in ("td_open", "th_open")
        if not in_table and tokens[i - 1].type == "paragraph_open" and token.level == 1:
            for number in range(begin, end):
                if lines[number].startswith(" "):
                    yield Defect(number + 1, "an indented line in a paragraph")
        for number in range(begin, end):
            if not in_table and re.match(r"\s*(#|\||```)", lines[number]) and \
                    tokens[i - 1].type == "paragraph_open":
                yield Defect(number + 1, "a heading, table or block that is none: "
                             + lines[number].strip()[:40])
        texts = [t.content for t in token.children if t.type == "text"]
        for text in texts:
            if "`" in text:
                yield Defect(line, "a ` without its other one")
            for pattern, what in ((GAP, "a blank before"), (NO_GAP, "no blank behind"),
                                  (RUN, "several blanks in")):
                found = pattern.search(text)
                if found:
                    yield Defect(line, f"{what} '{found[0].strip()}'")


def links(tokens, path):
    for token in tokens:
        for child in token.children or ():
            target = child.attrGet("href") if child.type == "link_open" else None
            target = child.attrGet("src") if child.type == "image" else target
            if target is None or re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = urllib.parse.unquote(target).partition("#")
            other = (path.parent / name).resolve() if name else path
            line = token.map[0] + 1
            if not other.exists():
                yield Defect(line, f"a link to {target}, which is not there")
            elif anchor and other.suffix == ".md" and anchor not in anchors_of(other):
                yield Defect(line, f"a link to {target}: no such heading")


def check(path):
    text = path.read_text()
    lines = text.split("\n")
    tokens = PARSER.parse(text)
    found = [*headings(tokens), *tables(tokens, lines), *fences(tokens, lines),
             *prose(tokens, lines), *links(tokens, path)]
    if not text.endswith("\n"):
        found.append(Defect(len(lines), "the last line has no end"))
    return sorted(found)


def pages_of(folder):
    for path in sorted(folder.rglob("*.md")):
        parts = path.relative_to(folder).parts
        if not any(part.startswith(".") or part == "build" for part in parts[:-1]):
            yield path


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    pages = [folder / name for name in sys.argv[2:]] or list(pages_of(folder))
    defects = [(path, defect) for path in pages for defect in check(path)]
    for path, (line, text) in defects:
        print(f"{path.relative_to(folder)}:{line}: {text}")
    print(f"{len(pages)} pages, {len(defects)} defects")
    return 1 if defects or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
