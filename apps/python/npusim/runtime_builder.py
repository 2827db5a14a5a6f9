# SPDX-License-Identifier: Apache-2.0
"""The binaries of the chip runtime."""

import dataclasses
import pathlib
import subprocess

from .platforms import RUNTIME, check_runtime, configuration_of
from .programs import host_library, program_path

_TARGETS = ("npudrv_counted", "scheduler", "executor")


@dataclasses.dataclass(frozen=True)
class RuntimeBinaries:
    """What `ChipWorker.init` takes.

    Attributes:
        host_path: the host's library, a `pathlib.Path`.
        aicpu_path: the scheduler, of the AICPUs.
        aicore_path: the executor, of the AI Cores.
        sim_context_path: the configuration of the machine: `str`.
    """

    host_path: pathlib.Path
    aicpu_path: pathlib.Path
    aicore_path: pathlib.Path
    sim_context_path: str


class RuntimeBuilder:
    """Finds the runtime's binaries for a platform, and builds them in a build folder.

    Args:
        platform: "a2a3", "a2a3sim", "a5", "a5sim", or a configuration as `Simulator` takes it.

    Raises:
        ValueError: there is no such platform.
    """

    def __init__(self, platform="a2a3"):
        self._platform = str(platform)
        self._config = configuration_of(platform)

    def __repr__(self):
        return f"<npusim.RuntimeBuilder {self._platform}>"

    @property
    def platform(self):
        """The platform as it was named: `str`."""
        return self._platform

    def list_runtimes(self):
        """The names of the runtimes that there are: a list of `str`."""
        return [RUNTIME]

    def get_binaries(self, name=RUNTIME, build=False):
        """The binaries of a runtime: `RuntimeBinaries`. All cards run the same ones.

        Args:
            name: of the runtime: "host_build_graph".
            build: compile what is out of date first; needs a build folder. A library that this
                process has loaded stays the one it has loaded.

        Raises:
            ValueError: there is no such runtime.
            FileNotFoundError: a binary is not there; to build, this is an installation, or there is
                no CMake.
            RuntimeError: they cannot be built; the line names the first error.
        """
        check_runtime(name)
        if build:
            _build()
        paths = [pathlib.Path(host_library())]
        for program in ("scheduler", "executor"):
            try:
                paths.append(pathlib.Path(program_path(program)))
            except ValueError:
                raise FileNotFoundError(f"runtime {name}: no {program} beside "
                                        f"{paths[0].parent}") from None
        return RuntimeBinaries(*paths, self._config)


def _build():
    folder = pathlib.Path(host_library()).resolve().parent.parent
    if not (folder / "CMakeCache.txt").is_file():
        raise FileNotFoundError(f"build: {folder} is an installation, and has no sources")
    done = subprocess.run(["cmake", "--build", str(folder), "--target", *_TARGETS],
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return
    lines = (done.stdout + done.stderr).splitlines()
    first = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")
    raise RuntimeError(f"build: {first.strip()}")
