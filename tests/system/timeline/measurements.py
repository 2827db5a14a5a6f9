# SPDX-License-Identifier: Apache-2.0
"""Times of a report, from the slices named `measurement` that tell what they are made of."""
import decimal
import fnmatch
import os
import re

from trace_file import Wrong

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/timeline.md")
DIGITS = {"ns": 3, "us": 6, "ms": 9}  # of a picosecond


def exceptions():
    """Patterns of metrics that are no time from something to something, from docs/timeline.md."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read().split("## Times without a measurement", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def collect(trace):
    """{metric: slices}"""
    found = {}
    for piece in trace.slices:
        if piece.name == "measurement":
            found.setdefault(trace.unit(piece), []).append(piece)
    return found


def value(pieces):
    """(picoseconds, how many they are to be divided by)"""
    statistics = {piece.args["statistic"] for piece in pieces}
    if len(statistics) != 1:
        raise Wrong(f"statistics {sorted(statistics)} of one metric")
    times = sorted(piece.end - piece.begin for piece in pieces)
    return {
        "sum": lambda: (sum(times), 1),
        "mean": lambda: (sum(times), sum(piece.args["count"] for piece in pieces)),
        "median": lambda: (times[len(times) // 2], 1),
        "least": lambda: (times[0], 1),
        "most": lambda: (times[-1], 1),
        "span": lambda: (max(p.end for p in pieces) - min(p.begin for p in pieces), 1),
    }[statistics.pop()]()


def printed(time, divisor, unit, decimals):
    """As a report prints it: rounded half up to that many decimals of the unit."""
    scaled = decimal.Decimal(time) * 10**decimals
    whole = int(scaled) * 2 + divisor * 10 ** DIGITS[unit]
    return decimal.Decimal(whole // (2 * divisor * 10 ** DIGITS[unit])).scaleb(-decimals)


def decimals_of(number):
    return max(0, -number.as_tuple().exponent)


def check(trace, report):
    """Compares every time of the report; returns how many there were."""
    measured = collect(trace)
    allowed = exceptions()
    times = {m["name"]: m for m in report["metrics"] if m["unit"] in DIGITS}
    for name, metric in times.items():
        reported = decimal.Decimal(metric["value"])
        if name not in measured:
            is_exception = any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)
            if reported != 0 and not is_exception:
                raise Wrong(f"{name}: no measurement tells of it")
            continue
        found = printed(*value(measured[name]), metric["unit"], decimals_of(reported))
        if found != reported:
            raise Wrong(f"{name}: the report has {reported}, the timeline {found}")
    for name in measured:
        if name not in times:
            raise Wrong(f"{name}: measured, but no time of the report")
    return len(measured)
