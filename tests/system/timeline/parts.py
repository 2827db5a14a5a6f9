# SPDX-License-Identifier: Apache-2.0
"""Breakdowns once more, from what the slices of a request tell, without those named `measurement`.
The rules are those of workloads/framework/milestones.hpp, queue_milestones.hpp and
workloads/programs/support/run_breakdown.hpp and fault_milestones.hpp."""
import decimal

from trace_file import Wrong

REGISTER_BAR, MEMORY_BAR = 0, 2
DMA_DOORBELL = 0x1010


def follow(moments, called, returned):
    """Parts between moments; one that is missing or early costs nothing, none ends late."""
    parts, last = {}, called
    for name, moment in moments:
        when = min(max(last if moment is None else moment, last), returned)
        parts[name] = when - last
        last = when
    parts["wait"] = returned - last
    return parts


def latest(pieces, *names):
    return max((piece.end for piece in pieces if piece.name in names), default=None)


def dma_moments(pieces, ring_on_card):
    begun = entry = issued = doorbell = None
    for piece in pieces:
        if piece.name != "mmio_write" or doorbell is not None:
            continue
        if piece.args["bar"] == MEMORY_BAR:
            begun, entry = max(piece.begin, begun or 0), max(piece.end, entry or 0)
        is_doorbell = piece.args["bar"] == REGISTER_BAR and piece.address("offset") == DMA_DOORBELL
        if is_doorbell and (entry is not None or not ring_on_card):
            issued, doorbell = piece.begin, piece.end
    return [("submit", begun if ring_on_card else None),
            ("entry_store", entry if ring_on_card else issued), ("doorbell", doorbell),
            ("engine_start", latest(pieces, "engine_start")),
            ("data", latest(pieces, "data_write")),
            ("completion", latest(pieces, "completion", "host_write"))]


def queue_moments(pieces, stores):
    submitted = written = decoded = done = visible = None
    for piece in pieces:
        if piece.name == "queue_doorbell":
            submitted = stores.get(piece.begin, submitted)
            written, decoded = piece.begin, piece.end
        elif piece.name == "queue_complete":
            done, visible = piece.begin, max(piece.end, visible or 0)
        elif piece.name == "host_write" and done is not None and piece.end > done:
            visible = piece.end
    return [("submit", submitted), ("doorbell", written), ("doorbell_decode", decoded),
            ("map", latest(pieces, "queue_map")), ("fetch", latest(pieces, "queue_fetch")),
            ("decode", latest(pieces, "queue_decode")),
            ("dispatch", latest(pieces, "queue_wait", "queue_dispatch")), ("work", done),
            ("completion", visible)]


class Requests:
    """Requests of a timeline, each from its submission to the end of its wait."""

    def __init__(self, trace, report):
        self.trace, self.by_cause = trace, trace.by_cause()
        self.ring_on_card = report["parameters"].get("ring", "device") == "device"
        self.by_pager = any(piece.name == "pager_take_fault" for piece in trace.slices)
        self.stores = {piece.end: piece.begin for piece in trace.slices
                       if piece.name == "mmio_write" and piece.args["bar"] == MEMORY_BAR}

    def call(self, cause, begin):
        """(called, returned): causes may be used again, so the submission begins at `begin`."""
        pieces = self.by_cause.get(cause, [])
        submits = [p for p in pieces if p.name == "dma_submit" and p.begin == begin]
        if not submits:
            raise Wrong(f"{cause}: no dma_submit at {begin} ps")
        waits = [p.end for p in pieces if p.name == "event_wait" and p.begin >= submits[0].end]
        if not waits:
            raise Wrong(f"{cause}: no event_wait behind its submission")
        return submits[0].begin, min(waits)

    def parts(self, cause, begin):
        called, returned = self.call(cause, begin)
        pieces = [p for p in self.by_cause[cause] if called <= p.begin and p.end <= returned]
        moments = (dma_moments(pieces, self.ring_on_card) if cause.startswith("dma")
                   else queue_moments(pieces, self.stores))
        return follow(moments, called, returned)

    def run_parts(self, cause, begin):
        """Of a task graph's run whose scheduler was launched as `cause`."""
        runs = [p for p in self.trace.slices if p.name == "driver_call" and p.begin == begin
                and p.args["call"] == "run"]
        if len(runs) != 1:
            raise Wrong(f"{len(runs)} driver calls 'run' at {begin} ps")
        called, returned = runs[0].begin, runs[0].end
        inside = [p for p in self.trace.slices if called <= p.begin and p.end <= returned]
        submits = [p for p in inside if p.name == "dma_submit"]
        scheduler = next(p for p in submits if p.cause == cause)
        executor = max((p for p in submits if p.end <= scheduler.begin), key=lambda p: p.end)
        blocks = [p.begin for p in inside if p.name == "kernel_block" and p.cause == cause]
        complete = max(latest([p for p in inside if p.cause == each.cause],
                              "queue_complete", "host_write") for each in (scheduler, executor))
        sent = min((p.begin for p in inside if p.name == "aicpu_dispatch"), default=complete)
        calls = [p for p in inside if p.name == "kernel_call"]
        return follow([("submit", scheduler.end), ("queue", min(blocks)), ("aicpu", sent),
                       ("dispatch", min((p.begin for p in calls), default=complete)),
                       ("cores", max((p.end for p in calls), default=complete)),
                       ("completion", complete)], called, returned)


def differences(moments, begin):
    parts, last = {}, begin
    for name, moment in moments:
        parts[name], last = moment - last, moment
    return parts


def fault_parts(trace, begin, by_pager):
    """Of a page fault whose first walk began at `begin`."""
    later = sorted((p for p in trace.slices if p.begin >= begin), key=lambda p: p.end)

    def first(name, after, moment="end"):
        return getattr(next(p for p in later if p.name == name and p.end > after), moment)

    def stage(name):
        on_track = (p for p in later if p.name == "stage" and trace.unit(p).split()[0] == "page_fault." + name)
        found = next(on_track, None)
        return found and found.begin

    fault = next(p for p in later if p.name == "page_fault")
    walked, replied = fault.begin, fault.end
    walks = any(p.name == "page_walk" and (p.begin, p.end) == (begin, walked) for p in later)
    if not walks and walked != begin:
        raise Wrong(f"no walk from {begin} ps to {walked} ps, where the fault is")
    taken = by_pager and next(p for p in later if p.name == "pager_take_fault")
    told = first("host_write", taken.end if by_pager else walked)
    reply = stage("reply")

    def stage_or(name, otherwise):
        found = stage(name)
        return found if found is not None and found < reply else otherwise

    table = stage_or("map", reply)
    invalidated = stage_or("invalidate", table)
    copied = stage_or("copy", invalidated)
    unmapped = stage_or("unmap", copied)
    interrupted = first("interrupt_handler", told)
    if by_pager:
        answered = next(p.begin for p in later if p.name == "pager_map_page")
        moments = [("walk", walked), ("signal", taken.begin), ("allocation", taken.end),
                   ("message", told), ("interrupt", interrupted), ("driver", unmapped),
                   ("unmapping", copied), ("copy", invalidated), ("invalidation", table),
                   ("adoption", reply),
                   ("reply", answered), ("table", replied)]
    else:
        moments = [("walk", walked), ("message", told), ("interrupt", interrupted),
                   ("driver", stage("allocate")), ("allocation", unmapped), ("unmapping", copied),
                   ("copy", invalidated),
                   ("invalidation", table), ("table", reply), ("reply", replied)]
    moments.append(("replay", first("page_walk", replied)))
    return differences(moments, begin)


def expect(name, found, reported):
    if found != reported:
        raise Wrong(f"{name}: {reported} ps in the report, {found} ps from the request's slices")


def check_latency(requests, measured, times, prefix):
    chosen = measured[prefix + ".latency_ns"][0]
    parts = requests.parts(chosen.cause, chosen.begin)
    for part, time in parts.items():
        expect(f"{prefix}.breakdown.{part}_ns", time, times[f"{prefix}.breakdown.{part}_ns"])
    expect(prefix + ".call_ns", sum(parts.values()), times[prefix + ".call_ns"])
    expect(prefix + ".latency_ns", sum(parts.values()) - parts["wait"], times[prefix + ".latency_ns"])
    all_of_them = [sum(own.values()) - own["wait"]
                   for own in (requests.parts(p.cause, p.begin)
                               for p in measured[prefix + ".latency_min_ns"])]
    expect(prefix + ".latency_min_ns", min(all_of_them), times[prefix + ".latency_min_ns"])
    expect(prefix + ".latency_max_ns", max(all_of_them), times[prefix + ".latency_max_ns"])


def check_run(requests, measured, times, prefix):
    chosen = measured[prefix + ".run_us"][0]
    parts = requests.run_parts(chosen.cause, chosen.begin)
    for part, time in parts.items():
        expect(f"{prefix}.breakdown.{part}_us", time, times[f"{prefix}.breakdown.{part}_us"])
    expect(prefix + ".run_us", sum(parts.values()), times[prefix + ".run_us"])


def check_fault(requests, measured, times, prefix):
    parts = fault_parts(requests.trace, measured[prefix + ".latency_us"][0].begin, requests.by_pager)
    for part, time in parts.items():
        expect(f"{prefix}.breakdown.{part}_us", time, times[f"{prefix}.breakdown.{part}_us"])
    expect(prefix + ".latency_us", sum(parts.values()), times[prefix + ".latency_us"])


def check(trace, report, measured):
    """Compares every breakdown of the report; returns how many there were."""
    scale = {"ns": 3, "us": 6, "ms": 9}
    times = {m["name"]: int(decimal.Decimal(m["value"]).scaleb(scale[m["unit"]]))
             for m in report["metrics"] if m["unit"] in scale}
    requests = Requests(trace, report)
    prefixes = {name.split(".breakdown.")[0] for name in times if ".breakdown." in name}
    for prefix in sorted(prefixes):
        look = (check_latency if prefix + ".latency_ns" in times
                else check_fault if prefix + ".latency_us" in times else check_run)
        look(requests, measured, times, prefix)
    return len(prefixes)
