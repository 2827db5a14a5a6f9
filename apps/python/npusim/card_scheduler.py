# SPDX-License-Identifier: Apache-2.0
"""The scheduler of a level-3 worker: hands tasks whose inputs are ready to cards that are idle."""

import collections

from . import _npusim
from .errors import Error
from .tensor_uses import TensorUses

ANY = -1  # whichever card is idle first


class CardTask:
    """What the orchestrator has submitted: parts that run on a card each, or a call of the host's."""

    def __init__(self, name, ranges, parts=(), function=None, chip=False):
        self.name = name
        self.chip = chip  # a card has more to say of it: `ChipWorker.last_run()`
        self.never = False
        self.ranges = ranges
        self.parts = list(parts)  # of a card's number, or ANY, and what begins it there
        self.function = function
        self.number = None
        self.waits_for = []
        self.missing = 0  # of those that it waits for
        self.left = len(self.parts)
        self.followers = []
        self.over = False  # has ended, or never begins
        self.error = None
        self.value = 0
        self.rows = []  # of `Worker.last_run()`

    @property
    def ended(self):
        """It has ended well: `bool`."""
        return self.over and self.error is None


class CardScheduler:
    """Tasks over cards, in simulated time.

    A card runs a task at a time; tasks that are ready begin in the order of their submission. What
    the scheduler itself does takes no simulated time; what the driver does for it, on each card's
    own task of the host, does.
    """

    def __init__(self, simulator, cards):
        self._simulator = simulator
        self._cards = cards
        self._work = _npusim.CardWork(simulator._session)
        self._idle = set(range(len(cards)))
        self._ready = collections.deque()  # of a task, a card's number and what begins it there
        self._calls = collections.deque()  # tasks of the host's that are ready
        self._in_flight = {}  # by the number of the work: task, card, when it was sent
        self._begin_anew()

    def _begin_anew(self):
        self._uses = TensorUses()
        self._tasks = []

    def submit(self, task):
        """Takes a `CardTask`; it begins as soon as it can."""
        task.number = len(self._tasks)
        self._tasks.append(task)
        task.waits_for = self._uses.add(task, task.ranges)
        for other in task.waits_for:
            if not other.over:
                task.missing += 1
                other.followers.append(task)
        failed = next((each for each in task.waits_for if each.over and each.error), None)
        if failed is not None:
            self._never(task, failed)
        elif task.missing == 0:
            self._make_ready(task)
        self._dispatch()

    def finish(self, task):
        """Lets the machine run until a task is over; its value. Raises what it has failed with."""
        while not task.over:
            self._serve()
        if task.error is not None:
            raise task.error
        return task.value

    def drain(self):
        """Lets the machine run until all are over: the rows of `Worker.last_run()`, and the first
        error or None. Then there are no tasks."""
        while not all(task.over for task in self._tasks):
            self._serve()
        tasks = self._tasks
        self._begin_anew()
        errors = [task.error for task in tasks if task.error is not None and not task.never]
        return [row for task in tasks for row in task.rows], (errors or [None])[0]

    def abandon(self):
        """Lets what is in flight end, and forgets it and all that has not begun."""
        self._ready.clear()
        self._calls.clear()
        while self._work.wait():
            pass
        self._in_flight.clear()
        self._idle = set(range(len(self._cards)))
        for card in self._cards:
            card._forget()
        self._begin_anew()

    def _make_ready(self, task):
        if task.function is not None:
            self._calls.append(task)
        for card, begin in task.parts:
            self._ready.append((task, card, begin))

    def _never(self, task, failed):
        task.over = task.never = True
        task.error = RuntimeError(f"{task.name} is not run: {failed.name} has failed")
        task.rows.append(self._row(task, None, None, None, "not run"))
        for follower in task.followers:
            if not follower.over:
                self._never(follower, task)

    def _dispatch(self):
        while self._calls or self._start_one():
            if self._calls:
                self._call(self._calls.popleft())

    def _start_one(self):
        """Begins the first part that can: `bool`."""
        for at, (task, card, begin) in enumerate(self._ready):
            if card == ANY and self._idle:
                card = min(self._idle)
            if card not in self._idle:
                continue
            del self._ready[at]
            if task.error is not None:  # another of its parts has failed
                self._end_part(task)
                return True
            try:
                number = begin(self._work, self._cards[card])
            except (ValueError, TypeError, Error) as error:
                self._fail(task, card, error)
                self._end_part(task)
                return True
            self._idle.remove(card)
            self._in_flight[number] = (task, card)
            return True
        return False

    def _call(self, task):
        now = self._simulator.now
        try:
            task.function()
        except Exception as error:  # pylint: disable=broad-except; a caller's own
            text = f"{task.name}: {type(error).__name__}: {error}"
            task.error = RuntimeError(text)
            task.error.__cause__ = error
        outcome = "done" if task.error is None else "failed"
        task.rows.append(self._row(task, None, now, self._simulator.now, outcome))
        self._end(task)

    def _serve(self):
        ended = self._work.wait()
        if not ended:
            raise RuntimeError("the scheduler waits for a task that nobody runs")
        for number, value, begun, over, code, context in ended:
            task, card = self._in_flight.pop(number)
            self._idle.add(card)
            task.value = value
            if code is not None:
                self._fail(task, card, Error(code, context))
            outcome = "done" if code is None else "failed"
            task.rows.append(self._row(task, card, begun, over, outcome))
            self._end_part(task)
        self._dispatch()

    def _fail(self, task, card, error):
        self._cards[card]._forget()
        where = f"{task.name} on device {self._cards[card].device_id}"
        if isinstance(error, Error):
            found = Error(error.code, f"{where}: {error.context}")
        else:
            found = type(error)(f"{where}: {error}")
        task.error = task.error or found

    def _end_part(self, task):
        task.left -= 1
        if task.left == 0:
            self._end(task)

    def _end(self, task):
        task.over = True
        for follower in task.followers:
            follower.missing -= 1
            if follower.over:
                continue
            if task.error is not None:
                self._never(follower, task)
            elif follower.missing == 0:
                self._make_ready(follower)

    def _row(self, task, card, begun, ended, outcome):
        row = {"task": task.number, "name": task.name, "worker": card,
               "device": None if card is None else self._cards[card].device_id,
               "begun_ps": begun, "ended_ps": ended,
               "waits_for": [each.number for each in task.waits_for], "outcome": outcome}
        if card is not None and task.chip:
            row["run"] = self._cards[card].last_run()
        return row
