# SPDX-License-Identifier: Apache-2.0
"""Where the files of the installation are: firmware, kernels and the driver's library."""

import pathlib

from . import _npusim

_SUFFIXES = (".npu", ".so")  # of the card's cores, of the host


def _mapped(name):
    """The file of a library that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")
            if path[1] and pathlib.PurePosixPath("/" + path[2]).name.startswith(name):
                return pathlib.Path("/" + path[2])
    raise FileNotFoundError(f"{name} is not loaded")


def host_library():
    """The path of libnpudrv, the driver and host runtime that this process uses: a `str`.

    It is what `ChipWorker.init` takes as `host_lib`.
    """
    return str(_mapped("libnpudrv"))  # or libnpudrv_counted


def _folder():
    # PREFIX/lib[/TRIPLET]/libnpudrv.so -> npusim/programs beside it; BUILD/lib -> BUILD/programs.
    beside = pathlib.Path(host_library()).parent
    for place in (beside / "npusim" / "programs", beside.parent / "programs"):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no programs beside {beside}")


def _programs():
    return {path.stem: path for path in _folder().iterdir() if path.suffix in _SUFFIXES}


def program_path(name):
    """The path of a program of the installation: a `str`.

    Args:
        name: "scheduler" and "executor" (firmware), a kernel, or a host's function for a
            `ChipCallable`: see `program_names()`.

    Raises:
        ValueError: there is no such program.
    """
    known = _programs()
    if name not in known:
        raise ValueError(f"program: found '{name}'; allowed: {', '.join(sorted(known))}")
    return str(known[name])


def program(name):
    """The object of a program of the installation: `bytes`, as `Device.register_kernel` takes it.

    Args:
        name: see `program_path()`.

    Raises:
        ValueError: there is no such program.
    """
    return pathlib.Path(program_path(name)).read_bytes()


def program_names():
    """The names of the installation's programs: a sorted list of `str`."""
    return sorted(_programs())


assert _npusim  # it brings the libraries that are looked for here
