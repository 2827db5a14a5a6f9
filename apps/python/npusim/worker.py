# SPDX-License-Identifier: Apache-2.0
"""A worker of any level: one card, or several with an orchestrator and a scheduler."""

from .callable import ChipCallable
from .card_scheduler import CardScheduler
from .chip_worker import ChipWorker
from .orchestrator import Orchestrator
from .platforms import RUNTIME, check_runtime, configuration_of
from .runtime_builder import RuntimeBuilder
from .simulator import current_simulator

_CHIP, _HOST = 2, 3


class Worker:
    """Runs callables on one card (level 2), or functions that spread them over several (level 3).

    ``register()``, ``init()``, ``run()``, ``close()``, in this order; or in a ``with`` block, which
    begins with init() and ends with close(). What comes out of order raises RuntimeError. The cards
    are those of one machine, in one simulated time.

    Args:
        level: 2 or 3.
        platform: "a2a3", "a2a3sim", "a5", "a5sim", or a configuration as `Simulator` takes it; None:
            the process's machine, or "a2a3" if it has none.
        runtime: "host_build_graph".
        device_id: of level 2: the card's number in the machine.
        device_ids: of level 3: the cards' numbers; None: all of the machine.
        num_sub_workers: of level 3: 0: no calls of the host's (`Orchestrator.submit_sub()`). They
            are made one after the other, whatever the number.

    Raises:
        ValueError: another level or runtime; no such platform; no cards, or one twice.
    """

    def __init__(self, level, platform=None, runtime=RUNTIME, device_id=0, device_ids=None,
                 num_sub_workers=0):
        if level not in (_CHIP, _HOST):
            raise ValueError(f"level: found {level}; allowed: {_CHIP}, {_HOST}")
        check_runtime(runtime)
        self._level = level
        if level == _CHIP and device_ids is not None:
            raise ValueError(f"device_ids: found {device_ids}; level {_CHIP} has one card: device_id")
        if num_sub_workers < 0:
            raise ValueError(f"num_sub_workers: found {num_sub_workers}; allowed: 0 or more")
        ids = [device_id] if level == _CHIP else device_ids
        self._ids = None if ids is None else [int(each) for each in ids]
        wrong = self._ids is not None and (
            not self._ids or min(self._ids) < 0 or len(set(self._ids)) != len(self._ids))
        if wrong:
            raise ValueError(f"device_ids: found {ids}; allowed: cards of the machine, each once")
        cards = 1 if self._ids is None else max(self._ids) + 1
        self._config = None if platform is None else configuration_of(platform, cards)
        self._wanted_cards = cards
        self._sub_workers = int(num_sub_workers)
        self._registered = []
        self._cards = []
        self._scheduler = None
        self._state = "new"
        self._rows = []

    def __repr__(self):
        return f"<npusim.Worker of level {self._level}, {len(self._cards)} cards, {self._state}>"

    def __enter__(self):
        if self._state == "new":
            self.init()
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def level(self):
        """Which level it is: `int`, 2 or 3."""
        return self._level

    @property
    def device_ids(self):
        """The numbers of the cards; [] before init(), if all are wanted: a list of `int`."""
        return list(self._ids or [])

    def register(self, callable):  # pylint: disable=redefined-builtin
        """Gives a function a number: `int`, as the orchestrator's calls take it.

        Args:
            callable: a `ChipCallable`, or a function of the host's: it is called with the `TaskArgs`
                of the task, if that has any.

        Raises:
            RuntimeError: after init(); of a worker of level 2.
            TypeError: it cannot be called.
        """
        if self._level == _CHIP:
            raise RuntimeError("register: a worker of level 2 is given its callable by run()")
        if self._state != "new":
            raise RuntimeError("register: the worker is initialised; register before init()")
        if not isinstance(callable, ChipCallable) and not hasattr(callable, "__call__"):
            raise TypeError(f"register: a {type(callable).__name__} cannot be called")
        self._registered.append(callable)
        return len(self._registered) - 1

    def init(self):
        """Opens the cards, on the process's machine or on one that is made.

        Raises:
            RuntimeError: it is initialised, or closed.
            ValueError: the process has a machine of another configuration.
            Error: `ErrorCode.NOT_FOUND`, there is no such card; `ErrorCode.BUSY`, somebody else of
                this process has it.
        """
        if self._state != "new":
            raise RuntimeError(f"init: the worker is {self._state}")
        machine = current_simulator()
        config = self._config or (machine.config if machine is not None
                                  else configuration_of("a2a3", self._wanted_cards))
        binaries = RuntimeBuilder(config).get_binaries()
        try:
            self._open(binaries)
        except BaseException:
            self._close_cards()
            raise
        self._state = "initialised"

    def _open(self, binaries):
        first = ChipWorker()
        first.init(binaries.host_path, binaries.aicpu_path, binaries.aicore_path,
                   binaries.sim_context_path)
        self._cards.append(first)
        if self._ids is None:
            self._ids = list(range(current_simulator().device_count))
        for _ in self._ids[1:]:
            self._cards.append(ChipWorker())
            self._cards[-1].init(binaries.host_path, binaries.aicpu_path, binaries.aicore_path)
        for card, number in zip(self._cards, self._ids):
            card.set_device(number)
        if self._level == _HOST:
            self._scheduler = CardScheduler(first._simulator, self._cards)

    def run(self, callable, args=None, config=None, **overrides):  # pylint: disable=redefined-builtin
        """Runs to the end: a callable on the card, or a function that submits tasks to the cards.

        Args:
            callable: of level 2: a `ChipCallable`. Of level 3: a function of an `Orchestrator`,
                `args` and `config`.
            args: of level 2: as `ChipWorker.run()` takes it. Of level 3: the function's own.
            config: of level 2: a `ChipCallConfig`, or None. Of level 3: the function's own.
            overrides: of level 2: attributes of the configuration for this run alone.

        Raises:
            RuntimeError: before init(), after close(); a function of the host's has failed.
            TypeError: of level 3: it cannot be called, or there are overrides.
            Error: a task has failed: `context` names it and its card. Tasks that do not need it have
                run to their end, and the worker stays usable.
        """
        if self._state != "initialised":
            raise RuntimeError(f"run: the worker is {self._state}; call init() first")
        if self._level == _CHIP:
            self._cards[0].run(callable, args, config, **overrides)
            return
        if overrides or isinstance(callable, ChipCallable) or not hasattr(callable, "__call__"):
            raise TypeError("run: a worker of level 3 runs a function of an Orchestrator, args, config")
        orchestrator = Orchestrator(self._scheduler, self._cards, self._registered,
                                    self._sub_workers)
        scheduler, session = self._scheduler, self._cards[0]._simulator._session
        self._rows, raised, failed = [], None, None
        try:
            try:
                callable(orchestrator, args, config)
            except Exception as error:  # pylint: disable=broad-except; raised again below
                raised = error
            if raised is None or not session.ended:
                self._rows, failed = scheduler.drain()
        except BaseException:
            if not session.ended:  # a signal's handler, which may have raised anywhere
                scheduler.abandon()
            raise
        if raised is not None or failed is not None:
            raise raised or failed

    def last_run(self):
        """What the last `run()` has left, also one that has failed.

        Of level 2: as `ChipWorker.last_run()`. Of level 3 a list of `dict`, one for each task, and
        for each card of a group, in the order of their submission: task (its number), name, worker
        and device (None of the host's), begun_ps and ended_ps (simulated; None if it was not run),
        waits_for (numbers of tasks), outcome ("done", "failed", "not run"), and run: what
        `ChipWorker.last_run()` says of it.

        Raises:
            RuntimeError: before init(), after close().
        """
        if self._state != "initialised":
            raise RuntimeError(f"last_run: the worker is {self._state}; call init() first")
        return self._cards[0].last_run() if self._level == _CHIP else list(self._rows)

    def close(self):
        """Gives the cards back. The worker cannot be used any more. Idempotent."""
        self._state = "closed"
        self._scheduler = None
        self._close_cards()

    def _close_cards(self):
        cards, self._cards = self._cards, []
        for card in cards:
            if card.initialized and not card._simulator._session.ended:
                card.finalize()
