# SPDX-License-Identifier: Apache-2.0
"""What the orchestration function of a level-3 worker submits tasks with."""

import contextlib

from .callable import ArgDirection, ChipCallable
from .card_scheduler import ANY, CardTask
from .chip_worker import ChipCallConfig, _directions
from .task_interface import TaskArgs, TensorArgType
from .tensor_uses import HOST

_READS = {ArgDirection.IN, ArgDirection.INOUT}
_WRITES = {ArgDirection.OUT, ArgDirection.INOUT}


class Orchestrator:
    """Submits tasks to the cards of a `Worker`, and calls of the host's.

    A call returns at once; the task begins when those have ended whose tensors it needs: what a task
    reads, it waits for its writers, where it writes, for readers and writers. Ranges of addresses
    count, of the host's memory and of each card's. `Worker.run()` returns when all have ended.

    `Worker.run()` makes it: there is one for each run.
    """

    def __init__(self, scheduler, cards, registered, sub_workers):
        self._scheduler = scheduler
        self._cards = cards
        self._registered = registered
        self._sub_workers = sub_workers

    def __repr__(self):
        return f"<npusim.Orchestrator of {len(self._cards)} cards>"

    def submit_next_level(self, callable, args, config=None, worker=ANY):  # pylint: disable=redefined-builtin
        """Has a card run a callable.

        Args:
            callable: a `ChipCallable`, or the number that `Worker.register()` gave it.
            args: `TaskArgs`, or `ChipStorageTaskArgs` that fit the signature. Their memory stays
                where it is until the run is over.
            config: a `ChipCallConfig`; None: the default one.
            worker: the card, by its place in `device_ids`; -1: the first that is idle.

        Raises:
            TypeError: something else than a callable, arguments or a configuration.
            ValueError: arguments that do not fit; no such callable or card; memory of a card, and no
                card said.
        """
        self.submit_next_level_group(callable, [args], config, [worker])

    def submit_next_level_group(self, callable, args_list, config=None, workers=None):  # pylint: disable=redefined-builtin
        """Has several cards run a callable, as one task that ends with the last of them.

        Args:
            callable: as `submit_next_level()` takes it.
            args_list: the arguments of each run.
            config: as there, for all.
            workers: the card of each run; None: whichever are idle.

        Raises:
            TypeError: as there.
            ValueError: as there; no run, or another number of cards.
        """
        made = self._callable(callable)
        if config is not None and not isinstance(config, ChipCallConfig):
            raise TypeError(f"config: a {type(config).__name__}")
        workers = [ANY] * len(args_list) if workers is None else list(workers)
        if not args_list or len(workers) != len(args_list):
            raise ValueError(f"workers: found {len(workers)} for {len(args_list)} runs")
        ranges, parts = [], []
        for args, worker in zip(args_list, workers):
            card = self._card(worker, or_any=True)
            ranges += _ranges_of(made, args, card)
            parts.append((card, _call(made, args, config)))
        self._scheduler.submit(CardTask(made.func_name, ranges, parts, chip=True))

    def submit_sub(self, callable_id, args=None):
        """Calls a function of the host's: it takes no simulated time.

        Args:
            callable_id: the number that `Worker.register()` gave it.
            args: the `TaskArgs` that it is called with, whose tags say what it waits for; None: it is
                called without any, as soon as it is submitted.

        Raises:
            RuntimeError: the worker has no sub workers (`num_sub_workers`).
            TypeError: other arguments.
            ValueError: there is no such function.
        """
        if self._sub_workers == 0:
            raise RuntimeError("submit_sub: the worker has no sub workers; num_sub_workers is 0")
        function = self._registered_as(callable_id)
        if isinstance(function, ChipCallable):
            raise ValueError(f"submit_sub: {callable_id} is a callable of cards")
        if args is not None and not isinstance(args, TaskArgs):
            raise TypeError(f"submit_sub: arguments of type {type(args).__name__}")
        ranges = [] if args is None else [
            (HOST, tensor.data, tensor.nbytes(), tag is not TensorArgType.NO_DEP,
             tag not in (TensorArgType.INPUT, TensorArgType.NO_DEP))
            for tensor, tag in zip(args._tensors, args._tags)]
        name = getattr(function, "__name__", type(function).__name__)
        self._scheduler.submit(CardTask(
            name, ranges, function=function if args is None else lambda: function(args)))

    def malloc(self, worker_id, size):
        """Memory of a card, when it has nothing else to do: its address, `int`.

        It is for tensors with `child_memory`, and the worker's until `free()` or `Worker.close()`.

        Args:
            worker_id: the card, by its place in `device_ids`.
            size: in bytes, at least 1.

        Raises:
            ValueError: there is no such card.
            Error: `ErrorCode.OUT_OF_MEMORY`, `ErrorCode.INVALID_ARGUMENT`.
        """
        return self._memory("malloc", worker_id, [], lambda work, host: work.allocate(host, size))

    def free(self, worker_id, ptr):
        """Gives memory of `malloc()` back, behind the tasks that use its first byte.

        Args:
            worker_id: the card.
            ptr: its address.

        Raises:
            ValueError: there is no such card.
            Error: `ErrorCode.INVALID_ARGUMENT`, there is no such memory.
        """
        self._memory("free", worker_id, [(worker_id, ptr, 1, True, True)],
                     lambda work, host: work.free(host, ptr))

    def copy_to(self, worker_id, dst, src, size):
        """Copies to a card, in its turn among the tasks; returns when the bytes are there.

        Args:
            worker_id: the card.
            dst: address on the card.
            src: address in this process, which is not checked.
            size: in bytes.

        Raises:
            ValueError: there is no such card.
            Error: `ErrorCode.DEVICE_FAULT`, nothing is mapped there.
        """
        self._memory("copy_to", worker_id,
                     [(HOST, src, size, True, False), (worker_id, dst, size, False, True)],
                     lambda work, host: work.copy_to(host, dst, src, size))

    def copy_from(self, worker_id, dst, src, size):
        """Copies from a card, in its turn among the tasks; returns when the bytes are there.

        Args:
            worker_id: the card.
            dst: address in this process, which is not checked.
            src: address on the card.
            size: in bytes.

        Raises:
            ValueError: there is no such card.
            Error: `ErrorCode.DEVICE_FAULT`, nothing is mapped there.
        """
        self._memory("copy_from", worker_id,
                     [(HOST, dst, size, False, True), (worker_id, src, size, True, False)],
                     lambda work, host: work.copy_from(host, dst, src, size))

    def scope(self):
        """A block of tasks, for programs that have them: ``with orch.scope():``. It does nothing."""
        return contextlib.nullcontext(self)

    def _memory(self, name, worker_id, ranges, begin):
        card = self._card(worker_id)
        task = CardTask(name, ranges, [(card, lambda work, chip: begin(work, chip._ready(name)))])
        self._scheduler.submit(task)
        return self._scheduler.finish(task)

    def _card(self, worker, or_any=False):
        if or_any and worker == ANY:
            return ANY
        if not isinstance(worker, int) or not 0 <= worker < len(self._cards):
            raise ValueError(f"worker: found {worker}; allowed: 0 to {len(self._cards) - 1}"
                             + (", -1 for any" if or_any else ""))
        return worker

    def _callable(self, wanted):
        made = self._registered_as(wanted) if isinstance(wanted, int) else wanted
        if not isinstance(made, ChipCallable):
            raise TypeError(f"submit_next_level: a callable of type {type(made).__name__}")
        return made

    def _registered_as(self, number):
        if not isinstance(number, int) or not 0 <= number < len(self._registered):
            raise ValueError(f"callable: found {number}; allowed: what register() has given")
        return self._registered[number]


def _call(callable, args, config):  # pylint: disable=redefined-builtin
    def begin(work, chip):
        return work.call(chip._ready("run"), *chip._order(callable, args, config))
    return begin


def _ranges_of(callable, args, card):  # pylint: disable=redefined-builtin
    tags = args._tags if isinstance(args, TaskArgs) else ()
    for i, (tensor, way) in enumerate(zip(args._tensors if hasattr(args, "_tensors") else (),
                                          _directions(callable, args))):
        if tensor.child_memory and card == ANY:
            raise ValueError(f"tensor {i} is memory of a card: say which with `worker`")
        free = bool(tags) and tags[i] is TensorArgType.NO_DEP
        yield (card if tensor.child_memory else HOST, tensor.data, tensor.nbytes(),
               way in _READS and not free, way in _WRITES and not free)
