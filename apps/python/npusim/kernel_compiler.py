# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels and the host's functions of callables from source files."""

import os
import pathlib

from . import _npusim
from .operator_call import cache_folder
from .platforms import check_runtime, configuration_of

_CORES = ("aic", "aiv", "mix")


class KernelCompiler:
    """Compiles source files for a platform.

    They are compiled as operators are: with the same compiler, once for all processes, and kept in
    the same cache ($NPUSIM_JIT_CACHE_DIR). A source is known by what the preprocessor makes of it: one that is changed, or includes a header
    that is, is compiled anew. It takes wall time and no simulated time.

    Args:
        platform: "a2a3", "a2a3sim", "a5", "a5sim", or a configuration as `Simulator` takes it.

    Raises:
        ValueError: there is no such platform.
    """

    def __init__(self, platform="a2a3"):
        configuration_of(platform)
        self._platform = str(platform)
        self._last = {}

    def __repr__(self):
        return f"<npusim.KernelCompiler {self._platform}>"

    @property
    def platform(self):
        """The platform as it was named: `str`."""
        return self._platform

    def compile_incore(self, source_path, core_type="aiv", extra_include_dirs=None):
        """A kernel: `bytes` of its object, as `CoreCallable.build` takes it.

        The source includes ``npu/aicore/kernel.hpp`` and ends with ``NPU_KERNEL(function, words)``
        (docs/guide/kernels-and-graphs.md).

        Args:
            source_path: the C++ file.
            core_type: "aic", "aiv", or "mix" for both.
            extra_include_dirs: folders for its includes, before npusim's own.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: another type of core; the object is no kernel.
            Error: `ErrorCode.INVALID_ARGUMENT`, the compiler refuses: `context` is "FILE:LINE: reason";
                `ErrorCode.NOT_FOUND`, no compiler, or no headers; `ErrorCode.TIMEOUT`.
        """
        if core_type not in _CORES:
            raise ValueError(f"core_type: found '{core_type}'; allowed: {', '.join(_CORES)}")
        binary = self._compile(source_path, core_type, extra_include_dirs)
        if b"npu_aicore_main" not in binary:
            raise ValueError(f"{source_path} makes no kernel: it has no NPU_KERNEL")
        return binary

    def compile_orchestration(self, runtime_name, source_path, extra_include_dirs=None):
        """A function of the host's that adds the tasks of a run: `bytes`.

        They are its object, as `ChipCallable.build` takes it. The source includes ``npu/driver/runtime.h``, and its function is ``extern "C"``.

        Args:
            runtime_name: "host_build_graph".
            source_path: the C++ file.
            extra_include_dirs: folders for its includes, before npusim's own.

        Raises:
            ValueError: there is no such runtime.
            FileNotFoundError: there is no such file.
            Error: as of `compile_incore()`.
        """
        check_runtime(runtime_name)
        return self._compile(source_path, "host", extra_include_dirs)

    def last_compilation(self):
        """What there is to say of the last call: a `dict`.

        origin: "disk" or "compiled"; warnings: one line each; includes: all folders for -I.
        """
        return dict(self._last)

    def _compile(self, source_path, core, extra_include_dirs):
        source = pathlib.Path(source_path).absolute()
        if not source.is_file():
            raise FileNotFoundError(f"no source file {source_path}")
        if isinstance(extra_include_dirs, (str, os.PathLike)):
            raise TypeError("extra_include_dirs: found one path; allowed: a list of them")
        folders = [os.path.abspath(each) for each in extra_include_dirs or []]
        made = _npusim.compile_source(str(source), core, folders, cache_folder())
        binary = made.pop("binary")
        self._last = made
        return binary
