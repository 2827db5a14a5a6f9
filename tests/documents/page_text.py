# SPDX-License-Identifier: Apache-2.0
"""What a page of Markdown, or a manual page, has: files to write and commands to run."""
import dataclasses
import pathlib
import re
import shlex

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark").enable("table")
SCRIPTS = ("sh", "bash")
PROGRAMS = ("npusim", "./npusim", "npudemo", "npusim-bench")
# Of a block that is not said to be one of commands.
LOOKS_LIKE_ONE = re.compile(r"^(\./)?(npusim|npudemo|npusim-bench|run-tests|cmake|ctest|ninja) ", re.M)


@dataclasses.dataclass
class Command:
    line: int
    text: str
    output: list = None  # lines that it must print; "..." stands for any number of lines


@dataclasses.dataclass
class Page:
    files: dict      # name: text
    copies: list     # (line, path, text): what a block is a copy of
    commands: list
    mentions: list   # (line, text) of what names a command without being one
    defects: list    # (line, text)


def read_page(path):
    return read_manual(path) if path.suffix == ".1" else read_markdown(path)


def read_markdown(path):
    page = Page({}, [], [], [], [])
    for token in PARSER.parse(path.read_text()):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "fence":
            read_block(page, line, token.info.split(), token.content)
        for child in token.children or ():
            if child.type == "code_inline":
                read_span(page, line, " ".join(child.content.split()))
    return page


def read_block(page, line, info, text):
    of = dict(word.split("=", 1) for word in info if "=" in word)
    name = of.get("file")
    if "same" in of:
        page.copies.append((line, of["same"], text))
    if name:
        page.files[name] = text
    elif info[:1] and info[0] in SCRIPTS:
        page.commands.append(Command(line, text.strip()))
    elif re.search(r"^\$ ", text, re.M):
        read_console(page, line, text)
    elif not info and LOOKS_LIKE_ONE.search(text):
        page.defects.append((line, "a block of commands without 'sh' behind ``` and without '$ '"))


def read_console(page, line, text):
    command = None
    for number, each in enumerate(text.rstrip("\n").split("\n"), line + 1):
        if each.startswith("$ "):
            command = Command(number, each[2:], [])
            page.commands.append(command)
        elif command is None:
            page.defects.append((number, "a line of output in front of its command"))
        elif command.text.endswith("\\"):
            command.text += "\n" + each
        else:
            command.output.append(each)
    for each in page.commands:
        while each.output and not each.output[-1].strip():
            each.output.pop()


def read_span(page, line, text):
    """Words that name a machine are a command; others name one."""
    words = text.split()
    if not words or words[0] not in PROGRAMS or len(words) < 2:
        return
    whole = "--config" in words and not re.search(r"\b[A-Z]{2,}\b|\.\.\.", text)
    (page.commands if whole else page.mentions).append(
        Command(line, text) if whole else (line, text))


def read_manual(path):
    page = Page({}, [], [], [], [])
    for number, line in enumerate(path.read_text().split("\n"), 1):
        macro, _, text = line.partition(" ")
        if macro == ".Dl":
            page.commands.append(Command(number, text.replace("\\-", "-").replace("\\&", "")))
        elif macro == ".Ql":
            read_span(page, number, re.sub(r" [.,;:]$", "", text))
    return page


def mistaken_mention(text, help_of):
    """What is wrong with the name of a command, or None. `help_of(command)`: its --help, or None."""
    try:
        words = shlex.split(text, posix=True)
    except ValueError:
        return "quotes that do not end"
    if words[0] not in ("npusim", "./npusim"):
        return None
    options = [word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)]
    command = next((w for w in words[1:] if re.fullmatch(r"[a-z]+", w)), "")
    own = words.index("--") if "--" in words else len(words)
    options = [option for option in options if option in [w.partition("=")[0] for w in words[:own]]]
    help_text = help_of(command)
    if help_text is None:
        return f"there is no command '{command}'"
    for option in options:
        if option in ("--help", "--version"):
            continue
        if not re.search(rf"{option}\b", help_text):
            return f"{command or 'npusim'} has no option {option}"
    return None


def pages_below(root, patterns):
    for pattern in patterns:
        yield from sorted(path for path in pathlib.Path(root).glob(pattern) if path.is_file())
