#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of pages, with an installed npusim, as a reader would.

usage: page_commands.py SOURCE PREFIX [--npusim PROGRAM] [--any-output] [PAGE...]

--any-output: what commands print is not compared. Without PAGEs: those of SOURCE that tests/documents/commands.yaml calls `pages`, but for those that it
calls `apart`. That file also says what a page's reader has made before, which commands are run by
another test, and which are not run, and why. Every other command must end with 0 and print what the
page shows. Each page has an empty folder of its own; `configs`, `docs` and `./npusim` are where a
checkout has them. A server is started, waited for, and ended by SIGTERM at the end of the page.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import yaml

import page_text

HERE = pathlib.Path(__file__).resolve().parent
SERVER = re.compile(r"npusim .*\bserve\b")
LONGEST = 900  # seconds for a command
STUBS = {"parallel": "#!/bin/sh\nexec sh -e\n", "sbatch": "#!/bin/sh\nexec sh -n\n"}


class Failed(Exception):
    pass


def fits(expected, found):
    """Whether lines are those expected, of which "..." stands for any number."""
    if not expected:
        return not found
    if expected[0].strip() == "...":
        return any(fits(expected[1:], found[i:]) for i in range(len(found) + 1))
    return bool(found) and found[0].rstrip() == expected[0].rstrip() and fits(expected[1:], found[1:])


class Reader:
    """Who does what a page says, in a folder of its own."""

    def __init__(self, folder, source, prefix, npusim, any_output):
        self.folder = folder
        self.any_output = any_output
        self.servers = []
        stubs = folder / ".bin"
        stubs.mkdir()
        for name, text in STUBS.items():
            (stubs / name).write_text(text)
            (stubs / name).chmod(0o755)
        for place in (stubs / "npusim", folder / "npusim"):
            place.symlink_to(npusim)
        (folder / "configs").symlink_to(prefix / "share/npusim/configs")
        (folder / "docs").symlink_to(source / "docs")
        self.environment = {
            "PATH": f"{stubs}:{prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder / ".home"),
            "PREFIX": str(prefix), "SOURCE": str(source), "LC_ALL": "C.UTF-8",
            "CMAKE_PREFIX_PATH": str(prefix), "PYTHONPATH": str(prefix / "lib/python3/dist-packages")}
        if os.environ.get("NPUSIM_JIT_CACHE_DIR"):  # what pages compile need not be compiled again
            self.environment["NPUSIM_JIT_CACHE_DIR"] = os.environ["NPUSIM_JIT_CACHE_DIR"]

    def run(self, text, output=None):
        if SERVER.search(text):
            return self.serve(text)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL, timeout=LONGEST,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        if output and not self.any_output and not fits(output, done.stdout.rstrip("\n").split("\n")):
            raise Failed("it prints\n" + done.stdout)
        return done.stdout

    def serve(self, text):
        self.end_servers()
        sockets = re.findall(r"--(?:socket|management|metrics|ecam) ([\w./]+)", text)
        log = open(self.folder / ".server", "w+")
        server = subprocess.Popen(["bash", "-c", "exec " + text], cwd=self.folder, stdout=log,
                                  env=self.environment, stdin=subprocess.DEVNULL, stderr=log)
        self.servers.append((server, log))
        for socket in sockets:
            for _ in range(600):
                if (self.folder / socket).exists() or server.poll() is not None:
                    break
                time.sleep(0.05)
            if not (self.folder / socket).exists():
                self.end_servers()
                raise Failed(f"no socket {socket}")

    def end_servers(self):
        while self.servers:
            server, log = self.servers.pop()
            server.send_signal(signal.SIGTERM)
            code = server.wait(timeout=60)
            log.seek(0)
            said = log.read()
            log.close()
            if code != 0:
                raise Failed(f"the server ends with {code}\n{said}")


class Book:
    """commands.yaml, and which of its entries have been of use."""

    def __init__(self, source):
        self.source = source
        self.text = yaml.safe_load((HERE / "commands.yaml").read_text())
        self.used = set()
        self.tests = "".join(path.read_text() for path in source.glob("**/CMakeLists.txt")
                             if "build" not in path.relative_to(source).parts)

    def rules(self, page):
        return self.text["rules"].get(page, {})

    def names(self):
        pages = page_text.pages_below(self.source, self.text["pages"])
        names = [str(path.relative_to(self.source)) for path in pages]
        return [name for name in names if name not in self.text["apart"]]

    def excuse(self, page, command):
        """Why a command is not run here, or None."""
        first = command.text.split("\n")[0]
        for kind in ("elsewhere", "not_run"):
            reason = self.rules(page).get(kind, {}).get(first)
            if reason is None:
                continue
            self.used.add((page, kind, first))
            if kind == "elsewhere" and reason not in self.tests:
                raise Failed(f"there is no test {reason}")
            return reason
        return None

    def left_over(self, pages):
        for page in pages:
            for kind in ("elsewhere", "not_run"):
                for first in self.rules(page).get(kind, {}):
                    if (page, kind, first) not in self.used:
                        yield f"commands.yaml: {page}: {kind}: no such command: {first}"
        for page in self.text["rules"]:
            if not (self.source / page).exists():
                yield f"commands.yaml: no page {page}"


def help_by(npusim):
    kept = {}

    def help_of(command):
        if command not in kept:
            words = [str(npusim), *([command] if command else []), "--help"]
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            kept[command] = done.stdout if done.returncode == 0 else None
        return kept[command]

    return help_of


def try_page(name, book, prefix, npusim, help_of, any_output):
    """Yields what is wrong."""
    page = page_text.read_page(book.source / name)
    rules = book.rules(name)
    for line, text in page.defects:
        yield f"{name}:{line}: {text}"
    for line, text in page.mentions:
        mistake = page_text.mistaken_mention(text, help_of)
        if mistake:
            yield f"{name}:{line}: {text}: {mistake}"
    for line, other, text in page.copies:
        whole = (book.source / other).read_text()
        if text not in (whole, whole[whole.find("\n") + 1:]):
            yield f"{name}:{line}: the block is not {other}"
    with tempfile.TemporaryDirectory() as place:
        reader = Reader(pathlib.Path(place), book.source, prefix, npusim, any_output)
        for file, text in page.files.items():
            (reader.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (reader.folder / file).write_text(text)
        said = ""
        line, step = 0, "before"
        try:
            reader.run(rules.get("before", ""))
            for command in page.commands:
                line, step = command.line, command.text
                if book.excuse(name, command) is None:
                    said += reader.run(command.text, command.output) or ""
            line, step = 0, "at the end"
            reader.end_servers()
            reader.run(rules.get("afterwards", ""))
        except (Failed, subprocess.TimeoutExpired) as failure:
            yield f"{name}:{line}: {step}: {failure}"
        finally:
            for server, _ in reader.servers:
                server.kill()
        for text in rules.get("says", ()):
            if text not in said:
                yield f"{name}: its commands do not say: {text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("--npusim", type=pathlib.Path)
    parser.add_argument("--any-output", action="store_true")
    parser.add_argument("pages", nargs="*")
    given = parser.parse_intermixed_args()
    source, prefix = given.source.resolve(), given.prefix.resolve()
    npusim = (given.npusim or prefix / "bin/npusim").resolve()
    book = Book(source)
    pages = given.pages or book.names()
    wrong, right = [], []
    for name in pages:
        begin = time.monotonic()
        found = list(try_page(name, book, prefix, npusim, help_by(npusim), given.any_output))
        print(f"{name}: {'ok' if not found else 'wrong'}, {time.monotonic() - begin:.1f} s", flush=True)
        wrong += found
        if not found:  # another may not have come to all of its commands
            right.append(name)
    wrong += book.left_over(right)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
