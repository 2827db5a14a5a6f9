# SPDX-License-Identifier: Apache-2.0
"""A timeline as `npusim run --trace` writes it, with times as whole picoseconds."""
import decimal
import gzip
import json
import re


class Wrong(Exception):
    """What is not as it should be, in one line."""


def picoseconds(value, scale=6):
    """A JSON number of microseconds; exactly, or it is wrong."""
    if isinstance(value, bool) or not isinstance(value, (int, decimal.Decimal)):
        raise Wrong(f"{value!r} is no time")
    scaled = decimal.Decimal(value).scaleb(scale)
    if scaled != scaled.to_integral_value():
        raise Wrong(f"{value} is finer than a picosecond")
    return int(scaled)


class Slice:
    """An event of phase X."""
    __slots__ = ("name", "category", "begin", "end", "args", "cause", "pid", "tid")

    def __init__(self, event):
        self.name, self.category = event["name"], event["cat"]
        self.begin = picoseconds(event["ts"])
        self.end = self.begin + picoseconds(event["dur"])
        self.args = event["args"]
        self.cause = self.args.get("cause")
        self.pid, self.tid = event["pid"], event["tid"]

    def address(self, field):
        return int(self.args[field], 16)

    def __str__(self):
        return f"{self.name} at {self.begin} ps of thread {self.tid}"


class Trace:
    """Events in the order of the file."""

    def __init__(self, path):
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8") as file:
            self.document = json.load(file, parse_float=decimal.Decimal)
        self.events = self.document["traceEvents"]
        self.slices = [Slice(event) for event in self.events if event.get("ph") == "X"]
        self.threads = {}  # name by number
        self.processes = {}
        for event in self.events:
            if event.get("ph") != "M":
                continue
            if event["name"] == "thread_name":
                self.threads[event["tid"]] = event["args"]["name"]
            elif event["name"] == "process_name":
                self.processes[event["pid"]] = event["args"]["name"]

    def unit(self, piece):
        """The name of a slice's thread without the number of its lane."""
        return re.sub(r" \(\d+\)$", "", self.threads[piece.tid])

    def by_cause(self):
        """The slices of each cause."""
        found = {}
        for piece in self.slices:
            if piece.cause is not None and piece.name != "measurement":
                found.setdefault(piece.cause, []).append(piece)
        return found
