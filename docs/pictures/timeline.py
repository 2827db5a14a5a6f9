#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws some units of a timeline (npusim run --trace) as SVG, for the README.

usage: timeline.py TRACE.json OUT.svg MEASUREMENT UNIT...

MEASUREMENT is a figure of the workload; the picture is of its time.
"""
import json
import sys

LABEL, WIDTH, ROW, BAR = 120, 760, 22, 14
COLOURS = {"gm_to_l1": "#0072b2", "l1_to_l0a": "#56b4e9", "l1_to_l0b": "#009e73", "mmad": "#e69f00",
           "fixpipe_to_gm": "#cc79a7", "kernel_call": "#999999"}


def spans(events, unit):
    """What the unit did: (name, begin, end) in us, of all rows that it needs in the timeline."""
    rows = {(e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name"
            and e["args"]["name"].split(" (")[0].split(" 0")[0] == unit}
    return [(e["name"], e["ts"], e["ts"] + e["dur"]) for e in events
            if e.get("ph") == "X" and (e["pid"], e["tid"]) in rows]


def main():
    trace, out, measurement, *units = sys.argv[1:]
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    _, begin, end = spans(events, measurement)[0]
    height = ROW * (len(units) + 2)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH}" height="{height}" '
             'font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="#ffffff"/>']
    place = lambda time: LABEL + (min(max(time, begin), end) - begin) / (end - begin) * WIDTH
    seen = []
    for row, unit in enumerate(units):
        top = ROW * row + 4
        lines.append(f'<text x="4" y="{top + 12}">{unit}</text>')
        for name, first, last in sorted(spans(events, unit), key=lambda span: span[1]):
            if last < begin or first > end or name not in COLOURS:
                continue
            if name not in seen:
                seen.append(name)
            lines.append(f'<rect x="{place(first):.1f}" y="{top}" height="{BAR}" '
                         f'width="{max(place(last) - place(first), 0.5):.1f}" '
                         f'fill="{COLOURS[name]}" stroke="#ffffff" stroke-width="0.3"/>')
    bottom = ROW * len(units) + 4
    for tick in range(int(end - begin) + 1):
        x = place(begin + tick)
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}" stroke="#dddddd"/>')
        lines.append(f'<text x="{x:.1f}" y="{bottom + 12}" text-anchor="middle">{tick} us</text>')
    for i, name in enumerate(seen):
        x = LABEL + 130 * i
        lines.append(f'<rect x="{x}" y="{bottom + 20}" width="10" height="10" '
                     f'fill="{COLOURS[name]}"/><text x="{x + 14}" y="{bottom + 29}">{name}</text>')
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["</svg>"]) + "\n")


main()
