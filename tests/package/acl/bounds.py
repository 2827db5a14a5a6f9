# SPDX-License-Identifier: Apache-2.0
"""bounds.py REPORT LIMIT: the kernels of a program were bounded by that, and the critical path leads
through them for as long as they ran, within 5 %."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
path = report["critical_path"]
ran = next(each["max_ps"] for each in report["durations"] if each["name"] == "kernel_block")
first = report["limits"][0]
print(first["text"])
assert first["name"] == sys.argv[2], report["limits"]
assert abs(path["kernels_ps"] - ran) <= 0.05 * ran, (path["kernels_ps"], ran)
assert sum(each["ps"] for each in path["kernels"]) == path["kernels_ps"]
assert sum(each["ps"] for each in path["parts"]) == path["total_ps"]
