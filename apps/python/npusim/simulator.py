# SPDX-License-Identifier: Apache-2.0
"""The simulated machine."""

import atexit
import hashlib
import json
import operator
import os
import weakref

from . import _npusim
from .device import Device
from .memory import ManagedMemory
from .programs import program

_current = None  # a weak reference to the process's simulator


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def current_simulator():
    """The `Simulator` of this process that still lives; None if there is none."""
    return None if _current is None else _current()


class Simulator:
    """A machine: host, PCI hierarchy and cards, with the real driver on it.

    A process has one simulator in its life, because a SystemC kernel elaborates once: the second
    one is an `Error` (`ErrorCode.ALREADY_EXISTS`), also after `close()`. Whoever needs several runs
    them in processes of their own (`multiprocessing` with "spawn").

    Simulated time passes in calls that reach the driver, and in nothing else. They run without the
    interpreter's lock. A simulator and what belongs to it are for the thread that has made it; in
    any other one, and in a forked process, calls raise RuntimeError. Ctrl-C, or any signal whose
    Python handler raises, ends the machine between two of its events: the exception comes out of
    the call, later calls raise
    `Error` (`ErrorCode.ABORTED`), and `report()` has what is known by then. That needs the
    interpreter's main thread.

    Args:
        config: name ("910b2") or path of a chip or system file, as --config of the program takes it.
        **overrides: keys of the configuration in full or by their last part, as `--set` takes them:
            ``Simulator("910b2", generation=5)``, ``Simulator("910b2", **{"link.generation": 5})``.
            Numbers, booleans, or text with a unit ("64KiB").

    Raises:
        ValueError: configuration or override cannot be; the text is the one line of the program.
        Error: `ErrorCode.ALREADY_EXISTS`, the process has had its simulator.
    """

    def __init__(self, config, **overrides):
        global _current
        given = [f"{key}={_text(value)}" for key, value in overrides.items()]
        self._session = _npusim.Session(str(config), given)
        self._config = str(config)
        self._devices = weakref.WeakValueDictionary()
        self._programs = {}
        self._shared = []  # the devices of managed memory
        self._kept = None  # the device of operators that were told none
        _current = weakref.ref(self)
        atexit.register(_close_at_exit, _current)

    def __repr__(self):
        return f"<npusim.Simulator {self._config}, {self.device_count} devices, {self.now} ps>"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def config(self):
        """The configuration as it was named: `str`."""
        return self._config

    @property
    def now(self):
        """Simulated time since power-up: `int`, in ps."""
        return self._session.now

    @property
    def device_count(self):
        """How many cards the machine has: `int`."""
        return self._session.cards

    def device(self, index=0):
        """Opens a card: a `Device`; the same one as long as somebody holds it.

        Args:
            index: 0 .. device_count - 1.

        Raises:
            ValueError: an index below 0, or beyond 32 bits.
            Error: `ErrorCode.NOT_FOUND`, no such card; `ErrorCode.BUSY`, a `ChipWorker` has it; and
                what the driver says of the card.
        """
        if not 0 <= operator.index(index) < 1 << 32:
            raise ValueError(f"index: found {index!r}; allowed: 0 to {self.device_count - 1}")
        found = self._devices.get(index)
        if found is None or found.closed:
            found = Device(self, index)
            self._devices[index] = found
        return found

    def managed_memory(self, size):
        """Memory with one address for Python and all cards of the machine: a `ManagedMemory`.

        The cards are open as long as it lives.

        Args:
            size: in bytes, at least 1; pages of 2 MiB, of which each takes memory when it is first
                touched.

        Raises:
            Error: `ErrorCode.OUT_OF_RESOURCES`, there are no addresses left;
                `ErrorCode.INVALID_ARGUMENT`, 0 bytes; `ErrorCode.UNSUPPORTED`, cards that have none.
        """
        return ManagedMemory(self, size)

    def _managed_cards(self):
        self._shared = [self.device(index) for index in range(self.device_count)]
        return _npusim.ManagedCards([each._ready() for each in self._shared], program("pager"))

    def _default_device(self):
        if self._kept is None or self._kept.closed:
            self._kept = self.device(0)
        return self._kept

    def close(self):
        """Closes the devices and ends the machine; `report()` still answers. Idempotent.

        Raises:
            Error: `ErrorCode.BUSY`, somebody holds host memory of a device.
        """
        if self._session.closed:
            return
        for device in list(self._devices.values()):
            device.close()
        self._session.end_trace("python")
        self._session.close()

    def report(self):
        """What the machine has done since power-up: a `dict`.

        It is the report of ``npusim run --report``, schema "npusim.report/3" (docs/reports.md):
        configuration with its SHA-256, overrides, `simulated_ps`, `programs`, `counters`. `workload`
        is "python"; there are no metrics, breakdowns and tables, which are a workload's. `outcome`
        is "complete", or "interrupted" or "failed: ..." of a machine that has ended so.
        """
        return self._with_programs(self._session.report("python"))

    def record(self):
        """Keeps what happens from now on, for `profile()`. What was kept before is forgotten."""
        self._session.record()

    def profile(self):
        """`report()` with what bounded the machine since `record()`, which ends with it: a `dict`.

        It has the sections that ``npusim run --profile`` adds (docs/reports.md): `critical_path`,
        `durations`, `utilisation`, `memory_map`; and `limits`, what bounded the kernels on the
        critical path. Without `record()` it is `report()`.
        """
        return self._with_programs(self._session.profile("python"))

    def html(self, path):
        """Writes `profile()` as a page for a browser: as ``npusim run --html`` does (docs/pages.md).

        Args:
            path: of the file, which is replaced as a whole.

        Raises:
            Error: it cannot be written.
        """
        text = json.dumps(self.profile())
        self._session.write_page(os.fspath(path), text)

    def trace(self, path):
        """Writes what happens from now on as a timeline, for Perfetto (docs/timeline.md).

            with simulator.trace("trace.json"):
                ...

        The file is there when the `with` ends, or at `close()` of what is returned, or of the
        simulator. Accesses of L2, HBM and TLB are counters alone.

        Args:
            path: of the file, which is replaced as a whole.

        Raises:
            Error: `ErrorCode.BUSY`, a timeline is being written; the file cannot be written.
        """
        self._session.begin_trace(os.fspath(path))
        return _Trace(self)

    def _with_programs(self, text):
        report = json.loads(text)
        report["programs"] = [
            {"name": name, "sha256": digest} for name, digest in self._programs.items()
        ]
        return report

    def table(self):
        """The counters of `report()` as rows: a list of `dict` with name, value and unit.

        `pandas.DataFrame(simulator.table())` and `csv.DictWriter` take it as it is. A unit of ""
        counts things, "B" is bytes.
        """
        return [
            {"name": each["name"], "value": each["value"], "unit": each["unit"]}
            for each in self.report()["counters"]
        ]

    def _use_program(self, name, image):
        self._programs.setdefault(name, hashlib.sha256(image).hexdigest())


class _Trace:
    """A timeline that is being written."""

    def __init__(self, simulator):
        self._simulator = simulator

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """Puts the file into its place. Idempotent."""
        simulator, self._simulator = self._simulator, None
        if simulator is not None:
            simulator._session.end_trace("python")


def _close_at_exit(reference):
    simulator = reference()
    if simulator is None:
        return
    try:
        simulator.close()
    except Exception:  # pylint: disable=broad-except; the process ends, and nobody can act on it
        pass
