# SPDX-License-Identifier: Apache-2.0
"""A case of a scene test in a process of its own, because a process has one machine in its life.

The child finds modules where its parent does. It reads what to run from its input as JSON, and writes
how it ended to the descriptor that is its argument.
"""

import importlib.util
import inspect
import json
import os
import subprocess
import sys
import traceback

_CHILD = ("import json, sys; wanted = json.load(sys.stdin); sys.path[:] = wanted['path']; "
          "from npusim.scene_process import run_here; run_here(wanted)")


def run_apart(cls, case, platform, request, record_property):
    """Of pytest's process: starts the child, and says what it says."""
    import pytest  # pylint: disable=import-outside-toplevel
    if platform not in case.get("platforms", [platform]):
        pytest.skip(f"the case is for {', '.join(case['platforms'])}")
    if case.get("manual") and not request.config.getoption("npusim_manual", default=False):
        pytest.skip("a manual case: --npusim-manual runs it")
    wanted = {"file": inspect.getfile(cls), "module": cls.__module__, "class": cls.__qualname__,
              "case": case["name"], "platform": platform, "path": sys.path}
    outcome, text, took = _start(wanted)
    if outcome == "skipped":
        pytest.skip(text)
    if outcome != "passed":
        pytest.fail(f"{cls.__name__}[{case['name']}] on {platform}: {text}", pytrace=False)
    record_property("simulated_ps", took)


def _start(wanted):
    reader, writer = os.pipe()
    with open(reader, encoding="utf-8") as answer:
        try:
            flags = ["-B"] if sys.dont_write_bytecode else []
            done = subprocess.run([sys.executable, *flags, "-c", _CHILD, str(writer)],
                                  input=json.dumps(wanted), text=True, pass_fds=[writer],
                                  check=False)
        finally:
            os.close(writer)
        text = answer.read()
    if text:
        return json.loads(text)
    how = f"by signal {-done.returncode}" if done.returncode < 0 else f"with {done.returncode}"
    return "failed", f"its process has ended {how}, without a result", 0


def run_here(wanted):
    """Of the child: runs the case, and tells."""
    answer = int(sys.argv[1])
    try:
        outcome = ("passed", "", _run(wanted))
    except BaseException as error:  # pylint: disable=broad-except; whatever it is, it is told
        outcome = _told(error)
    os.write(answer, json.dumps(outcome).encode())


def _run(wanted):
    from .scene import _cases  # pylint: disable=import-outside-toplevel
    from .scene_run import run_case  # pylint: disable=import-outside-toplevel
    spec = importlib.util.spec_from_file_location(wanted["module"], wanted["file"])
    module = importlib.util.module_from_spec(spec)
    sys.modules[wanted["module"]] = module
    spec.loader.exec_module(module)
    cls = module
    for part in wanted["class"].split("."):
        cls = getattr(cls, part)
    case = next(each for each in _cases(cls) if each["name"] == wanted["case"])
    return run_case(cls, case, wanted["platform"])


def _told(error):
    """What has ended the case, on one line; code of the test's own is shown with its lines."""
    from .errors import Error  # pylint: disable=import-outside-toplevel
    from .scene_run import SceneMismatch  # pylint: disable=import-outside-toplevel
    if type(error).__name__ == "Skipped":  # pytest's, of the case's own code
        return "skipped", str(error), 0
    if isinstance(error, (SceneMismatch, Error)):
        return "failed", str(error), 0
    traceback.print_exception(error)
    lines = str(error).splitlines() or [""]
    return "failed", f"{type(error).__name__}: {lines[0]}", 0
