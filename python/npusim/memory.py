# SPDX-License-Identifier: Apache-2.0
"""Memory of cards and of the host."""

import math
import operator

import numpy

from . import _npusim
from .plain_bytes import bytes_of, bytes_to_fill, plain_dtype


def _size_of(size):
    size = operator.index(size)
    if size < 0:
        raise ValueError(f"size: found {size}; allowed: 1 or more")
    return size


def _shape_of(shape, nbytes, dtype):
    """A tuple; without a shape all that fits into `nbytes`."""
    if shape is None:
        return (max(nbytes, 0) // dtype.itemsize,)
    sides = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    sides = tuple(operator.index(side) for side in sides)
    if any(side < 0 for side in sides):
        raise ValueError(f"shape: found {sides}; allowed: no side below 0")
    return sides


class DeviceMemory:
    """Memory of a card: `Device.allocate()` makes it.

    Its bytes are on the card, so it has no buffer of its own: `write()` and `read()` copy, which
    takes simulated time. It is freed by `free()`, at the end of a `with`, or when nobody holds it.
    """

    def __init__(self, device, size):
        self._device = device
        self._size = _size_of(size)
        self._address = device._card.allocate(self._size)
        device._memories.add(self)

    def __repr__(self):
        state = f"{self._address:#x}" if self._address else "freed"
        return f"<npusim.DeviceMemory {self._size} bytes, {state}>"

    def __len__(self):
        return self._size

    def __reduce__(self):
        raise TypeError("memory of a card cannot be copied or pickled")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()

    def __del__(self):
        address, self._address = getattr(self, "_address", 0), 0
        if address and not self._device.closed:
            self._device._forgotten.append(address)

    @property
    def address(self):
        """The device address of the first byte: `int`. Raises ValueError after `free()`.

        No other card of the machine has it while this memory is there.
        """
        if not self._address:
            raise ValueError("the memory is freed")
        return self._address

    @property
    def nbytes(self):
        """The size in bytes, as it was asked for: `int`."""
        return self._size

    def _at(self, offset, size):
        offset = operator.index(offset)
        if offset < 0 or size < 0 or offset + size > self._size:
            raise ValueError(
                f"{size} bytes from byte {offset} are not inside of {self._size} bytes")
        return self.address + offset

    def write(self, data, offset=0):
        """Copies to the card; returns when the bytes are there.

        Args:
            data: any object with a buffer (array of any shape and dtype, bytes, HostMemory); the
                bytes in C order. An array that is not contiguous is copied first.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: it does not fit, it holds references to Python's objects, or the memory is
                freed.
            Error: what the driver says.
        """
        data = bytes_of(data)
        size = memoryview(data).nbytes
        address = self._at(offset, size)
        if size:
            self._device._ready().write(address, data)

    def read(self, nbytes=None, offset=0):
        """The bytes on the card: `bytes`.

        Args:
            nbytes: how many; None: all from `offset` on.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: there are not so many, or the memory is freed.
            Error: what the driver says.
        """
        offset = operator.index(offset)
        nbytes = self._size - offset if nbytes is None else operator.index(nbytes)
        self._at(offset, nbytes)
        data = bytearray(nbytes)
        self.read_into(data, offset)
        return bytes(data)

    def read_into(self, target, offset=0):
        """Copies from the card into `target`.

        Args:
            target: a writable contiguous object with a buffer; all of it is filled.
            offset: of the first byte on the card, in bytes.

        Raises:
            ValueError: there are not so many bytes, `target` holds references to Python's objects,
                or the memory is freed.
            BufferError: `target` is read-only or not contiguous.
            Error: what the driver says.
        """
        target = bytes_to_fill(target)
        size = memoryview(target).nbytes
        address = self._at(offset, size)
        if size:
            self._device._ready().read(target, address)

    def to_numpy(self, dtype="uint8", shape=None, offset=0):
        """The bytes on the card as a new array.

        Args:
            dtype: any of NumPy's whose elements are bytes, and more than none: no objects.
            shape: a tuple or an int; None: one dimension with all from `offset` on.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: such a type, or shape; there are not so many bytes, or the memory is freed.
            TypeError: NumPy has no such type.
            Error: what the driver says.
        """
        dtype = plain_dtype(dtype)
        shape = _shape_of(shape, self._size - operator.index(offset), dtype)
        self._at(offset, math.prod(shape) * dtype.itemsize)
        array = numpy.empty(shape, dtype)
        self.read_into(array, offset)
        return array

    def free(self):
        """Gives the memory back. Idempotent.

        Raises:
            Error: what the driver says.
        """
        address, self._address = self._address, 0
        if address and not self._device.closed:
            self._device._ready().free(address)


class HostMemory:
    """Host memory that a card reaches by DMA: `Device.host_memory()` makes it.

    It has a writable buffer of bytes, without a copy: `numpy.asarray(memory)` and `array()` are
    views of it. It lives until neither it nor a view is held; a device cannot be closed before.
    """

    def __init__(self, device, size):
        self._device = device
        self._size = _size_of(size)
        self._native = _npusim.HostMemory(device._ready(), self._size)

    def __repr__(self):
        return f"<npusim.HostMemory {self._size} bytes>"

    def __len__(self):
        return self._size

    @property
    def __array_interface__(self):
        view = numpy.frombuffer(self._native, numpy.uint8)
        return dict(view.__array_interface__, owner=view)

    @property
    def nbytes(self):
        """The size in bytes: `int`."""
        return self._size

    @property
    def bus_address(self):
        """The address of the first byte as the card sees it: `int`."""
        return self._native.bus

    def view(self):
        """The bytes as a writable `memoryview`, without a copy."""
        return memoryview(self._native)

    def array(self, dtype="uint8", shape=None, offset=0):
        """The bytes as an array, without a copy.

        Args:
            dtype: any of NumPy's whose elements are bytes, and more than none: no objects.
            shape: a tuple or an int; None: one dimension with all from `offset` on.
            offset: of the first byte, in bytes.

        Raises:
            ValueError: such a type, or shape; there are not so many bytes.
            TypeError: NumPy has no such type.
        """
        dtype, offset = plain_dtype(dtype), operator.index(offset)
        shape = _shape_of(shape, self._size - offset, dtype)
        size = math.prod(shape) * dtype.itemsize
        if offset < 0 or offset + size > self._size:
            raise ValueError(
                f"{size} bytes from byte {offset} are not inside of {self._size} bytes")
        return numpy.ndarray(shape, dtype, numpy.frombuffer(self._native, numpy.uint8), offset)
