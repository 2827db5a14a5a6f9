# SPDX-License-Identifier: Apache-2.0
"""Operators on axes, rows of tables and optimizers: a part of `npusim.ops`, whose module says what
arrays, types and errors are."""

import operator

import numpy

from . import _npusim
from .bfloat16 import to_bfloat16
from .operator_call import array_of, number_of, repeated, run, type_of
from .tensor import Tensor


def _call(name, x, shape, **options):
    call = _npusim.OperatorCall()
    call.name, call.dtype, call.shape = name, type_of(x, "x"), [int(each) for each in shape]
    for key, value in options.items():
        setattr(call, key, value)
    return call


def _axis_of(axis, dimensions):
    found = number_of(axis, "axis", operator.index)
    if not -dimensions <= found < dimensions:
        raise ValueError(f"axis: found {found}; allowed: {-dimensions} to {dimensions - 1}")
    return found % dimensions


def _table_of(table, what, count, x):
    if table is None:
        return None
    table = array_of(table, what, 1)
    if table.shape != (count,) or table.dtype != x.dtype:
        raise ValueError(f"{what}: found {table.shape} of {table.dtype.name}; allowed: ({count},) of "
                         f"{x.dtype.name}")
    return table


def softmax(x, outDType=None, *, axis=-1, device=None):
    """softmax along an axis.

    Args:
        x: two dimensions or more, float16, float32 or bfloat16.
        outDType: of the result; None: that of x.
        axis: of x; negative ones count from the last.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x")
    if x.ndim < 2:
        raise ValueError(f"x: found {x.ndim} dimensions; allowed: 2 and more")
    axis = _axis_of(axis, x.ndim)
    outer, inner = (int(numpy.prod(sides, dtype="int64"))
                    for sides in (x.shape[:axis], x.shape[axis + 1:]))
    if axis == x.ndim - 1:
        call = _call("softmax", x, (outer, x.shape[-1]))
    else:
        call = _call("softmax_axis", x, (outer, x.shape[axis], inner))
    return run(device, call, [x], x.shape, outDType or call.dtype)


def transpose(x, order=None, *, device=None):
    """Axes in another order.

    Args:
        x: 1 to 8 dimensions of any type.
        order: axis i of the result is axis order[i] of x; None: backwards.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x")
    order = range(x.ndim)[::-1] if order is None else order
    order = [_axis_of(each, x.ndim) for each in order]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"order: found {order}; allowed: each of 0 to {x.ndim - 1} once")
    call = _call("transpose", x, x.shape, order=order)
    return run(device, call, [x], [x.shape[each] for each in order], call.dtype)


def broadcast(expression, a, b, *, scalars=(), outDType=None, device=None):
    """expression(a, b, s, s1, s2, s3) for each element, with sides of 1 repeated as NumPy does.

    Args:
        expression: as that of `elementwise()`.
        a, b: arrays of one type, up to 8 dimensions.
        scalars: at most 4 numbers: s, s1, s2, s3.
        outDType: of the result; None: that of a.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _broadcast(expression, a, b, scalars, outDType, device)


def _broadcast(expression, a, b, scalars, outDType, device, what=None):
    if not isinstance(expression, str):
        raise TypeError(f"expression: found a {type(expression).__name__}; allowed: a str")
    a, b = array_of(a, "a"), array_of(b, "b")
    scalars = [number_of(each, "scalars") for each in scalars]
    if a.dtype != b.dtype or len(scalars) > 4:
        raise ValueError(f"broadcast: a is {a.dtype.name}, b is {b.dtype.name}, {len(scalars)} "
                         "scalars; allowed: one type, at most 4")
    shape = repeated(a=a.shape, b=b.shape)
    call = _call("broadcast", a, a.shape or (1,), other_shape=[int(side) for side in b.shape],
                 expression=expression, scalars=[*scalars, *[0.0] * (4 - len(scalars))])
    return run(device, call, [a, b], shape, outDType or call.dtype, scalars=len(scalars), what=what)


def group_norm(x, groups, gamma=None, beta=None, outDType=None, *, epsilon=1e-5, device=None):
    """Each group of channels less its mean, divided by its deviation, times gamma and beta more.

    Args:
        x: batch x channels x ..., float16, float32 or bfloat16.
        groups: how many; divides the channels.
        gamma, beta: a number for each channel, of the same type; None: 1, 0.
        outDType: of the result; None: that of x.
        epsilon: a float.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x")
    if x.ndim < 2:
        raise ValueError(f"x: found {x.ndim} dimensions; allowed: 2 and more")
    size = int(numpy.prod(x.shape[2:], dtype="int64"))
    call = _call("group_norm", x, (*x.shape[:2], size, number_of(groups, "groups", operator.index)),
                 epsilon=number_of(epsilon, "epsilon"))
    tables = [_table_of(table, what, x.shape[1], x) for what, table in (("gamma", gamma), ("beta", beta))]
    return run(device, call, [x, *tables], x.shape, outDType or call.dtype)


def layer_norm(x, gamma=None, beta=None, outDType=None, *, epsilon=1e-5, device=None):
    """Each row less its mean, divided by its deviation, times gamma and beta more.

    Args:
        x: rows x columns, float16, float32 or bfloat16.
        gamma, beta: `columns` elements of the same type; None: 1, 0.
        outDType: of the result; None: that of x.
        epsilon: a float.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x", 2)
    call = _call("layer_norm", x, x.shape, epsilon=number_of(epsilon, "epsilon"))
    tables = [_table_of(table, what, x.shape[1], x) for what, table in (("gamma", gamma), ("beta", beta))]
    return run(device, call, [x, *tables], x.shape, outDType or call.dtype)


def _indices_of(indices, rows):
    """Those of a Tensor are not looked at: one beyond the table stops the kernel."""
    if isinstance(indices, Tensor):
        if indices.ndim != 1 or indices.dtype != "int32":
            raise ValueError(f"indices: found {indices.shape} of {indices.dtype.name}; allowed: 1 "
                             "dimension of int32")
        return indices
    indices = numpy.asarray(indices)
    if indices.ndim != 1 or indices.size and indices.dtype.kind not in "iu":
        raise ValueError(f"indices: found {indices.ndim} dimensions of {indices.dtype.name}; allowed: "
                         "1 of integers")
    if indices.size and not -(1 << 31) <= indices.min() <= indices.max() < rows:
        raise ValueError(f"indices: found {indices.max()}; allowed: below {rows}, negative for none")
    return indices.astype("int32")


def gather(table, indices, *, device=None):
    """Rows of a table: row i of the result is row indices[i].

    Args:
        table: rows x columns of any type.
        indices: integers below the rows. A row with a negative one is 0.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    table = array_of(table, "table", 2)
    indices = _indices_of(indices, len(table))
    call = _call("gather", table, (len(indices), table.shape[1], len(table)))
    return run(device, call, [table, indices], (len(indices), table.shape[1]), call.dtype, zeros=True)


def kv_cache_write(table, indices, rows, *, device=None):
    """A table whose row indices[i] has become row i of `rows`.

    Args:
        table: rows x columns of any type.
        indices: integers below the rows of the table. A row with a negative one is left out; of two
            rows for one place either may be there.
        rows: an array of the same type and columns, with a row for each index. A table that is a
            Tensor is changed, and returned.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    table, rows = array_of(table, "table", 2), array_of(rows, "rows", 2)
    indices = _indices_of(indices, len(table))
    if rows.shape != (len(indices), table.shape[1]) or rows.dtype != table.dtype:
        raise ValueError(f"rows: found {rows.shape} of {rows.dtype.name}; allowed: "
                         f"({len(indices)}, {table.shape[1]}) of {table.dtype.name}")
    call = _call("kv_cache_write", table, (len(indices), table.shape[1], len(table)))
    return run(device, call, [table, indices, rows], table.shape, call.dtype, in_place=1)[0]


def apply_adam_w(variable, m, v, gradient, *, rate, beta1=0.9, beta2=0.999, beta1_power=1.0,
                 beta2_power=1.0, decay=0.0, epsilon=1e-8, maximize=False, device=None):
    """A step of AdamW.

    Args:
        variable, m, v, gradient: arrays of one shape and type, float16, float32 or bfloat16. The
            first three are changed if they are Tensors.
        rate, beta1, beta2, decay, epsilon: floats; on the card they have the arrays' type.
        beta1_power, beta2_power: the products of beta1 and beta2 over the steps before this one.
        maximize: against the gradient.
        device: a `Device`; None: card 0.

    Returns:
        The next variable, m and v.

    Raises:
        ValueError, Error: see the module.
    """
    arrays = [array_of(each, what) for what, each in
              (("variable", variable), ("m", m), ("v", v), ("gradient", gradient))]
    first = arrays[0]
    if any(each.shape != first.shape or each.dtype != first.dtype for each in arrays):
        raise ValueError("apply_adam_w: variable, m, v and gradient have one shape and one type")
    numbers = [number_of(each, what) for what, each in
               (("beta1_power", beta1_power), ("beta2_power", beta2_power), ("rate", rate),
                ("decay", decay), ("beta1", beta1), ("beta2", beta2), ("epsilon", epsilon))]
    to_type = to_bfloat16 if first.dtype == "uint16" else first.dtype.type
    scalars = [numpy.asarray(to_type(numpy.float32(each))).reshape(1) for each in numbers]
    call = _call("apply_adam_w", first, (first.size,), maximize=bool(maximize))
    return tuple(run(device, call, [*arrays, *scalars], first.shape, call.dtype, in_place=3))
