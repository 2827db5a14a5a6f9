# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest that finds scene tests (npusim.scene). pytest loads it wherever npusim is
found, so it does nothing but look at classes, and imports nothing of npusim."""

import inspect

import pytest

_SECTION = "simulated time of scene tests"


def pytest_addoption(parser):
    """The options."""
    group = parser.getgroup("npusim")
    group.addoption("--npusim-platform", metavar="PLATFORM", default=None,
                    help="scene tests run on it alone: a2a3sim, a5sim, a configuration")
    group.addoption("--npusim-manual", action="store_true", default=False,
                    help="manual cases of scene tests run, too")


def pytest_pycollect_makeitem(collector, name, obj):
    """A class with @scene_test is one of tests, whatever its name."""
    if inspect.isclass(obj) and obj.__dict__.get("_scene") is not None:
        return pytest.Class.from_parent(collector, name=name)
    return None


def pytest_terminal_summary(terminalreporter, config):
    """With -v, what each one took."""
    if config.option.verbose < 1:
        return
    rows = [(dict(report.user_properties)["simulated_ps"], report.nodeid)
            for report in terminalreporter.getreports("passed")
            if "simulated_ps" in dict(report.user_properties)]
    if rows:
        terminalreporter.section(_SECTION)
    for took, node in rows:
        terminalreporter.write_line(f"{took / 1e6:12.3f} us  {node}")
