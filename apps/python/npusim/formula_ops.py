# SPDX-License-Identifier: Apache-2.0
"""Operators that are one formula for each element: a part of `npusim.ops`, whose module says what
arrays, types and errors are. Truth values are arrays of bool, on the card bytes of 0 and 1."""

import numpy

from .operator_call import array_of, number_of, repeated, run
from .tensor_ops import _call


def _repeated(name, a, b, device, result=None, condition=None):
    a, b = array_of(a, "a"), array_of(b, "b")
    if a.dtype == b.dtype == numpy.dtype(bool):
        a, b = a.view("int8"), b.view("int8")
    if a.dtype != b.dtype:
        raise ValueError(f"{name}: a is {a.dtype.name}, b is {b.dtype.name}; allowed: one type")
    arrays, shapes, options = [a, b], [a.shape, b.shape], {}
    if condition is not None:
        condition = array_of(condition, "condition")
        if condition.dtype != numpy.dtype(bool):
            raise ValueError(f"condition: found {condition.dtype.name}; allowed: bool")
        arrays.append(condition.view("int8"))
        shapes.append(condition.shape)
        options["condition_shape"] = [int(side) for side in condition.shape]
    shape = repeated(**dict(zip(("a", "b", "condition"), shapes)))
    call = _call(name, a, a.shape or (1,), other_shape=[int(side) for side in b.shape], **options)
    return run(device, call, arrays, shape, result or call.dtype)


def where(condition, a, b, *, device=None):
    """a where the condition holds, b elsewhere, with sides of 1 repeated as NumPy does.

    Args:
        condition: an array of bool, up to 8 dimensions.
        a, b: arrays of one type, any; of int64 up to 7 dimensions.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _repeated("where", a, b, device, condition=condition)


def pow(a, b, *, device=None):
    """a to the power of b, by a logarithm and an exponential in float32.

    Of a negative a the power is no number, unless b is whole.

    Args:
        a, b: reals of one type; sides of 1 are repeated as NumPy does.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _repeated("pow", a, b, device)


def _truth(name, doc):
    def compare(a, b, *, device=None):
        return _repeated(name, a, b, device, "int8").view(bool)
    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"""{doc}, element by element, as an array of bool.

    Args:
        a, b: arrays of one type, any but int64; sides of 1 are repeated as NumPy does.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return compare


equal = _truth("equal", "a == b")
not_equal = _truth("not_equal", "a != b")
greater = _truth("greater", "a > b")
greater_equal = _truth("greater_equal", "a >= b")
less = _truth("less", "a < b")
less_equal = _truth("less_equal", "a <= b")
logical_and = _truth("logical_and", "a != 0 and b != 0")
logical_or = _truth("logical_or", "a != 0 or b != 0")


def _each(name, x, device, outDType=None, scalars=()):
    x = array_of(x, "x")
    x = x.view("int8") if x.dtype == numpy.dtype(bool) else x
    call = _call(name, x, (x.size,), scalars=[*scalars, *[0.0] * (4 - len(scalars))])
    return run(device, call, [x], x.shape, outDType or call.dtype)


_ROUNDINGS = {"rint": "cast", "floor": "cast_floor", "ceil": "cast_ceil", "trunc": "cast_trunc",
              "round": "cast_round"}


def cast(x, outDType, rounding="rint", *, device=None):
    """The elements in another type.

    Args:
        x: any type but int64, or bool.
        outDType: any type but int64, or "bool": what is not 0. Integers saturate, what is no number
            becomes 0; int32 becomes float16 and bfloat16 by way of float32.
        rounding: of reals into integers: "rint" to the nearest, of two the even one; "floor", "ceil",
            "trunc"; "round" to the nearest, of two the one farther from 0. Reals into narrower ones
            are rounded to nearest even; with another rounding than "rint" they are whole first.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    if rounding not in _ROUNDINGS:
        raise ValueError(f"rounding: found {rounding!r}; allowed: {', '.join(_ROUNDINGS)}")
    if outDType in ("bool", bool, numpy.bool_):
        x = array_of(x, "x")
        return not_equal(x, numpy.zeros((), x.dtype), device=device)
    return _each(_ROUNDINGS[rounding], x, device, outDType)


def logical_not(x, *, device=None):
    """x == 0, element by element, as an array of bool.

    Args:
        x: any type but int64.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _each("logical_not", x, device, "int8").view(bool)


def clip(x, low, high, *, device=None):
    """The elements, at least `low` and at most `high`; what is no number stays so.

    Args:
        x: any type but int64.
        low, high: floats; to integers they are rounded.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _each("clip", x, device, scalars=[number_of(low, "low"), number_of(high, "high")])


def relu(x, *, device=None):
    """The elements, with 0 for negative ones.

    Args:
        x: any type but int64.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _each("relu", x, device)


def leaky_relu(x, slope=0.01, *, device=None):
    """The elements, negative ones times `slope`.

    Args:
        x: any type but int64.
        slope: a float; to integers it is rounded.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _each("leaky_relu", x, device, scalars=[number_of(slope, "slope")])


def erf(x, *, device=None):
    """The error function of each element.

    Args:
        x: float16, float32 or bfloat16.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _each("erf", x, device)


def sqrt(x, *, device=None):
    """The square root of each element.

    Args:
        x: float16, float32 or bfloat16.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _each("sqrt", x, device)


def reciprocal(x, *, device=None):
    """1 / x of each element.

    Args:
        x: float16, float32 or bfloat16.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _each("reciprocal", x, device)
