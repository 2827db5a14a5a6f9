# SPDX-License-Identifier: Apache-2.0
"""Cards: memory, kernels, task graphs."""

import operator
import weakref

from .memory import DeviceMemory, HostMemory
from .plain_bytes import bytes_of
from .programs import program
from .stream import Event, Stream


class Device:
    """An open card: `Simulator.device()` makes it.

    Firmware of the installation is loaded with it. Closed by `close()`, at the end of a `with`, or
    when nobody holds it.
    """

    def __init__(self, simulator, index):
        self._simulator = simulator
        self._index = index
        self._forgotten = []  # addresses of memory that nobody held any more
        self._blocks = {}  # addresses of free blocks by their size (blocks.py)
        self._memories = weakref.WeakSet()
        self._operators = None  # made by the first one (ops.py)
        self._capture = None  # the OperatorGraph that operators go into (captured.py)
        self._networks = weakref.WeakSet()
        self._card = simulator._session.open(index)
        self._set_installed_firmware()

    def _set_installed_firmware(self):
        images = {name: program(name) for name in ("scheduler", "executor")}
        self._card.set_firmware(images["scheduler"], images["executor"])
        for name, image in images.items():
            self._simulator._use_program(name, image)

    def _ready(self):
        """The card, behind memory that is to be freed first."""
        while self._forgotten:
            self._card.free(self._forgotten.pop())
        return self._card

    def __repr__(self):
        state = "closed" if self.closed else "open"
        return f"<npusim.Device {self._index}, {state}>"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def index(self):
        """The card's number in the machine, from 0: `int`."""
        return self._index

    @property
    def closed(self):
        """Whether the card is closed: `bool`."""
        return self._card.closed

    @property
    def info(self):
        """What the card is and has: a `dict`.

        bdf (`str`), vendor_id, device_id, index, numa_node (-1: unknown), ai_cores, clusters,
        vector_cores_per_cluster (0: coupled cores), streams, events; in bytes memory_bytes,
        memory_free_bytes, largest_free_block_bytes; allocations, live ones.
        """
        return self._ready().info()

    def close(self):
        """Gives the card and all that is on it back. Idempotent.

        Raises:
            Error: `ErrorCode.BUSY`, somebody holds host memory of the card.
        """
        for network in list(self._networks):
            network.close()
        if self._operators is not None and not self.closed:
            self._operators.close()
        self._operators = None
        self._card.close()

    def allocate(self, size):
        """Memory of the card: a `DeviceMemory` with arbitrary contents.

        Args:
            size: in bytes, at least 1; the card reserves whole pages of 2 MiB.

        Raises:
            Error: `ErrorCode.OUT_OF_MEMORY`, `ErrorCode.INVALID_ARGUMENT`.
        """
        self._ready()
        return DeviceMemory(self, size)

    def upload(self, data):
        """Memory of the card that holds a copy of `data`: a `DeviceMemory` of its size.

        Args:
            data: any object with a buffer that is not empty, an array of any shape and dtype.

        Raises:
            ValueError: it holds references to Python's objects.
            Error: as `allocate()`.
        """
        data = bytes_of(data)
        memory = self.allocate(memoryview(data).nbytes)
        memory.write(data)
        return memory

    def host_memory(self, size):
        """Host memory that the card reaches, zeroed: a `HostMemory`.

        Args:
            size: in bytes, at least 1.

        Raises:
            Error: `ErrorCode.OUT_OF_MEMORY`, `ErrorCode.INVALID_ARGUMENT`.
        """
        return HostMemory(self, size)

    def stream(self, interrupt=True):
        """A stream for copies: a `Stream`.

        Args:
            interrupt: its completions may send MSI-X; without, waiting is polling.

        Raises:
            Error: `ErrorCode.OUT_OF_RESOURCES`, all are in use.
        """
        return Stream(self, interrupt)

    def event(self):
        """An event that copies of any stream count up: an `Event`.

        Raises:
            Error: `ErrorCode.OUT_OF_RESOURCES`, all are in use.
        """
        return Event(self)

    def set_firmware(self, scheduler, executor):
        """Firmware of the next runs in place of the installation's.

        Args:
            scheduler, executor: the objects of AICPUs and AI Cores as `bytes`.

        Raises:
            Error: what the driver says of the objects.
        """
        self._ready().set_firmware(scheduler, executor)

    def register_kernel(self, kernel, image):
        """Uploads a kernel; one that was there under the number is replaced.

        Args:
            kernel: its number, 0 .. 1023.
            image: the object as `bytes`, or the name of one of the installation's programs.

        Raises:
            ValueError: there is no such program, or number.
            Error: what the driver says of the object.
        """
        if operator.index(kernel) < 0:
            raise ValueError(f"kernel: found {kernel}; allowed: 0 to 1023")
        if isinstance(image, str):
            name, image = image, program(image)
            self._simulator._use_program(name, image)
        self._ready().register_kernel(kernel, image)

    def unregister_kernel(self, kernel):
        """Takes a kernel from the card. Raises `Error`, `ErrorCode.NOT_FOUND`."""
        self._ready().unregister_kernel(kernel)

    def run(self, graph, *, block_dim=0, aicpu_threads=3, handshake="register", single_issue=False,
            profiling=False, pmu_group=0, dump_tensors=False, watchdog_ns=0, timeout_ns=0):
        """Runs a graph to its end.

        Args:
            graph: a `Graph`.
            block_dim: clusters of AI Cores to use; 0: all.
            aicpu_threads: scheduler threads.
            handshake: between scheduler and cores, "register" or "memory".
            single_issue: a core gets its next task when it has ended the one before.
            profiling: fill `records`.
            pmu_group: event group of the cores' counters; 0: off. Fills `pmu`. 1 arithmetic, 2 pipes,
                4 memory, 5 L0, 6 conflicts, 7 UB, 8 L2; another is 2.
            dump_tensors: fill `tensors` with copies of arguments of known size; the run takes longer.
            watchdog_ns: simulated time without the end of a task after which the scheduler gives
                up; 0: 1 s.
            timeout_ns: of the host, for the whole run; 0: 10 s.

        Returns:
            A `dict`: called_ps, uploaded_ps, launched_ps, ended_ps, returned_ps (the host's clock,
            in ps), workers, result (the scheduler's `dict`; its times are ticks of counter_hz),
            records (a `dict` per block of a task, times in ticks), pmu, tensors (`dict`s with task,
            argument, stage "before" or "after", address, ticks, bytes or None).

        Raises:
            ValueError: an unknown handshake.
            Error: `ErrorCode.INVALID_ARGUMENT`, nothing was started; `ErrorCode.DEVICE_FAULT`,
                `ErrorCode.TIMEOUT`, `context` says which task, where and why, and `last_run()` what
                was done before. The device stays usable.
        """
        return self._ready().run(graph._native, block_dim, aicpu_threads, handshake, single_issue,
                                 profiling, pmu_group, dump_tensors, watchdog_ns * 1000,
                                 timeout_ns * 1000)

    def last_run(self):
        """What `run()` has returned, or would have if it had not failed: a `dict`."""
        return self._ready().last_run()
