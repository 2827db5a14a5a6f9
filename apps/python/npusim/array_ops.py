# SPDX-License-Identifier: Apache-2.0
"""Operators that choose, reduce, turn and move elements: a part of `npusim.ops`, whose module says
what arrays, types and errors are."""

import operator

import numpy

from .operator_call import array_of, number_of, run
from .tensor_ops import _axis_of, _call, _indices_of, transpose


def _sides(shape, axis):
    outer, inner = (int(numpy.prod(sides, dtype="int64")) for sides in (shape[:axis], shape[axis + 1:]))
    return outer, shape[axis], inner


def _axis_last(x, axis, device):
    """The array with that axis behind the others."""
    if axis == x.ndim - 1:
        return x
    return transpose(x, [*range(axis), *range(axis + 1, x.ndim), axis], device=device)


def _place_of(name, x, axis, device):
    x = array_of(x, "x")
    x = x.reshape(-1) if axis is None else x
    axis = _axis_of(-1 if axis is None else axis, max(x.ndim, 1))
    x = _axis_last(x.reshape(x.shape or (1,)), axis, device)
    rows = int(numpy.prod(x.shape[:-1], dtype="int64"))
    call = _call(name, x, (rows, x.shape[-1]))
    return run(device, call, [x], x.shape[:-1], "int32")


def argmax(x, axis=None, *, device=None):
    """Where the largest element is, in int32; of equal ones the first, of what is no number that.

    Args:
        x: any type but int64. An axis of no elements has no largest one.
        axis: along which; None: in the flat array.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _place_of("argmax", x, axis, device)


def argmin(x, axis=None, *, device=None):
    """Where the smallest element is, in int32.

    Args:
        x, axis, device: as those of `argmax()`.

    Raises:
        ValueError, Error: see the module.
    """
    return _place_of("argmin", x, axis, device)


def top_k(x, k, *, largest=True, device=None):
    """The k largest elements along the last axis, in order, and their places in int32.

    Of equal ones the first one comes first. What is no number counts as the largest.

    Args:
        x: one dimension or more of any type but int64.
        k: at most as many as there are, and 1024.
        largest: False: the smallest ones.
        device: a `Device`; None: card 0.

    Returns:
        Values and places.

    Raises:
        ValueError, Error: see the module.
    """
    x, k = array_of(x, "x"), number_of(k, "k", operator.index)
    if x.ndim < 1 or not 0 <= k <= x.shape[-1]:
        raise ValueError(f"top_k: found k = {k} of {x.shape}; allowed: 0 to the last side")
    rows = int(numpy.prod(x.shape[:-1], dtype="int64"))
    call = _call("top_k" if largest else "bottom_k", x, (rows, x.shape[-1], k))
    shape = (*x.shape[:-1], k)
    return tuple(run(device, call, [x], shape, call.dtype, others=[(shape, "int32")]))


def reduce(x, how, axis=None, outDType=None, *, keepdims=False, device=None):
    """Axes brought together.

    Args:
        x: any type but int64.
        how: "sum", "mean" (of reals), "max", "min" or "prod". Sums and products of reals are made in
            float32, of integers in int32. Largest and smallest ones are no number if one of them is.
        axis: one axis or several; None: all. Axes that do not lie side by side are brought together
            by a transposition first.
        outDType: of the result; None: that of x, int32 of sums and products of int8.
        keepdims: the axes stay, of one element each.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x")
    if how not in ("sum", "mean", "max", "min", "prod"):
        raise ValueError(f"how: found {how!r}; allowed: sum, mean, max, min, prod")
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = sorted(_axis_of(each, x.ndim) for each in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"axis: found {axis}; allowed: each axis once")
    kept = [each for each in range(x.ndim) if each not in axes]
    shape = [1 if each in axes else side for each, side in enumerate(x.shape)]
    result = shape if keepdims else [x.shape[each] for each in kept]
    if axes and axes[-1] - axes[0] + 1 != len(axes):
        x = transpose(x, [*kept, *axes], device=device)
        axes = range(len(kept), x.ndim)
    first, count = (axes[0], len(axes)) if axes else (x.ndim, 0)
    sides = [int(numpy.prod(part, dtype="int64"))
             for part in (x.shape[:first], x.shape[first:first + count], x.shape[first + count:])]
    call = _call(f"reduce_{how}", x, sides)
    if outDType is None:
        outDType = "int32" if call.dtype == "int8" and how in ("sum", "prod") else call.dtype
    return run(device, call, [x], result, outDType)


def rope(x, cos, sin, outDType=None, *, interleaved=False, device=None):
    """x cos + y sin, where y is x with pairs (u, v) turned to (-v, u), for each head.

    Args:
        x: tokens x heads x head, float16, float32 or bfloat16; the head has an even side.
        cos, sin: tokens x head, of the same type.
        outDType: of the result; None: that of x.
        interleaved: pairs are neighbours; else elements i and i + head / 2.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x, tables = array_of(x, "x", 3), [array_of(cos, "cos", 2), array_of(sin, "sin", 2)]
    for table in tables:
        if table.shape != (x.shape[0], x.shape[2]) or table.dtype != x.dtype:
            raise ValueError(f"rope: x is {x.shape} of {x.dtype.name}, a table {table.shape} of "
                             f"{table.dtype.name}")
    call = _call("rope_interleaved" if interleaved else "rope_half", x, x.shape)
    return run(device, call, [x, *tables], x.shape, outDType or call.dtype)


def embedding(table, indices, *, device=None):
    """Rows of a table by index: of an element of `indices` a row of the result.

    Args:
        table: rows x columns of any type.
        indices: integers below the rows, in any shape; the row of a negative one is 0.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    table, indices = array_of(table, "table", 2), array_of(indices, "indices")
    flat = _indices_of(indices.reshape(-1), len(table))
    call = _call("embedding", table, (flat.size, table.shape[1], len(table)))
    return run(device, call, [table, flat], (*indices.shape, table.shape[1]), call.dtype, zeros=True)


def concat(arrays, axis=0, *, device=None):
    """Arrays after one another along an axis.

    Args:
        arrays: 1 to 8 of one type, any; other axes have the same sides.
        axis: negative ones count from the last.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    arrays = [array_of(each, "arrays") for each in arrays]
    if not 1 <= len(arrays) <= 8:
        raise ValueError(f"arrays: found {len(arrays)}; allowed: 1 to 8")
    first = arrays[0]
    axis = _axis_of(axis, first.ndim)
    for each in arrays:
        if (each.dtype != first.dtype or each.ndim != first.ndim
                or each.shape[:axis] + each.shape[axis + 1:] != first.shape[:axis] + first.shape[axis + 1:]):
            raise ValueError(f"concat: found {each.shape} of {each.dtype.name} beside {first.shape} of "
                             f"{first.dtype.name}")
    outer, _, inner = _sides(first.shape, axis)
    call = _call("concat", first, (outer, inner, *(each.shape[axis] for each in arrays)))
    shape = list(first.shape)
    shape[axis] = sum(each.shape[axis] for each in arrays)
    return run(device, call, arrays, shape, call.dtype)


def slice(x, begin, end, step=1, *, axis=0, device=None):
    """Elements begin, begin + step, ... before `end` of an axis.

    Args:
        x: any type.
        begin, end: negative ones count from the last; what is beyond the axis is left out.
        step: 1 or more.
        axis: negative ones count from the last.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x")
    axis, step = _axis_of(axis, x.ndim), number_of(step, "step", operator.index)
    if step < 1:
        raise ValueError(f"step: found {step}; allowed: 1 and more")
    found = range(x.shape[axis])[number_of(begin, "begin", operator.index):
                                 number_of(end, "end", operator.index):step]
    outer, side, inner = _sides(x.shape, axis)
    first = found.start if len(found) else 0
    call = _call("slice", x, (outer, side, inner, first, len(found), step))
    shape = list(x.shape)
    shape[axis] = len(found)
    return run(device, call, [x], shape, call.dtype)


def split(x, sides, *, axis=0, device=None):
    """An axis in parts, a launch each.

    Args:
        x: any type.
        sides: how many parts of one size; or their sizes.
        axis: negative ones count from the last.
        device: a `Device`; None: card 0.

    Returns:
        A list of arrays.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x")
    axis = _axis_of(axis, x.ndim)
    if not isinstance(sides, (list, tuple)):
        parts = number_of(sides, "sides", operator.index)
        if parts < 1 or x.shape[axis] % parts:
            raise ValueError(f"sides: found {parts} parts of {x.shape[axis]}; allowed: what divides it")
        sides = [x.shape[axis] // parts] * parts
    if sum(sides) != x.shape[axis] or any(side < 0 for side in sides):
        raise ValueError(f"sides: found {list(sides)}; allowed: {x.shape[axis]} together")
    ends = numpy.cumsum(sides).tolist()
    return [slice(x, end - side, end, axis=axis, device=device) for side, end in zip(sides, ends)]


def pad(x, widths, value=0.0, *, device=None):
    """The array with elements `value` around it.

    Args:
        x: any type.
        widths: for each axis how many before and behind; axis by axis a launch.
        value: a float; to integers it is rounded.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x")
    widths = [tuple(number_of(each, "widths", operator.index) for each in pair) for pair in widths]
    if len(widths) != x.ndim or any(len(pair) != 2 or min(pair) < 0 for pair in widths):
        raise ValueError(f"widths: found {widths}; allowed: two numbers for each of {x.ndim} axes")
    value = number_of(value, "value")
    for axis, pair in enumerate(widths):
        if pair == (0, 0) and axis + 1 != x.ndim:
            continue
        call = _call("pad", x, (*_sides(x.shape, axis), *pair), scalars=[value, 0.0, 0.0, 0.0])
        shape = list(x.shape)
        shape[axis] += sum(pair)
        x = run(device, call, [x], shape, call.dtype)
    return x
