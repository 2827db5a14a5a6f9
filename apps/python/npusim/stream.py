# SPDX-License-Identifier: Apache-2.0
"""Copies by the card's DMA engines: streams, events, tickets."""

from . import _npusim
from .memory import DeviceMemory, HostMemory

_NEVER = -1


def _ps(timeout_ns):
    return _NEVER if timeout_ns is None else int(timeout_ns) * 1000


class Event:
    """What copies of several streams count up at their ends: `Device.event()` makes it.

    An event that has seen a fault reports it in every later wait: take another one then.
    """

    def __init__(self, device):
        self._native = _npusim.Event(device._ready())
        self._last = None

    def __repr__(self):
        return f"<npusim.Event {self._native.id}>"

    @property
    def id(self):
        """The event's number on the card: `int`."""
        return self._native.id

    def done(self):
        """Whether all copies that were given this event are done: `bool`; True if there are none.

        Raises:
            Error: as `Ticket.done()`.
        """
        return self._last is None or self._last.done()

    def wait(self, policy="adaptive", timeout_ns=None):
        """Returns when all copies that were given this event are done.

        Args:
            policy, timeout_ns: as those of `Ticket.wait()`.

        Raises:
            ValueError, Error: as `Ticket.wait()`.
        """
        if self._last is not None:
            self._last.wait(policy, timeout_ns)


class Ticket:
    """A copy in flight: `Stream.copy()` returns it. Also stands for all before it in the stream."""

    def __init__(self, native):
        self._native = native

    def __repr__(self):
        return f"<npusim.Ticket of {self.submitted} ps>"

    @property
    def submitted(self):
        """When the copy was submitted: `int`, in ps since power-up."""
        return self._native.submitted

    def done(self):
        """One look, without waiting: `bool`.

        Raises:
            Error: `ErrorCode.DEVICE_FAULT`, the copy or one before it has failed.
        """
        return self._native.done()

    def wait(self, policy="adaptive", timeout_ns=None):
        """Returns when the copy is done.

        Args:
            policy: "polling", "interrupt", "adaptive": chosen from what the stream has shown.
            timeout_ns: simulated ns; None: no end.

        Raises:
            ValueError: an unknown policy.
            Error: `ErrorCode.TIMEOUT`; `ErrorCode.DEVICE_FAULT`; `ErrorCode.UNSUPPORTED`,
                "interrupt" on a stream without.
        """
        self._native.wait(policy, _ps(timeout_ns))


class Stream:
    """Copies that the card does one after the other: `Device.stream()` makes it.

    Closed by `close()`, at the end of a `with`, or when nobody holds it.
    """

    def __init__(self, device, interrupt):
        self._device = device
        self._native = _npusim.Stream(device._ready(), bool(interrupt))
        self._last = None

    def __repr__(self):
        return f"<npusim.Stream {self._native.id} of device {self._device.index}>"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def id(self):
        """The stream's number on the card: `int`."""
        return self._native.id

    def copy(self, destination, source, nbytes=None, destination_offset=0, source_offset=0,
             event=None):
        """Submits a copy; it is done when the `Ticket` that is returned says so.

        The buffers must stay as they are until then; the ticket does not hold them.

        Args:
            destination, source: `DeviceMemory` or `HostMemory`, at least one of them a card's.
            nbytes: None: what there is of the smaller one behind its offset.
            destination_offset, source_offset: in bytes.
            event: an `Event` that counts the copy; None: the stream's own.

        Raises:
            TypeError: other objects, or both are the host's.
            ValueError: the range is not inside of the memory, or there is nothing to copy.
            Error: `ErrorCode.QUEUE_FULL`, and what the driver says.
        """
        ends = []
        for what in (source, destination):
            if not isinstance(what, (DeviceMemory, HostMemory)):
                raise TypeError(f"a copy of {type(what).__name__}: DeviceMemory or HostMemory")
            ends.append("d" if isinstance(what, DeviceMemory) else "h")
        direction = f"{ends[0]}2{ends[1]}"
        if direction == "h2h":
            raise TypeError("a copy from host to host is none of the card's")
        if nbytes is None:
            nbytes = min(source.nbytes - source_offset, destination.nbytes - destination_offset)
        addresses = [_address(source, source_offset, nbytes),
                     _address(destination, destination_offset, nbytes)]
        self._device._ready()
        native = None if event is None else event._native
        ticket = Ticket(self._native.submit(direction, *addresses, nbytes, native))
        if event is None:
            self._last = ticket
        else:
            event._last = ticket
        return ticket

    def synchronize(self, policy="adaptive", timeout_ns=None):
        """Returns when all copies of the stream are done that were given no event.

        Args:
            policy, timeout_ns: as those of `Ticket.wait()`.

        Raises:
            ValueError, Error: as `Ticket.wait()`.
        """
        if self._last is not None:
            self._last.wait(policy, timeout_ns)

    def close(self, timeout_ns=None):
        """Waits for the stream's copies and gives it back. Idempotent.

        Args:
            timeout_ns: simulated ns; None: no end.

        Raises:
            Error: `ErrorCode.TIMEOUT`; the stream is still there.
        """
        self._native.close(_ps(timeout_ns))


def _address(memory, offset, size):
    if offset < 0 or size <= 0 or offset + size > memory.nbytes:
        raise ValueError(
            f"{size} bytes from byte {offset} are not inside of {memory.nbytes} bytes")
    if isinstance(memory, DeviceMemory):
        return memory.address + offset
    return memory.bus_address + offset
