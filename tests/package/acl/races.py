# SPDX-License-Identifier: Apache-2.0
# races.py OUTPUT REPORT: npusim has found races if and only if the random program has some, and
# each that it has found is one of them.
import json
import re
import sys

AFTER = 2  # calls behind the steps: aclrtSynchronizeDevice, aclFinalize

output = open(sys.argv[1]).read().split("\n")
pairs = {tuple(map(int, line.split()[1:])) for line in output if line.startswith("race ")}
steps = next(int(line.split()[1]) for line in output if line.startswith("steps "))
report = json.load(open(sys.argv[2]))
calls = int(next(m["value"] for m in report["metrics"] if m["name"] == "exec.p0.calls"))
found = [row[1] for table in report["tables"] if table["title"] == "races" for row in table["rows"]]
first = calls - AFTER - steps + 1
for text in found:
    one, other = (int(number) - first for number in re.findall(r"in call (\d+)", text))
    if (min(one, other), max(one, other)) not in pairs:
        sys.exit(f"steps {one} and {other} are ordered: {text}")
if bool(found) != bool(pairs):
    sys.exit(f"{len(pairs)} races, {len(found)} were found: {sorted(pairs)[:5]}")
print(f"{len(pairs)} races, {len(found)} found")
