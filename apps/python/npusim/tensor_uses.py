# SPDX-License-Identifier: Apache-2.0
"""Which task of several cards waits for which: what they do with memory says it."""

import bisect

HOST = -1  # the space of the host's addresses; those of a card have its worker's number


class TensorUses:
    """The last uses of memory by tasks.

    A task that reads waits for who wrote there last; one that writes, for them and for those that
    have read since. Ranges count, not where they begin.
    """

    def __init__(self):
        self._spaces = {}

    def add(self, task, ranges):
        """Adds a task; those that it waits for, in the order of their numbers, each once.

        Args:
            task: has `number`, and `ended`, true when it has ended well.
            ranges: of space, begin, size, whether it reads and whether it writes.
        """
        used = [(self._spaces.setdefault(space, _Pieces()), begin, begin + size, writes)
                for space, begin, size, reads, writes in ranges if reads or writes]
        found = {}
        for pieces, begin, end, writes in used:
            for other in pieces.users(begin, end, writes):
                if not other.ended:
                    found[other.number] = other
        for pieces, begin, end, writes in sorted(used, key=lambda each: each[3]):
            pieces.write(begin, end, task) if writes else pieces.read(begin, end, task)
        return [found[number] for number in sorted(found)]


class _Pieces:
    """Ranges of one space that do not touch each other: of each, who wrote it and who read it since."""

    def __init__(self):
        self._begins = []
        self._pieces = {}  # by their begin: end, writer or None, readers

    def users(self, begin, end, with_readers):
        for at in self._within(begin, end):
            _, writer, readers = self._pieces[at]
            if writer is not None:
                yield writer
            if with_readers:
                yield from readers

    def read(self, begin, end, task):
        at = begin
        for known in self._within(begin, end):
            if at < known:
                self._insert(at, known, None, [task])
            self._pieces[known][2].append(task)
            at = self._pieces[known][0]
        if at < end:
            self._insert(at, end, None, [task])

    def write(self, begin, end, task):
        for known in self._within(begin, end):
            del self._pieces[known]
        first = bisect.bisect_left(self._begins, begin)
        self._begins[first:bisect.bisect_left(self._begins, end)] = [begin]
        self._pieces[begin] = (end, task, [])

    def _within(self, begin, end):
        """Begins of the pieces there; none of them goes beyond."""
        self._cut(begin)
        self._cut(end)
        return self._begins[bisect.bisect_left(self._begins, begin):
                            bisect.bisect_left(self._begins, end)]

    def _insert(self, begin, end, writer, readers):
        bisect.insort(self._begins, begin)
        self._pieces[begin] = (end, writer, readers)

    def _cut(self, place):
        at = bisect.bisect_left(self._begins, place) - 1
        if at < 0:
            return
        begin = self._begins[at]
        end, writer, readers = self._pieces[begin]
        if place < end:
            self._pieces[begin] = (place, writer, readers)
            self._insert(place, end, writer, list(readers))
