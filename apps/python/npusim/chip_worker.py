# SPDX-License-Identifier: Apache-2.0
"""Runs callables on a card."""

import hashlib
import pathlib
import weakref

from . import _npusim
from .callable import ArgDirection, ChipCallable
from .simulator import Simulator, current_simulator
from .task_interface import ChipStorageTaskArgs, TaskArgs, TensorArgType

_TO_CARD = {ArgDirection.IN, ArgDirection.INOUT}
_FROM_CARD = {ArgDirection.OUT, ArgDirection.INOUT}
_DIRECTION = {TensorArgType.INPUT: ArgDirection.IN, TensorArgType.OUTPUT: ArgDirection.OUT,
              TensorArgType.INOUT: ArgDirection.INOUT,
              TensorArgType.OUTPUT_EXISTING: ArgDirection.INOUT,
              TensorArgType.NO_DEP: ArgDirection.IN}


class ChipCallConfig:
    """How a callable runs.

    Attributes:
        block_dim: clusters of AI Cores to use; 0: all. Default 1.
        aicpu_thread_num: scheduler threads. Default 3.
        enable_l2_swimlane: keep a record of each block of a task: `ChipWorker.last_run()`.
        enable_dump_tensor: let the scheduler copy tensors of known size aside; the run takes longer.
        enable_pmu: event group of the cores' counters; 0: off. `ChipWorker.last_run()`. 1 arithmetic,
            2 pipes, 4 memory, 5 L0, 6 conflicts, 7 UB, 8 L2; another is 2.

    A name that is none of these raises AttributeError.
    """

    __slots__ = ("block_dim", "aicpu_thread_num", "enable_l2_swimlane", "enable_dump_tensor",
                 "enable_pmu")

    def __init__(self):
        self.block_dim = 1
        self.aicpu_thread_num = 3
        self.enable_l2_swimlane = False
        self.enable_dump_tensor = False
        self.enable_pmu = 0

    def __repr__(self):
        values = ", ".join(f"{name}={getattr(self, name)}" for name in self.__slots__)
        return f"ChipCallConfig({values})"

    def _native(self):
        return _npusim.RunConfig(self.block_dim, self.aicpu_thread_num,
                                 bool(self.enable_l2_swimlane), bool(self.enable_dump_tensor),
                                 int(self.enable_pmu))


class ChipWorker:
    """Runs callables on one card: `init()`, `set_device()`, `run()`, `finalize()`, in this order.

    What comes out of order raises RuntimeError. A worker that is finalised stays so.
    """

    def __init__(self):
        self._host = None
        self._finalized = False
        self._device_id = -1
        self._simulator = None
        self._firmware = (b"", b"")
        self._firmware_set = False
        self._kernels = {}  # digests of what is registered, by number
        self._loaded = weakref.WeakKeyDictionary()

    def __repr__(self):
        state = ("finalised" if self._finalized else f"device {self._device_id}"
                 if self.device_set else "initialised" if self.initialized else "new")
        return f"<npusim.ChipWorker, {state}>"

    @property
    def initialized(self):
        """Whether `init()` was called, and `finalize()` was not: `bool`."""
        return self._host is not None

    @property
    def device_set(self):
        """Whether the worker has a card: `bool`."""
        return self._device_id >= 0

    @property
    def device_id(self):
        """The card's number; -1: none is set. `int`."""
        return self._device_id

    def init(self, host_lib, aicpu, aicore, sim_context=""):
        """Loads the host's runtime and the firmware. Once.

        Args:
            host_lib: path of the driver's library: `npusim.host_library()`.
            aicpu: path of the scheduler: `npusim.program_path("scheduler")`.
            aicore: path of the executor: `npusim.program_path("executor")`.
            sim_context: configuration of the machine, which is made if the process has no
                `Simulator` yet; "": the process's, or one of "910b".

        Raises:
            RuntimeError: the worker is initialised, or finalised.
            FileNotFoundError: there is no such program.
            ValueError: the library is no host runtime; the process has a machine of another
                configuration, or there is no such one.
        """
        if self._finalized:
            raise RuntimeError("the worker is finalised, and cannot be initialised again")
        if self.initialized:
            raise RuntimeError("the worker is initialised, and its runtime cannot be changed")
        firmware = tuple(pathlib.Path(path).read_bytes() for path in (aicpu, aicore))
        simulator = current_simulator()
        if simulator is None:
            simulator = Simulator(sim_context or "910b")
        elif sim_context and sim_context != simulator.config:
            raise ValueError(f"sim_context: found '{sim_context}'; the process has a machine of "
                             f"'{simulator.config}'")
        self._host = _npusim.HostRuntime(simulator._session, str(host_lib))
        self._simulator = simulator
        self._firmware = firmware
        for name, image in zip(("scheduler", "executor"), firmware):
            simulator._use_program(name, image)

    def _ready(self, what, device=True):
        if self._finalized:
            raise RuntimeError(f"{what}: the worker is finalised")
        if not self.initialized:
            raise RuntimeError(f"{what}: the worker is not initialised; call init() first")
        if device and not self.device_set:
            raise RuntimeError(f"{what}: no device is set; call set_device() first")
        return self._host

    def set_device(self, device_id):
        """Opens a card.

        Args:
            device_id: its number in the machine, from 0.

        Raises:
            RuntimeError: the worker is not initialised, finalised, or has a card.
            Error: `ErrorCode.NOT_FOUND`; `ErrorCode.BUSY`, somebody else of this process has it.
        """
        host = self._ready("set_device", device=False)
        if self.device_set:
            raise RuntimeError("set_device: a device is set; call reset_device() first")
        host.set_device(device_id)
        self._device_id = int(device_id)

    def reset_device(self):
        """Gives the card and all memory on it back; without a card nothing happens.

        Raises:
            RuntimeError: the worker is not initialised, or finalised.
        """
        host = self._ready("reset_device", device=False)
        if not self.device_set:
            return
        self._device_id = -1
        self._kernels.clear()
        self._firmware_set = False
        host.reset_device()

    def malloc(self, size):
        """Memory of the card: its address, `int`.

        Args:
            size: in bytes, at least 1.

        Raises:
            RuntimeError: there is no card.
            Error: `ErrorCode.OUT_OF_MEMORY`, `ErrorCode.INVALID_ARGUMENT`.
        """
        return self._ready("malloc").allocate(size)

    def free(self, ptr):
        """Gives memory of `malloc()` back.

        Args:
            ptr: its address.

        Raises:
            RuntimeError: there is no card.
            Error: `ErrorCode.INVALID_ARGUMENT`, there is no such memory.
        """
        self._ready("free").free(ptr)

    def copy_to(self, dst, src, size):
        """Copies to the card; returns when the bytes are there.

        Args:
            dst: address on the card.
            src: address in this process, which is not checked.
            size: in bytes.

        Raises:
            RuntimeError: there is no card.
            Error: `ErrorCode.DEVICE_FAULT`, nothing is mapped there.
        """
        self._ready("copy_to").copy_to(dst, src, size)

    def copy_from(self, dst, src, size):
        """Copies from the card; returns when the bytes are there.

        Args:
            dst: address in this process, which is not checked.
            src: address on the card.
            size: in bytes.

        Raises:
            RuntimeError: there is no card.
            Error: `ErrorCode.DEVICE_FAULT`, nothing is mapped there.
        """
        self._ready("copy_from").copy_from(dst, src, size)

    def run(self, callable, args, config=None, **overrides):  # pylint: disable=redefined-builtin
        """Runs a callable to its end.

        A tensor of the host's is given memory on the card for the run: what the signature says is
        IN or INOUT is copied there before, what is OUT or INOUT back behind it. With `TaskArgs` the
        tags say that.

        Args:
            callable: a `ChipCallable`.
            args: a `ChipStorageTaskArgs` or `TaskArgs` that fits the signature.
            config: a `ChipCallConfig`; None: the default one.
            overrides: attributes of the configuration for this run alone.

        Raises:
            RuntimeError: before init() or set_device(), after finalize().
            TypeError: something else than a callable or arguments.
            ValueError: arguments that do not fit the signature; the callable's object cannot be
                loaded, or has no such function.
            AttributeError: an override is no attribute of a configuration.
            Error: `ErrorCode.INVALID_ARGUMENT`, the function has failed, or the graph cannot be;
                `ErrorCode.DEVICE_FAULT`, `ErrorCode.TIMEOUT`: `context` says which task and why.
                The card stays usable.
        """
        host = self._ready("run")
        if not isinstance(callable, ChipCallable):
            raise TypeError(f"run: a callable of type {type(callable).__name__}")
        native = _configured(config, overrides)._native()
        directions = _directions(callable, args)
        orchestration, children = self._parts(callable)
        for number, digest, image in children:
            if self._kernels.get(number) != digest:
                host.register_kernel(number, image)
                self._kernels[number] = digest
        words, owned, back = [], [], []
        try:
            for tensor, direction in zip(args._tensors, directions):
                address = tensor.data
                if not tensor.child_memory:
                    address = host.allocate(tensor.nbytes())
                    owned.append(address)
                    if direction in _TO_CARD:
                        host.copy_to(address, tensor.data, tensor.nbytes())
                    if direction in _FROM_CARD:
                        back.append((tensor.data, address, tensor.nbytes()))
                words.append(address)
            words += args._scalars
            firmware = (b"", b"") if self._firmware_set else self._firmware
            host.run(orchestration, words, native, *firmware)
            self._firmware_set = True
            for to, address, size in back:
                host.copy_from(to, address, size)
        finally:
            if not self._simulator._session.ended:
                for address in owned:
                    host.free(address)

    def _order(self, callable, args, config):  # pylint: disable=redefined-builtin
        """A run as `CardWork.call()` takes it, behind the card."""
        self._ready("run")
        if not isinstance(callable, ChipCallable):
            raise TypeError(f"run: a callable of type {type(callable).__name__}")
        native = _configured(config, {})._native()
        directions = _directions(callable, args)
        orchestration, children = self._parts(callable)
        kernels = [(number, image) for number, digest, image in children
                   if self._kernels.get(number) != digest]
        self._kernels.update((number, digest) for number, digest, _ in children)
        tensors = [(tensor.data, tensor.child_memory, tensor.nbytes(), direction in _TO_CARD,
                    direction in _FROM_CARD)
                   for tensor, direction in zip(args._tensors, directions)]
        firmware = (b"", b"") if self._firmware_set else self._firmware
        self._firmware_set = True
        return (kernels, orchestration, tensors, list(args._scalars), native, *firmware)

    def _forget(self):
        """An order has failed: it may not have come to its kernels and the firmware."""
        self._kernels.clear()
        self._firmware_set = False

    def _parts(self, callable):  # pylint: disable=redefined-builtin
        loaded = self._loaded.get(callable)
        if loaded is None:
            try:
                orchestration = _npusim.Orchestration(callable._host_object(), callable.func_name)
            except ValueError as error:
                raise ValueError(f"run: {error}") from None
            children = [(number, hashlib.sha256(image).digest(), image)
                        for number, image in callable._child_objects()]
            loaded = self._loaded[callable] = (orchestration, children)
        return loaded

    def last_run(self):
        """What the last `run()` has left, also one that has failed: a `dict`.

        result, records, pmu: as those of `Device.run()`.

        Raises:
            RuntimeError: there is no card.
        """
        return self._ready("last_run").last_run()

    def finalize(self):
        """Gives everything back. The worker cannot be used any more. Idempotent."""
        if self._finalized:
            return
        if self.initialized and self.device_set:
            self.reset_device()
        self._host = None
        self._loaded.clear()
        self._finalized = True


def _configured(config, overrides):
    made = ChipCallConfig()
    if config is not None:
        for name in ChipCallConfig.__slots__:
            setattr(made, name, getattr(config, name))
    for name, value in overrides.items():
        setattr(made, name, value)
    return made


def _directions(callable, args):  # pylint: disable=redefined-builtin
    if not isinstance(args, ChipStorageTaskArgs):
        raise TypeError(f"run: arguments of type {type(args).__name__}")
    scalars = callable.signature.count(ArgDirection.SCALAR)
    tensors = len(callable.signature) - scalars
    found = (args.tensor_count(), args.scalar_count())
    if found != (tensors, scalars):
        raise ValueError(f"run: {found[0]} tensors and {found[1]} scalars; the signature of "
                         f"{callable.func_name} has {tensors} and {scalars}")
    if isinstance(args, TaskArgs):
        return [_DIRECTION[args.tag(i)] for i in range(tensors)]
    return callable.signature[:tensors]


