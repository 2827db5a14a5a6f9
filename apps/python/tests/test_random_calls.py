# SPDX-License-Identifier: Apache-2.0
"""Nothing that is called, however wrongly, ends the interpreter."""
import os
import pathlib
import subprocess
import sys

import pytest

TESTER = pathlib.Path(__file__).resolve().parent / "random_calls.py"
SEEDS = int(os.environ.get("NPUSIM_RANDOM_CALLS_SEEDS", "6"))


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_random_calls_leave_the_interpreter_whole(seed):
    done = subprocess.run([sys.executable, "-X", "faulthandler", TESTER, str(seed), "2000"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr[-4000:]}"
    assert done.stdout.split()[-1] == "whole"


@pytest.mark.parametrize("call", [
    "N.Card.close(None)", "N.Session.open(None, 0)", "N.HostMemory(None, 5)", "N.Event(None)",
    "N.Stream(None, True)", "N.Session.now.fget(None)", "N.HostRuntime.free(None, 0)",
    "N.Card.__new__(N.Card).close()", "N.Session.__new__(N.Session).report('x')",
    "N.Ticket.__new__(N.Ticket).done()", "N.Stream.__new__(N.Stream).close(1)",
    "N.HostMemory.__new__(N.HostMemory).bus", "memoryview(N.HostMemory.__new__(N.HostMemory))",
    "N.TaskGraph().__reduce_ex__(0)", "pickle.dumps(N.TaskGraph(), 1)",
    "N.TaskGraph.__new__(N.TaskGraph).tasks", "N.OperatorCall.__new__(N.OperatorCall).shape",
])
def test_a_method_without_an_object_is_an_error(script, call):
    assert script(f"""
import pickle
import npusim
N = npusim._npusim
try:
    {call}
except (TypeError, RuntimeError, BufferError):
    print("refused")
""") == "refused\n"
