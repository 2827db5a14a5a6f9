#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What npusim does on a terminal: in shells that run on a pseudo terminal.

usage: terminal_session.py NPUSIM bash|zsh|watch
"""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import sys
import tempfile
import termios
import time

GUARD = 300  # seconds; only against a session that hangs
KILL_LINE = "\x15"
TAKEN, GIVEN_BACK = "\x1b[?1049h", "\x1b[?1049l"
# Takes minutes if nobody ends it.
LONG = "npusim --config 910b2 run alloc_churn --set steps=10000000 --watch"


class Session:
    """A shell on a pseudo terminal; what is typed and what is shown."""

    def __init__(self, shell, environment):
        self.seen = ""
        process, self.terminal = pty.fork()
        if process == 0:
            os.execvpe(shell[0], shell, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def type(self, text):
        self.seen = ""
        os.write(self.terminal, text.encode())

    def await_text(self, *texts):
        """Until all of them have been shown, in any order."""
        end = time.monotonic() + GUARD
        while not all(text in self.seen for text in texts):
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {texts!r} in {self.seen!r}")
            more = os.read(self.terminal, 65536).decode(errors="replace").replace("\0", "")
            self.seen = re.sub("[^\b]\b", "", re.sub("\x1b\\[[0-9;]*[KJm]", "", self.seen + more))
        return self.seen


def shell_session(name, npusim):
    """The shell with completion, and npusim in its path."""
    folder = tempfile.mkdtemp()
    environment = {**os.environ, "TERM": "vt100", "ZDOTDIR": folder, "HISTFILE": "", "PS1": "$ ",
                   "PATH": os.path.dirname(os.path.abspath(npusim)) + ":" + os.environ["PATH"]}
    with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as file:
        file.write("autoload -Uz compinit; compinit -u -D; unsetopt beep\n")
    options = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-i"]}[name]
    session = Session([name, *options], environment)
    if name == "bash":
        session.type("bind 'set enable-bracketed-paste off'; bind 'set bell-style none'\n")
    session.type(f"source <(npusim completion {name}); echo rea''dy\n")
    session.await_text("ready")
    os.chdir(folder)
    return session


# What is typed, and how Tab and then "!" behind it make it look.
COMPLETIONS = {
    "npusim ru": "npusim run !",
    "npusim run dma_l": "npusim run dma_latency !",
    "npusim run dma_latency --set iter": "--set iterations=!",
    "npusim run dma_latency --set directions=h": "--set directions=h2d !",
    "npusim run dma_latency --set directions=d2h,d2d,h": "--set directions=d2h,d2d,h2d !",
    "npusim --config=950p": "npusim --config=950pr !",
    "npusim --config 950p": "npusim --config 950pr !",
    "npusim run 'dma_latency' --set iter": "--set iterations=!",
    "npusim completion z": "npusim completion zsh !",
    "npusim serve --pace=w": "npusim serve --pace=wall !",
}


def completion(name, npusim):
    session = shell_session(name, npusim)
    for typed, shown in COMPLETIONS.items():
        session.type(KILL_LINE + typed + "\t!")  # the shell answers Tab before it reads on
        session.await_text(shown)


def watch(npusim):
    session = shell_session("bash", npusim)
    session.type(LONG + " --report r.json\n")
    session.await_text(TAKEN, "busiest units", "Ctrl-C ends the run")
    session.type("\x1a")
    assert GIVEN_BACK in session.await_text("Stopped"), "Ctrl-Z keeps the screen"
    session.type("bg; npusim list --names; echo do''ne\n")
    assert TAKEN not in session.await_text("done"), "draws in the background"
    session.type("fg\n")
    session.await_text(TAKEN, "busiest units")
    session.type("\x03")
    session.await_text(GIVEN_BACK, "interrupted by SIGINT")
    session.type("echo co''de $?; grep outcome r.json\n")
    session.await_text("code 130", '"outcome": "interrupted"')
    session.type("TERM=dumb " + LONG + "; echo co''de $?\n")
    assert TAKEN not in session.await_text("cannot move its cursor", "code 2")


def main():
    npusim, what = sys.argv[1:]
    if what != "watch" and shutil.which(what) is None:
        print(f"NOT RUN: no {what}")
        return
    watch(npusim) if what == "watch" else completion(what, npusim)


if __name__ == "__main__":
    main()
