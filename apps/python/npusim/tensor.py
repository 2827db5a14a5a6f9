# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a card, which operators take and return without a copy."""

import math
import operator

import numpy

from .blocks import Block
from .plain_bytes import bytes_of, bytes_to_fill, plain_dtype


class Tensor:
    """An array in the memory of a card: `tensor()`, `empty()` and operators of `npusim.ops` make it.

    An operator that takes a Tensor returns one, and copies nothing of them. The bytes are on the card:
    `numpy()` copies them to the host, `write()` copies to the card, both in simulated time; nothing
    else does. It lies without gaps, in C order. Its memory goes to the next tensor of its size when nobody
    holds it.

    Args:
        device: the card it is on.
        shape: its sides.
        dtype: one of NumPy's types; uint16 are the bits of bfloat16.
        block: memory that it shares with another one; None: its own.
    """

    def __init__(self, device, shape, dtype, block=None):
        self._shape = tuple(operator.index(side) for side in shape)
        self._dtype = plain_dtype(dtype)
        if any(side < 0 for side in self._shape):
            raise ValueError(f"shape: found {self._shape}; allowed: no side below 0")
        if self.nbytes >= 1 << 63:
            raise ValueError(f"shape: found {self._shape}; allowed: fewer than 2^63 bytes")
        self._block = block or Block(device, self.nbytes)

    def __repr__(self):
        return f"<npusim.Tensor {self._shape} of {self._dtype.name} on device {self.device.index}>"

    def __len__(self):
        if not self._shape:
            raise TypeError("a tensor without dimensions has no length")
        return self._shape[0]

    def __array__(self, *_, **__):
        raise TypeError("a Tensor is on the card: numpy() copies it")

    def __bytes__(self):
        """A copy of the bytes on the host. A memoryview of it is one of `numpy()`."""
        return self.numpy().tobytes()

    def __bool__(self):
        raise TypeError("a Tensor is on the card: numpy() copies it")

    def __reduce__(self):
        raise TypeError("memory of a card cannot be copied or pickled")

    @property
    def device(self):
        """The card it is on: a `Device`."""
        return self._block.device

    @property
    def address(self):
        """The device address of the first byte: `int`."""
        return self._block.address

    @property
    def shape(self):
        """Its sides: a tuple of `int`."""
        return self._shape

    @property
    def ndim(self):
        """How many dimensions: `int`."""
        return len(self._shape)

    @property
    def size(self):
        """How many elements: `int`."""
        return math.prod(self._shape)

    @property
    def dtype(self):
        """NumPy's type of the elements; uint16 are the bits of bfloat16."""
        return self._dtype

    @property
    def nbytes(self):
        """The size in bytes: `int`."""
        return self.size * self._dtype.itemsize

    def numpy(self):
        """A copy on the host: an array.

        Raises:
            Error: what the driver says.
            RuntimeError: a graph fills it, and has not run.
        """
        self._check_filled()
        array = numpy.empty(self._shape, self._dtype)
        if self.nbytes:
            self.device._ready().read(bytes_to_fill(array), self.address)
        return array

    def _check_filled(self):
        if self.nbytes and not self._block.filled:
            raise RuntimeError("the tensor is of a graph that has not run: OperatorGraph.run() fills it")

    def write(self, data):
        """Copies to the card; returns when the bytes are there.

        Args:
            data: an array of the same shape and type.

        Raises:
            ValueError: another shape or type.
            Error: what the driver says.
        """
        array = numpy.asarray(data)
        if array.shape != self._shape or array.dtype != self._dtype:
            raise ValueError(f"data: found {array.shape} of {array.dtype.name}; allowed: {self._shape} of "
                             f"{self._dtype.name}")
        if self.nbytes:
            self.device._ready().write(self.address, bytes_of(array))
            self._block.filled = True

    def reshape(self, *shape):
        """The same elements in another shape, without a copy: a Tensor of the same memory.

        Args:
            shape: sides, or one tuple of them; one may be -1, which is what is left.

        Raises:
            ValueError: another number of elements.
        """
        sides = shape[0] if len(shape) == 1 and hasattr(shape[0], "__iter__") else shape
        sides = asked = [operator.index(side) for side in sides]
        if sides.count(-1) == 1:
            sides = list(asked)
            known = math.prod(side for side in sides if side != -1)
            if not known:
                raise ValueError(f"shape: found {tuple(asked)}; allowed: {self.size} elements, no -1 beside a 0")
            sides[sides.index(-1)] = self.size // known
        if min(sides, default=0) < 0 or math.prod(sides) != self.size:
            raise ValueError(f"shape: found {tuple(asked)}; allowed: {self.size} elements")
        return Tensor(self.device, sides, self._dtype, self._block)

    def view(self, dtype):
        """The same bytes as elements of another type of the same size, without a copy.

        Args:
            dtype: one of NumPy's types.

        Raises:
            ValueError: another size.
        """
        dtype = plain_dtype(dtype)
        if dtype.itemsize != self._dtype.itemsize:
            raise ValueError(f"dtype: found {dtype.name}; allowed: types of {self._dtype.itemsize} bytes")
        return Tensor(self.device, self._shape, dtype, self._block)

    def __dlpack__(self, **options):
        """A copy on the host for other libraries, by DLPack."""
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU


def _device_of(device):
    from .simulator import current_simulator
    if device is not None:
        return device
    simulator = current_simulator()
    if simulator is None:
        raise RuntimeError("no machine: make an npusim.Simulator first, and keep it")
    return simulator._default_device()


def tensor(data, dtype=None, *, device=None):
    """A Tensor with a copy of `data`.

    Args:
        data: an array, numbers in lists, or an object with `__dlpack__()` on the host.
        dtype: one of NumPy's types; None: that of `data`.
        device: a `Device`; None: card 0.

    Raises:
        ValueError: it holds references to Python's objects, text or dates.
        Error: `ErrorCode.OUT_OF_MEMORY`.
    """
    if not isinstance(data, numpy.ndarray) and hasattr(data, "__dlpack__"):
        data = numpy.from_dlpack(data)
    array = numpy.asarray(data, dtype)
    if array.dtype.kind in "SUMm":
        raise ValueError(f"data: found {array.dtype}; allowed: numbers and truth values")
    made = Tensor(_device_of(device), array.shape, array.dtype.newbyteorder("="))
    made.write(array.astype(made.dtype, copy=False))
    return made


def from_dlpack(x, *, device=None):
    """A Tensor with a copy of an array of another library, by DLPack.

    Args:
        x: an object with `__dlpack__()` on the host.
        device: a `Device`; None: card 0.

    Raises:
        TypeError: it has none.
        Error: `ErrorCode.OUT_OF_MEMORY`.
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"x: found a {type(x).__name__}; allowed: an object with __dlpack__()")
    return tensor(numpy.from_dlpack(x), device=device)


def empty(shape, dtype="float32", *, device=None):
    """A Tensor with arbitrary contents.

    Args:
        shape: a tuple, or one side.
        dtype: one of NumPy's types.
        device: a `Device`; None: card 0.

    Raises:
        Error: `ErrorCode.OUT_OF_MEMORY`.
    """
    sides = shape if hasattr(shape, "__iter__") else (shape,)
    return Tensor(_device_of(device), sides, dtype)
