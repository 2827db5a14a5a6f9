# SPDX-License-Identifier: Apache-2.0
"""What a `ChipWorker` is given: types, tensors, arguments, callables, configuration."""

import ctypes
import enum
import struct

MAX_DIMENSIONS = 5
MAX_TENSORS = 256
MAX_SCALARS = 128
ALIGNMENT = 64  # of children in a ChipCallable's buffer


class DataType(enum.IntEnum):
    """What an element of a tensor is; `get_element_size()` has the sizes."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    INT16 = 3
    INT8 = 4
    UINT8 = 5
    BFLOAT16 = 6
    INT64 = 7
    UINT64 = 8


_SIZES = {DataType.FLOAT32: 4, DataType.FLOAT16: 2, DataType.INT32: 4, DataType.INT16: 2,
          DataType.INT8: 1, DataType.UINT8: 1, DataType.BFLOAT16: 2, DataType.INT64: 8,
          DataType.UINT64: 8}


def get_element_size(dtype):
    """The size of an element in bytes: `int`.

    Args:
        dtype: a `DataType`, or its number.

    Raises:
        ValueError: there is no such type.
    """
    return _SIZES[DataType(dtype)]


def get_dtype_name(dtype):
    """The name of a type: `str`, "FLOAT32".

    Args:
        dtype: a `DataType`, or its number.

    Raises:
        ValueError: there is no such type.
    """
    return DataType(dtype).name


def scalar_to_uint64(value):
    """The 64 bits that a scalar is passed as: `int`.

    Args:
        value: a float (also NumPy's, ctypes') is passed as the bits of an fp32, an integer as it
            is, in two's complement.

    Raises:
        TypeError: it is no number.
    """
    if isinstance(value, ctypes._SimpleCData):
        value = value.value
    if hasattr(value, "dtype"):  # NumPy's
        value = value.item()
    if isinstance(value, float):
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if not isinstance(value, int):
        raise TypeError(f"a scalar of type {type(value).__name__}")
    return value & 0xFFFF_FFFF_FFFF_FFFF


class ContinuousTensor:
    """A tensor whose elements lie one after the other: `make()` makes it."""

    __slots__ = ("_data", "_shapes", "_dtype", "_child_memory")

    @staticmethod
    def make(data, shapes, dtype, child_memory=False):
        """A tensor: a `ContinuousTensor`.

        Args:
            data: address of the first element: `int`. Of this process' memory, which must stay
                where it is until the run is over, or of the card's, from `ChipWorker.malloc()`.
            shapes: 1 to 5 dimensions, each at least 1.
            dtype: a `DataType`.
            child_memory: the address is the card's: nothing is copied.

        Raises:
            ValueError: shapes or type cannot be.
        """
        tensor = ContinuousTensor()
        shapes = tuple(int(each) for each in shapes)
        if not 1 <= len(shapes) <= MAX_DIMENSIONS or min(shapes) < 1:
            raise ValueError(f"shapes: found {shapes}; allowed: 1 to {MAX_DIMENSIONS} dimensions, "
                             "each at least 1")
        tensor._data = int(data)
        tensor._shapes = shapes
        tensor._dtype = DataType(dtype)
        tensor._child_memory = bool(child_memory)
        return tensor

    def __repr__(self):
        where = "card" if self._child_memory else "host"
        return (f"ContinuousTensor(data={self._data:#x}, shapes={self._shapes}, "
                f"dtype={self._dtype.name}, {where})")

    @property
    def data(self):
        """The address of the first element: `int`."""
        return self._data

    @property
    def shapes(self):
        """The dimensions: a tuple of `int`."""
        return self._shapes

    @property
    def ndims(self):
        """How many dimensions there are: `int`."""
        return len(self._shapes)

    @property
    def dtype(self):
        """What an element is: a `DataType`."""
        return self._dtype

    @property
    def child_memory(self):
        """Whether the address is the card's: `bool`."""
        return self._child_memory

    def nbytes(self):
        """The size in bytes: `int`."""
        size = get_element_size(self._dtype)
        for each in self._shapes:
            size *= each
        return size


class TensorArgType(enum.IntEnum):
    """What a task does with a tensor; the tags of `TaskArgs`."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4


class ChipStorageTaskArgs:
    """Arguments of a run: tensors first, then scalars."""

    def __init__(self):
        self._tensors = []
        self._scalars = []

    def __repr__(self):
        return (f"<npusim.{type(self).__name__} of {self.tensor_count()} tensors, "
                f"{self.scalar_count()} scalars>")

    def __len__(self):
        return len(self._tensors) + len(self._scalars)

    def add_tensor(self, tensor):
        """Adds a tensor behind those that there are.

        Args:
            tensor: a `ContinuousTensor`.

        Raises:
            RuntimeError: there are scalars already, or 256 tensors.
            TypeError: it is no tensor.
        """
        if not isinstance(tensor, ContinuousTensor):
            raise TypeError(f"a tensor of type {type(tensor).__name__}")
        if self._scalars:
            raise RuntimeError("add_tensor: all tensors come before the first scalar")
        if len(self._tensors) == MAX_TENSORS:
            raise RuntimeError(f"add_tensor: there are {MAX_TENSORS} tensors, and no more can be")
        self._tensors.append(tensor)

    def add_scalar(self, value):
        """Adds a scalar behind those that there are.

        Args:
            value: as `scalar_to_uint64()` takes it.

        Raises:
            RuntimeError: there are 128 scalars.
            TypeError: it is no number.
        """
        if len(self._scalars) == MAX_SCALARS:
            raise RuntimeError(f"add_scalar: there are {MAX_SCALARS} scalars, and no more can be")
        self._scalars.append(scalar_to_uint64(value))

    def tensor(self, i):
        """A tensor: a `ContinuousTensor`.

        Args:
            i: 0 .. tensor_count() - 1.

        Raises:
            IndexError: there is no such tensor.
        """
        return self._tensors[_checked(i, len(self._tensors))]

    def scalar(self, i):
        """A scalar's 64 bits: `int`.

        Args:
            i: 0 .. scalar_count() - 1.

        Raises:
            IndexError: there is no such scalar.
        """
        return self._scalars[_checked(i, len(self._scalars))]

    def tensor_count(self):
        """How many tensors there are: `int`."""
        return len(self._tensors)

    def scalar_count(self):
        """How many scalars there are: `int`."""
        return len(self._scalars)

    def clear(self):
        """Takes all arguments away: tensors may be added again."""
        self._tensors.clear()
        self._scalars.clear()


class TaskArgs(ChipStorageTaskArgs):
    """Arguments of a run whose tensors have tags (`TensorArgType`).

    With it the tags say what is copied to the card and back, in place of the callable's signature:
    INPUT to it, OUTPUT from it, INOUT and OUTPUT_EXISTING both, NO_DEP to it.
    """

    def __init__(self):
        super().__init__()
        self._tags = []

    def add_tensor(self, tensor, tag=TensorArgType.INPUT):
        """Adds a tensor behind those that there are.

        Args:
            tensor: a `ContinuousTensor`.
            tag: a `TensorArgType`.

        Raises:
            RuntimeError: there are scalars already, or 256 tensors.
            TypeError: it is no tensor.
            ValueError: there is no such tag.
        """
        tag = TensorArgType(tag)
        super().add_tensor(tensor)
        self._tags.append(tag)

    def tag(self, i):
        """A tensor's tag: a `TensorArgType`.

        Args:
            i: 0 .. tensor_count() - 1.

        Raises:
            IndexError: there is no such tensor.
        """
        return self._tags[_checked(i, len(self._tags))]

    def set_tag(self, i, tag):
        """Gives a tensor another tag.

        Args:
            i: 0 .. tensor_count() - 1.
            tag: a `TensorArgType`.

        Raises:
            IndexError: there is no such tensor.
            ValueError: there is no such tag.
        """
        self._tags[_checked(i, len(self._tags))] = TensorArgType(tag)

    def clear(self):
        """Takes all arguments away: tensors may be added again."""
        super().clear()
        self._tags.clear()


def _checked(i, count):
    if not 0 <= i < count:
        raise IndexError(f"index {i}: there are {count}")
    return i
