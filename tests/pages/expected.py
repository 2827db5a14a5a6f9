# SPDX-License-Identifier: Apache-2.0
"""What a page must show, from its JSON alone. Numbers are read as text."""
import json
import re


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_int=str, parse_float=str)


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(text(each) for each in value)
    return str(value)


def rows_of(entries, keys):
    return [[text(each.get(key)) for key in keys] for each in entries]


def bandwidth_prefixes(report):
    pattern = re.compile(r"^(.+?)\.\d+(?:B|KiB|MiB|GiB)\.(?:.*\.)?bandwidth_gb_per_s$")
    found = []
    for metric in report["metrics"]:
        match = pattern.match(metric["name"])
        if match and match[1] not in found:
            found.append(match[1])
    return found


def has_roofline(report):
    names = [each["name"] for each in report["metrics"]]
    computes = any(each["unit"] == "TFLOP/s" and each["name"].rsplit(".", 1)[0] + ".hbm_bytes" in names
                   for each in report["metrics"])
    kinds = {each["kind"] for each in report.get("ceilings", [])}
    return computes and {"hbm", "compute"} <= kinds


def is_breakdown(table):
    columns = table["columns"]
    return columns[:1] in (["part"], ["stage"]) and columns[1] in ("ns", "us", "ms") and len(table["rows"]) > 0


def step_plots(report):
    """Tables of a network or transformer with times of kernels, or of layers."""
    if report["workload"] not in ("network", "transformer"):
        return []
    return [each["title"] for each in report["tables"]
            if each["rows"] and {"exposed us", "card us", "us"} & set(each["columns"])]


def report_plots(report):
    """Titles of the plots, in order."""
    plots = step_plots(report)
    path = report.get("critical_path", {})
    utilisation = report.get("utilisation", {"units": []})["units"]
    if report.get("limits"):
        plots.append("Limits: where the time or the capacity went")
    if path.get("parts"):
        plots.append("Critical path: what the run waited for")
        if path.get("segments"):
            plots.append("Critical path over time")
    if "kernel_use" in report:
        plots.append("Pipes and memories in the time of the kernels")
    if any(int(each["count"]) > 0 for each in report.get("durations", [])):
        plots.append("Percentiles of durations")
    groups = [each["group"] for each in report.get("breakdowns", [])] + [
        table["title"] for table in report.get("tables", []) if is_breakdown(table)]
    plots += list(dict.fromkeys(groups))
    plots += bandwidth_prefixes(report)
    if has_roofline(report):
        plots.append("Achieved operations per second under the chip\u2019s ceilings")
    if any(unit["busy_percent"] for unit in utilisation):
        plots.append("Busy, in percent of each window")
        if any(int(b) > 0 for unit in utilisation for b in unit.get("bytes", [])):
            plots.append("Bytes moved over time, in GB/s")
    for memory in report.get("memory_map", []):
        if memory["moments"]:
            plots.append(memory["name"])
    return plots


def window_rows(utilisation, units, key):
    count = max(len(unit[key]) for unit in units)
    begin, width = int(utilisation["begin_ps"]), int(utilisation["window_ps"])
    return [[str(begin + i * width)] + [unit[key][i] if i < len(unit[key]) else "" for unit in units]
            for i in range(count)]


def utilisation_tables(report):
    tables = {}
    utilisation = report.get("utilisation")
    if not utilisation or not any(unit["busy_percent"] for unit in utilisation["units"]):
        return tables
    units = utilisation["units"]
    for kind in dict.fromkeys(unit["kind"] for unit in units):
        name = f"busy percent of {kind.replace('_', ' ')}, by begin of the window"
        tables[name] = window_rows(utilisation, [u for u in units if u["kind"] == kind], "busy_percent")
    moving = [u for u in units if any(int(b) > 0 for b in u.get("bytes", []))]
    if moving:
        tables["bytes in each window, by its begin"] = window_rows(utilisation, moving, "bytes")
    return tables


def bounds_tables(report):
    tables = {}
    if report.get("limits"):
        tables["limits"] = rows_of(report["limits"], ["subject", "name", "percent", "text"])
    path = report.get("critical_path", {})
    if path.get("parts"):
        parts = sorted(path["parts"], key=lambda part: -int(part["ps"]))
        rows = rows_of(parts, ["name", "ps", "count", "unit"]) + [["total", path["total_ps"], "", ""]]
        tables["parts of the critical path, in ps"] = rows
    if path.get("parts") and path.get("segments"):
        tables["segments of the critical path, in ps"] = rows_of(
            path["segments"], ["begin_ps", "end_ps", "name", "unit"])
    return tables


def use_tables(report):
    use = report.get("kernel_use")
    if use is None:
        return {}
    keys = ["name", "busy_ps", "busy_percent", "bytes", "gb_per_s", "most_gb_per_s", "percent"]
    return {f"what {use['subject']} used": rows_of(use["pipes"] + use["memories"], keys)}


def report_tables(report):
    """Caption to rows, as the page must have them; a row may be longer there by what it computes."""
    tables = {"Metrics": rows_of(report["metrics"], ["name", "value", "unit"])}
    durations = [each for each in report.get("durations", []) if int(each["count"]) > 0]
    if durations:
        tables["percentiles of durations, in ps"] = rows_of(
            durations, ["name", "count", "min_ps", "p50_ps", "p90_ps", "p99_ps", "max_ps", "total_ps"])
    for prefix in bandwidth_prefixes(report):
        metrics = [each for each in report["metrics"] if each["name"].startswith(prefix + ".")
                   and each["name"].endswith(".bandwidth_gb_per_s")]
        tables[f"bandwidth of {prefix}"] = rows_of(metrics, ["name", "value", "unit"])
    for memory in [each for each in report.get("memory_map", []) if each["moments"]]:
        tables[f"ranges of {memory['name']}, in bytes; the rest is free"] = [
            [moment["label"], moment["when_ps"], each["begin"], each["end"], each["state"]]
            for moment in memory["moments"] for each in moment["ranges"]]
    if report.get("programs"):
        tables["programs that ran on the card, by SHA-256"] = rows_of(report["programs"], ["name", "sha256"])
    for table in report.get("tables", []):
        tables[table["title"]] = [[text(cell) for cell in row] for row in table["rows"]]
    return {**tables, **bounds_tables(report), **use_tables(report), **utilisation_tables(report)}


def sweep_plots(sweep):
    varied = [axis for axis in sweep["axes"] if len(axis["values"]) > 1]
    plots = [f"Over {axis['name']}" for axis in varied] if sweep["metrics"] else []
    return plots + (["Objectives against each other"] if len(sweep["objectives"]) > 1 else [])


def sweep_tables(sweep):
    rows = []
    for point in sweep["points"]:
        values = [axis["values"][int(at)]["text"] for axis, at in zip(sweep["axes"], point["axes"])]
        pareto = {None: "", True: "yes", False: "no"}[point["pareto"]]
        rows.append([point["number"], *values, point["status"], pareto,
                     *map(text, point["values"])])
    return {"Points": rows}
