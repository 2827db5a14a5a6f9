# SPDX-License-Identifier: Apache-2.0
"""npusim.scene: tests of callables, which pytest finds and runs.

    @scene_test(level=2)
    class TestScale(SceneTestCase):
        CALLABLE = {...}
        CASES = [...]
        def generate_args(self, params): ...
        def compute_golden(self, args, params): ...

docs/python.md says what is in them.
"""

import inspect
import pathlib
import sys

from .callable import ArgDirection
from .chip_worker import ChipCallConfig
from .platforms import RUNTIME, check_runtime
from .scene_arguments import Scalar, TaskArgsBuilder, Tensor, make_tensor_arg

__all__ = ["CallableNamespace", "Scalar", "SceneTestCase", "TaskArgsBuilder", "Tensor",
           "make_tensor_arg", "scene_test"]

DEFAULT_PLATFORM = "a2a3sim"
_CASE_KEYS = ("name", "platforms", "config", "params", "manual")
_ORCHESTRATION_KEYS = ("source", "function_name", "signature")
_INCORE_KEYS = ("func_id", "source", "core_type", "signature")
_HOST_KEYS = ("device_count", "num_sub_workers")  # of the config of level 3


class CallableNamespace:
    """The callables of a level-3 scene test by their names, as its orchestration gets them.

    ``callables.NAME`` is a `ChipCallable`, or the number of a function of the host's;
    ``callables.NAME_sig`` the signature of the former.

    Args:
        entries: a `dict` by name.
    """

    def __init__(self, entries):
        self._entries = dict(entries)
        self._kept = []

    def __getattr__(self, name):
        try:
            return self.__dict__["_entries"][name]
        except KeyError:
            raise AttributeError(f"no callable '{name}'") from None

    def keep(self, *things):
        """Holds things until the run is over, such as arrays that tensors point at.

        Args:
            things: any; the only one is returned, several as a tuple.
        """
        self._kept.extend(things)
        return things[0] if len(things) == 1 else things


class SceneTestCase:
    """What scene tests derive from; pytest runs `test_run` for each case and platform.

    Attributes:
        CALLABLE: what is compiled and run: see docs/python.md.
        CASES: a list of `dict`: name, and if wanted platforms, config, params, manual. None: one case.
        RTOL, ATOL: how far elements may be from the golden ones: relative, absolute.
    """

    CALLABLE = {}
    CASES = None
    RTOL = 1e-5
    ATOL = 1e-8
    _scene = None

    def generate_args(self, params):
        """The arguments of a run: a `TaskArgsBuilder`.

        Args:
            params: of the case.
        """
        raise NotImplementedError(f"{type(self).__name__} has no generate_args()")

    def compute_golden(self, args, params):
        """Changes arrays to what they are after a run.

        Args:
            args: a `TaskArgsBuilder` with arrays of its own.
            params: of the case.
        """
        raise NotImplementedError(f"{type(self).__name__} has no compute_golden()")

    def pytest_generate_tests(self, metafunc):
        """Makes a test of each case and platform.

        Args:
            metafunc: pytest's.
        """
        if "scene_case" not in metafunc.fixturenames:
            return
        chosen = _option(metafunc.config, "npusim_platform") or _option(metafunc.config, "platform")
        pairs = [(case, platform) for case in _cases(type(self))
                 for platform in _platforms(case, chosen)]
        metafunc.parametrize("scene_case", pairs,
                             ids=[f"{case['name']}-{platform}" for case, platform in pairs])

    def test_run(self, scene_case, request, record_property):
        """Runs a case in a process of its own, and compares.

        Args:
            scene_case: the case and the platform.
            request: pytest's.
            record_property: pytest's; it is told simulated_ps.
        """
        from .scene_process import run_apart  # pylint: disable=import-outside-toplevel
        run_apart(type(self), *scene_case, request, record_property)

    @staticmethod
    def run_module(name):
        """Runs the tests of a file that is a program, and ends it: ``run_module(__name__)``.

        Args:
            name: of the module. Its arguments are pytest's, and ``-p PLATFORM``.
        """
        import pytest  # pylint: disable=import-outside-toplevel
        given = sys.argv[1:]
        if "-p" in given[:-1]:
            given[given.index("-p")] = "--npusim-platform"
        sys.exit(pytest.main([sys.modules[name].__file__, *given]))


def scene_test(level, runtime=RUNTIME):
    """Makes a class derived from `SceneTestCase` a scene test, whatever its name.

    Args:
        level: 2, one card; 3, several.
        runtime: "host_build_graph".

    Raises:
        TypeError: another class.
        ValueError: another level or runtime; CALLABLE or CASES cannot be.
    """
    if level not in (2, 3):
        raise ValueError(f"scene_test: level: found {level}; allowed: 2, 3")
    check_runtime(runtime)

    def decorate(cls):
        if not inspect.isclass(cls) or not issubclass(cls, SceneTestCase):
            raise TypeError(f"scene_test: {getattr(cls, '__name__', cls)} is no SceneTestCase")
        cls._scene = level
        try:
            _check(cls, level)
        except ValueError as error:
            raise ValueError(f"{cls.__name__}: {error}") from None
        return cls
    return decorate


def source_of(cls, name):
    """The path of a source file, which is named from the test's folder: `pathlib.Path`."""
    return pathlib.Path(inspect.getfile(cls)).resolve().parent / name


def _cases(cls):
    if cls._scene is None:
        raise ValueError(f"{cls.__name__}: @scene_test(level=...) is missing")
    return [{"name": "default", **case} for case in cls.CASES or [{}]]


def _platforms(case, chosen):
    """What a case runs on; the chosen one alone, which may be skipped later."""
    return [chosen] if chosen else case.get("platforms", [DEFAULT_PLATFORM])


def _option(config, name):
    return config.getoption(name, default=None)


def _keys(what, found, allowed, needed=()):
    if not isinstance(found, dict):
        raise ValueError(f"{what}: found a {type(found).__name__}; allowed: a dict")
    wrong = [key for key in found if key not in allowed]
    if wrong:
        raise ValueError(f"{what}: found '{wrong[0]}'; allowed: {', '.join(allowed)}")
    missing = [key for key in needed if key not in found]
    if missing:
        raise ValueError(f"{what}: '{missing[0]}' is missing")


def _check(cls, level):
    if level == 2:
        _check_callable("CALLABLE", cls.CALLABLE, ("orchestration", "incores"))
    else:
        _keys("CALLABLE", cls.CALLABLE, ("orchestration", "callables"), ("orchestration",))
        if not callable(cls.CALLABLE["orchestration"]):
            raise ValueError("CALLABLE: orchestration: level 3 has a function of Python's there")
        for i, each in enumerate(cls.CALLABLE.get("callables", ())):
            what = f"callables[{i}]"
            if isinstance(each, dict) and "callable" in each:
                _keys(what, each, ("name", "callable"), ("name", "callable"))
            else:
                _check_callable(what, each, ("name", "orchestration", "incores"), ("name",))
    config = ChipCallConfig.__slots__ + (_HOST_KEYS if level == 3 else ())
    names = []
    for i, case in enumerate(cls.CASES or ()):
        _keys(f"CASES[{i}]", case, _CASE_KEYS, ("name",))
        _keys(f"case '{case['name']}': config", case.get("config", {}), config)
        if case["name"] in names:
            raise ValueError(f"case '{case['name']}': the name is there already")
        names.append(case["name"])


def _check_callable(what, found, allowed, needed=()):
    _keys(what, found, allowed, needed + ("orchestration",))
    _keys(f"{what}: orchestration", found["orchestration"], _ORCHESTRATION_KEYS, _ORCHESTRATION_KEYS)
    for i, incore in enumerate(found.get("incores", ())):
        _keys(f"{what}: incores[{i}]", incore, _INCORE_KEYS, ("func_id", "source"))
    for each in found["orchestration"]["signature"]:
        ArgDirection(each)
