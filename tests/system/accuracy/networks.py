#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""networks.py NPUSIM [--all | --write [FOLDER]]: docs/accuracy/networks.md against the program.

Without an option the page must follow from docs/accuracy/networks.csv, that file must have each row of
docs/accuracy/measurements/networks.csv, and npusim must say of quick rows what it says. --all compares every
row, which takes most of an hour. --write makes file and page anew; runs that FOLDER has from before are not
made again. Exit code 1: something differs.
"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MEASURED = ROOT / "docs/accuracy/measurements/networks.csv"
FILE = ROOT / "docs/accuracy/networks.csv"
PAGE = ROOT / "docs/accuracy/networks.md"
COLUMNS = ["id", "configuration", "predicted", "error_percent", "bound", "left_out", "reason"]
QUICK_US = 20  # kernels; one alone takes a second or less of this program's time
KINDS = ["kernels", "operations of several cards", "steps"]


def csv_text(columns, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def measured_rows():
    """By the name that npusim validate gives them: that of their line."""
    with open(MEASURED, newline="") as file:
        reader = csv.DictReader(file)
        return {f"row-{reader.line_num}": row for row in reader}


def kind_of(row):
    if row["metric"] == "kernel":
        return KINDS[0]
    words = row["model_op"].lower().replace("_", "").replace("-", "")
    several = any(name in words for name in ("allgather", "allreduce", "reducescatter", "moe "))
    return KINDS[1] if several else KINDS[2]


def is_quick(row):
    return (row["metric"] == "kernel" and float(row["value"]) <= QUICK_US) or "K1 " in row["shape_batch_context"]


def table_of(report, title):
    table = next((each for each in report["tables"] if each["title"] == title), None)
    if table is None:
        return []
    return [dict(zip(table["columns"], cells)) for cells in table["rows"]]


def validated(npusim, rows, runs=()):
    """What npusim says of these rows, as rows of the file; all others are empty lines to keep ids."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "networks.csv"
        lines = MEASURED.read_text().split("\n")
        kept = [lines[0]] + [line if f"row-{i}" in rows else "" for i, line in enumerate(lines[1:], 2)]
        path.write_text("\n".join(kept) + "\n")
        report = pathlib.Path(folder) / "report.json"
        command = [str(pathlib.Path(npusim).resolve()), "validate", str(path), "--report", str(report)]
        command += [f"--output={pathlib.Path(each).resolve()}" for each in runs]
        # Configurations are looked up from the working directory first.
        if subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("networks.py: npusim validate could not run every row that it has a run for")
        return rows_of(json.loads(report.read_text()))


def rows_of(report):
    rows = []
    for row in table_of(report, "rows, the farthest first"):
        rows.append({"id": row["id"], "configuration": row["configuration"], "predicted": row["predicted"],
                     "error_percent": row["error %"], "bound": row["bound by"],
                     "left_out": row["left out"], "reason": ""})
    for row in table_of(report, "not run"):
        rows.append({"id": row["id"], "configuration": "", "predicted": "", "error_percent": "", "bound": "",
                     "left_out": "", "reason": row["reason"]})
    return sorted(rows, key=lambda row: int(row["id"].split("-")[1]))


def cell(text):
    return text.replace("|", "/")


def kinds_table(measured, rows):
    text = "| rows | run | mean error % | median % | bias % | not run |\n|---|---|---|---|---|---|\n"
    for kind in [*KINDS, "all"]:
        of_kind = [row for row in rows if kind == "all" or kind_of(measured[row["id"]]) == kind]
        errors = [float(row["error_percent"]) for row in of_kind if row["predicted"]]
        sizes = sorted(abs(error) for error in errors)
        count = len(sizes)
        means = ["", "", ""]
        if count:
            middle = (sizes[(count - 1) // 2] + sizes[count // 2]) / 2
            means = [f"{sum(sizes) / count:.1f}", f"{middle:.1f}", f"{sum(errors) / count:+.1f}"]
        text += f"| {kind} | {count} | {' | '.join(means)} | {len(of_kind) - count} |\n"
    return text


def run_table(measured, rows):
    text = "| what | rows, batch, context | metric | published | npusim | error % | use | not in the run |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    ran = [row for row in rows if row["predicted"]]
    for row in sorted(ran, key=lambda row: -abs(float(row["error_percent"]))):
        known = measured[row["id"]]
        cells = [f"{known['sku']}: {known['model_op']}", known["shape_batch_context"], known["metric"],
                 f"{known['value']} {known['unit']}", f"{float(row['predicted']):.2f}",
                 f"{float(row['error_percent']):+.1f}", known["use"], row["left_out"]]
        text += "| " + " | ".join(cell(each) for each in cells) + " |\n"
    return text


def reasons_table(measured, rows):
    by_reason = {}
    for row in rows:
        if not row["reason"]:
            continue
        known = measured[row["id"]]
        by_reason.setdefault(row["reason"], []).append(
            f"{known['sku']}: {known['model_op']}, {known['shape_batch_context']}, {known['metric']}")
    text = "| reason | rows | which |\n|---|---|---|\n"
    for reason, which in sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0])):
        text += f"| {cell(reason)} | {len(which)} | {cell('; '.join(which))} |\n"
    return text


def with_tables(page, measured, rows):
    for name, make in (("kinds", kinds_table), ("rows", run_table), ("not_run", reasons_table)):
        begin = page.index(f"<!-- table {name} -->\n") + len(f"<!-- table {name} -->\n")
        end = page.index("<!-- end -->", begin)
        page = page[:begin] + make(measured, rows) + page[end:]
    return page


def differences(listed, found):
    by_id = {row["id"]: row for row in listed}
    return [f"{row['id']}: npusim says {row}, docs/accuracy/networks.csv {by_id.get(row['id'])}"
            for row in found if by_id.get(row["id"]) != row]


def main():
    if len(sys.argv) < 2 or sys.argv[2:3] not in ([], ["--all"], ["--write"]) or len(sys.argv) > 4:
        sys.exit(__doc__)
    npusim, option, runs = sys.argv[1], sys.argv[2:3], sys.argv[3:4]
    measured = measured_rows()
    if option == ["--write"]:
        rows = validated(npusim, measured, runs)
        FILE.write_text(csv_text(COLUMNS, rows))
        PAGE.write_text(with_tables(PAGE.read_text(), measured, rows))
        return
    with open(FILE, newline="") as file:
        listed = list(csv.DictReader(file))
    wrong = []
    if [row["id"] for row in listed] != list(measured):
        wrong.append("docs/accuracy/networks.csv has not the rows of docs/accuracy/measurements/networks.csv")
    elif with_tables(PAGE.read_text(), measured, listed) != PAGE.read_text():
        wrong.append("docs/accuracy/networks.md does not follow from docs/accuracy/networks.csv")
    asked = {name for name, row in measured.items() if option or is_quick(row)}
    found = [row for row in validated(npusim, asked) if row["id"] in asked]
    if len(found) != len(asked):
        wrong.append(f"npusim says something of {len(found)} of {len(asked)} rows")
    wrong += differences(listed, found)
    if wrong:
        sys.exit("\n".join([*wrong, "tests/system/accuracy/networks.py NPUSIM --write makes file and page anew"]))


if __name__ == "__main__":
    main()
