# SPDX-License-Identifier: Apache-2.0
"""Synchronisations in the sources of kernels: where they are, and sources without one of them."""
import re

# Statements that only set or wait for something: of flags, barriers, and of the classes that hold flags
# (kernels/device/common/stages.hpp). What returns something is no statement of its own.
_NAMES = (
    "pipe_barrier|set_flag|wait_flag|set_cross_flag|wait_cross_flag|set|wait|loaded|filled|take|"
    "consumed|computed|stored"
)
_RECEIVER = r"(?:[a-z]\w*::)*(?:[A-Za-z_]\w*(?:<[^;<>()]*>)?(?:\([^;()]*\))?(?:\.|->))+"
_CALL = re.compile(
    rf"(?<![\w.>:]){_RECEIVER}(?:(?:{_NAMES})\(|(?<=turns_\.)begin\(|(?<=turns\.)begin\(|"
    r"(?<=trip\.)end\(|(?<=ScalarTrip\(port_\)\.)end\()"
)
_INCLUDE = re.compile(r'#include "(kernels/device/[^"]+)"')
NOTHING = "static_cast<void>(0)"
TRAP = "__builtin_trap()"


def _closing(text, opening):
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def _is_statement(text, begin, end):
    before = text[:begin].rstrip()
    after = text[end:].lstrip()
    if before.endswith(":") and "?" in before[max(map(before.rfind, ";{}")) + 1 :]:
        return False  # an operand of ?:
    return after[:1] == ";" and (before[-1:] in ";{})" or before.endswith(("return", "else", ":")))


class Site:
    """A call in a file, from `begin` to `end` of its text."""

    def __init__(self, path, text, begin, end):
        self.path, self.begin, self.end = path, begin, end
        self.line = text.count("\n", 0, begin) + 1
        self.call = " ".join(text[begin:end].split())

    def replaced(self, text, by):
        # The same lines as before: reports name those.
        lines = text.count("\n", self.begin, self.end)
        return text[: self.begin] + by + "\n" * lines + text[self.end :]


def sites_in(root, path):
    text = (root / path).read_text()
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment[0]), text)
    for found in _CALL.finditer(code):
        end = _closing(code, found.end() - 1) + 1
        if _is_statement(code, found.start(), end):
            yield Site(path, text, found.start(), end)


def files_of(root, template):
    """The template and what it includes of the kernels, in that order."""
    files = [f"kernels/device/operators/{template}.cpp"]
    for path in files:
        for name in _INCLUDE.findall((root / path).read_text()):
            if name not in files:
                files.append(name)
    return files


def function_of(text, line):
    """First and last line of the function that the line is in; the line alone: it is in none."""
    code = re.sub(r"//[^\n]*", "", text)
    blocks, number, last = [], 1, 0
    for at, letter in enumerate(code):
        number += letter == "\n"
        if letter == "{":
            head = code[last:at].lstrip()
            blocks.append((number - head.count("\n"), ")" in head))
        elif letter == "}" and blocks:
            first, is_function = blocks.pop()
            inner = any(function for _, function in blocks)
            if is_function and not inner and first <= line <= number:
                return first, number
        if letter in "{};":
            last = at + 1
    return line, line
