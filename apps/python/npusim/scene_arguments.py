# SPDX-License-Identifier: Apache-2.0
"""Arguments of scene tests: named arrays and numbers."""

import collections
import copy

import numpy

from .bfloat16 import from_bfloat16
from .callable import ArgDirection
from .task_interface import (ChipStorageTaskArgs, ContinuousTensor, DataType, TaskArgs,
                             TensorArgType, scalar_to_uint64)

# NumPy has no bfloat16: uint16 holds its bits.
_TYPES = {"float32": DataType.FLOAT32, "float16": DataType.FLOAT16, "uint16": DataType.BFLOAT16,
          "int64": DataType.INT64, "int32": DataType.INT32, "int16": DataType.INT16,
          "int8": DataType.INT8, "uint8": DataType.UINT8, "uint64": DataType.UINT64}
_TAGS = {ArgDirection.IN: TensorArgType.INPUT, ArgDirection.OUT: TensorArgType.OUTPUT_EXISTING,
         ArgDirection.INOUT: TensorArgType.INOUT}

Tensor = collections.namedtuple("Tensor", "name value")
Tensor.__doc__ = """A tensor of a scene test: its name, and a NumPy array as its value."""

Scalar = collections.namedtuple("Scalar", "name value")
Scalar.__doc__ = """A number of a scene test: its name, and a value as `scalar_to_uint64()` takes it."""


def make_tensor_arg(array):
    """A `ContinuousTensor` of an array, which must live until the run is over.

    Args:
        array: a NumPy array whose elements lie one after the other; uint16 holds bits of bfloat16.

    Raises:
        TypeError: it is no such array, or has elements that no tensor has.
    """
    if not isinstance(array, numpy.ndarray) or not array.flags.c_contiguous:
        what = "one with gaps" if isinstance(array, numpy.ndarray) else type(array).__name__
        raise TypeError(f"a tensor: found {what}; allowed: a NumPy array without gaps")
    if array.dtype.name not in _TYPES:
        raise TypeError(f"a tensor: found elements of {array.dtype}; allowed: {', '.join(_TYPES)}")
    return ContinuousTensor.make(array.ctypes.data, array.shape or (1,), _TYPES[array.dtype.name])


class TaskArgsBuilder:
    """The arguments of a scene test, in the order of the callable's words, with names.

    An array or a number is an attribute: ``args.x``.

    Args:
        specs: a `Tensor` or a `Scalar` each, tensors first.

    Raises:
        TypeError: neither of them; the value is none.
        ValueError: a name twice; a tensor behind a scalar.
    """

    def __init__(self, *specs):
        self._specs = []
        for spec in specs:
            self._add(spec)

    def _add(self, spec):
        if not isinstance(spec, (Tensor, Scalar)):
            raise TypeError(f"an argument: found {type(spec).__name__}; allowed: Tensor, Scalar")
        if any(each.name == spec.name for each in self._specs):
            raise ValueError(f"argument '{spec.name}': the name is there already")
        try:
            if isinstance(spec, Tensor):
                make_tensor_arg(spec.value)
            else:
                scalar_to_uint64(spec.value)
        except TypeError as error:
            raise TypeError(f"argument '{spec.name}': {error}") from None
        if isinstance(spec, Tensor) and any(isinstance(each, Scalar) for each in self._specs):
            raise ValueError(f"argument '{spec.name}': all tensors come before the first scalar")
        self._specs.append(spec)

    def __getattr__(self, name):
        for spec in self.__dict__.get("_specs", ()):
            if spec.name == name:
                return spec.value
        raise AttributeError(f"no argument '{name}'")

    @property
    def specs(self):
        """The arguments: a list of `Tensor` and `Scalar`."""
        return list(self._specs)

    def tensor_names(self):
        """The names of the tensors: a list of `str`."""
        return [spec.name for spec in self._specs if isinstance(spec, Tensor)]

    def add_tensor(self, name, value):
        """Adds a tensor behind those that there are.

        Args:
            name: its name.
            value: a NumPy array.

        Raises:
            TypeError: it is none.
            ValueError: the name is there; there are scalars.
        """
        self._add(Tensor(name, value))

    def add_scalar(self, name, value):
        """Adds a number behind those that there are.

        Args:
            name: its name.
            value: as `scalar_to_uint64()` takes it.

        Raises:
            TypeError: it is no number.
            ValueError: the name is there.
        """
        self._add(Scalar(name, value))

    def clone(self):
        """The same arguments, with arrays of their own: a `TaskArgsBuilder`."""
        return TaskArgsBuilder(*(type(spec)(spec.name, copy.deepcopy(spec.value))
                                 for spec in self._specs))

    def storage(self):
        """The arguments as a callable takes them: a `ChipStorageTaskArgs`."""
        return self._fill(ChipStorageTaskArgs(), None)

    def tagged(self, signature):
        """The arguments with tags: `TaskArgs`, as `Orchestrator.submit_next_level()` takes them.

        Args:
            signature: an `ArgDirection` for each tensor; OUT is OUTPUT_EXISTING.

        Raises:
            ValueError: it has fewer than there are tensors.
        """
        tags = [_TAGS[ArgDirection(each)] for each in signature
                if each is not ArgDirection.SCALAR]
        if len(tags) < len(self.tensor_names()):
            raise ValueError(f"signature: found {len(tags)} tensors; the arguments have "
                             f"{len(self.tensor_names())}")
        return self._fill(TaskArgs(), iter(tags))

    def _fill(self, args, tags):
        for spec in self._specs:
            if isinstance(spec, Scalar):
                args.add_scalar(spec.value)
            elif tags is None:
                args.add_tensor(make_tensor_arg(spec.value))
            else:
                args.add_tensor(make_tensor_arg(spec.value), next(tags))
        return args


def difference(found, golden, rtol, atol):
    """What differs between the tensors of two `TaskArgsBuilder`: one line, or ""."""
    lines = []
    for name in found.tensor_names():
        mine, right = (_numbers(getattr(each, name)) for each in (found, golden))
        if mine.shape != right.shape:
            lines.append(f"{name}: shape {mine.shape}, golden {right.shape}")
            continue
        wrong = ~numpy.isclose(mine, right, rtol=rtol, atol=atol, equal_nan=True)
        if wrong.any():
            at = tuple(int(each) for each in numpy.argwhere(wrong)[0])
            lines.append(f"{name}: {int(wrong.sum())} of {wrong.size} elements differ, the first is "
                         f"{name}{list(at)}: {mine[at]}, golden {right[at]}")
    return "; ".join(lines)


def _numbers(array):
    return from_bfloat16(array) if array.dtype == numpy.uint16 else array
