# SPDX-License-Identifier: Apache-2.0
"""That a timeline is what the Trace Event Format asks for, and what docs/timeline.md says of it."""
import decimal

from trace_file import Wrong, picoseconds

FIELDS = {
    "X": {"pid": int, "tid": int, "ts": "time", "dur": "time", "name": str, "cat": str, "args": dict},
    "C": {"pid": int, "ts": "time", "name": str, "args": dict},
    "M": {"pid": int, "name": str, "args": dict},
    "s": {"pid": int, "tid": int, "ts": "time", "name": str, "cat": str, "id": str},
    "t": {"pid": int, "tid": int, "ts": "time", "name": str, "cat": str, "id": str},
    "f": {"pid": int, "tid": int, "ts": "time", "name": str, "cat": str, "id": str, "bp": str},
}
METADATA = {"process_name": "name", "process_sort_index": "sort_index", "thread_name": "name",
            "thread_sort_index": "sort_index"}
IDENTITY = ("npusim", "workload", "config", "config_sha256", "seed", "outcome", "simulated_ps")


def check_fields(event):
    fields = FIELDS.get(event.get("ph"))
    if fields is None:
        raise Wrong(f"{event}: no phase of a timeline")
    for name, kind in fields.items():
        if name not in event:
            raise Wrong(f"{event}: no '{name}'")
        if kind == "time":
            if picoseconds(event[name]) < 0:
                raise Wrong(f"{event}: '{name}' is negative")
        elif not isinstance(event[name], kind) or isinstance(event[name], bool):
            raise Wrong(f"{event}: '{name}' is no {kind.__name__}")
    if event["ph"] == "M" and METADATA.get(event["name"]) not in event["args"]:
        raise Wrong(f"{event}: no metadata of a timeline")
    if event["ph"] == "C" and not all(isinstance(value, (int, decimal.Decimal))
                                      for value in event["args"].values()):
        raise Wrong(f"{event}: a counter's value is no number")


def check_names(trace):
    for event in trace.events:
        if event["pid"] not in trace.processes:
            raise Wrong(f"{event}: its process has no name")
        if "tid" in event and event["ph"] != "M" and event["tid"] not in trace.threads:
            raise Wrong(f"{event}: its thread has no name")
    process_of = {}
    for piece in trace.slices:
        if process_of.setdefault(piece.tid, piece.pid) != piece.pid:
            raise Wrong(f"{piece}: its thread is part of two processes")


def check_nesting(trace):
    """Slices of a thread lie in each other or apart."""
    threads = {}
    for piece in trace.slices:
        threads.setdefault(piece.tid, []).append(piece)
    for pieces in threads.values():
        pieces.sort(key=lambda piece: (piece.begin, -piece.end))
        around = []
        for piece in pieces:
            while around and around[-1].end <= piece.begin:
                around.pop()
            if around and piece.end > around[-1].end:
                raise Wrong(f"{piece} and {around[-1]} overlap")
            if piece.end > piece.begin:
                around.append(piece)
    return threads


def check_arrows(trace, threads):
    """s before t and f of an id, once, each within a slice."""
    ends = {}
    for event in trace.events:
        if event["ph"] in "stf":
            ends.setdefault((event["cat"], event["id"]), []).append(event)
    for arrow in ends.values():
        arrow.sort(key=lambda event: picoseconds(event["ts"]))
        begun = False
        for event in arrow:
            if event["ph"] == "f" and event["bp"] != "e":
                raise Wrong(f"{event}: bound to the slice behind it")
            if event["ph"] != "s" and not begun:
                raise Wrong(f"{event}: an arrow that has not begun, or has ended")
            if event["ph"] == "s" and event is not arrow[0]:
                raise Wrong(f"{event}: an arrow that has begun before")
            begun = event["ph"] == "s" or (begun and event["ph"] == "t")
    check_bound(ends, threads)


def check_bound(ends, threads):
    spans = {tid: iter(sorted((p.begin, p.end) for p in pieces if p.end > p.begin))
             for tid, pieces in threads.items()}
    times = {}
    for arrow in ends.values():
        for event in arrow:
            times.setdefault(event["tid"], []).append((picoseconds(event["ts"]), event))
    for tid, points in times.items():
        open_until = -1
        pending = next(spans.get(tid, iter(())), None)
        for when, event in sorted(points, key=lambda point: point[0]):
            while pending is not None and pending[0] <= when:
                open_until = max(open_until, pending[1])
                pending = next(spans[tid], None)
            if when >= open_until:
                raise Wrong(f"{event}: no slice of its thread there")


def check(trace):
    for event in trace.events:
        check_fields(event)
    check_names(trace)
    check_arrows(trace, check_nesting(trace))
    about = trace.document.get("otherData", {})
    for name in IDENTITY:
        if not isinstance(about.get(name), str) or not about[name]:
            raise Wrong(f"otherData has no '{name}'")
