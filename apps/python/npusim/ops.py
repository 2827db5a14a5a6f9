# SPDX-License-Identifier: Apache-2.0
"""Operators on NumPy arrays and tensors: compiled for the card on demand, launched, waited for.

Each function takes arrays of the host, copies them to the card, runs one operator there and returns
a new array. A `npusim.Tensor` is on the card: it is not copied, and the result is one, too; arrays beside it
are copied to its card. `device` says on which card: None is card 0 of the process's `Simulator`. Kernels are
compiled once by the C++ compiler that built the installation ($NPUSIM_JIT_CXX names another one)
from the installation's templates ($NPUSIM_OPERATORS_DIR names the folder above kernels/device/operators
of others) and kept in $NPUSIM_JIT_CACHE_DIR, else $XDG_CACHE_HOME/npusim/jit, else
~/.cache/npusim/jit; the compiler takes wall time and no simulated time.

Types: float16, float32, int8, int32, int64 arrays are what they are, uint16 arrays are the bits of
bfloat16 (`npusim.to_bfloat16()`); `outDType` is a name ("float16", "bfloat16", ...) or a NumPy type.
What an operator cannot do raises `npusim.Error`: `ErrorCode.INVALID_ARGUMENT`, types or shapes,
`ErrorCode.UNSUPPORTED`, the operator refused; a compiler that fails is `INVALID_ARGUMENT` with its
first lines. `ValueError`: shapes that do not fit each other.
"""

import operator

import numpy

from . import _npusim
from .array_ops import argmax, argmin, concat, embedding, pad, reduce, rope, slice, split, top_k
from .captured import capture
from .formula_ops import (cast, clip, equal, erf, greater, greater_equal, leaky_relu, less, less_equal,
                          logical_and, logical_not, logical_or, not_equal, pow, reciprocal, relu, sqrt,
                          where)
from .nz import to_nz
from .network_ops import (add, add_rms_norm, conv2d, div, exp, gelu, maximum, minimum, mul, sigmoid, silu,
                          sub, swi_glu, tanh)
from .own_ops import call
from .operator_call import array_of, last_call, number_of, run, type_of
from .tensor import Tensor
from .tensor_ops import (apply_adam_w, broadcast, gather, group_norm, kv_cache_write, layer_norm, softmax,
                         transpose)

__all__ = ["add", "add_rms_norm", "apply_adam_w", "argmax", "argmin", "basic_matmul", "batched_matmul",
           "broadcast", "call", "capture", "cast", "clip", "concat", "conv2d", "div", "elementwise",
           "embedding", "equal", "erf", "exp", "flash_attention", "gather", "gelu", "gemv", "greater",
           "greater_equal", "group_norm", "grouped_matmul", "kv_cache_write", "last_call",
           "layer_norm", "leaky_relu", "less", "less_equal", "logical_and", "logical_not",
           "logical_or", "maximum", "minimum", "mul", "not_equal", "pad", "pow", "quant_matmul",
           "reciprocal", "reduce", "relu", "rms_norm", "rope", "sigmoid", "silu", "slice", "softmax",
           "split", "splitk_matmul", "sqrt", "sub", "swi_glu", "tanh", "top_k", "transpose", "where"]

_MOST_SPLITS = 65536


def _take_bias(call, bias, shape):
    """A product's bias, checked, and its type in the call."""
    if bias is None:
        return None
    bias = array_of(bias, "bias")
    if bias.shape != shape:
        raise ValueError(f"bias: found the shape {bias.shape}; allowed: {shape}")
    call.bias_dtype = type_of(bias, "bias")
    return bias


def _matmul(name, a, b, outDType, transA, transB, formatA, formatB, device, **options):
    dimensions = 3 if name == "batched_matmul" else 2
    a, b = array_of(a, "a", dimensions), array_of(b, "b", dimensions)
    m, k = a.shape[-2:][::-1] if transA else a.shape[-2:]
    other, n = b.shape[-2:][::-1] if transB else b.shape[-2:]
    if k != other or a.shape[:-2] != b.shape[:-2]:
        raise ValueError(f"{name}: a is {a.shape}, b is {b.shape}: they cannot be multiplied")
    call = _npusim.OperatorCall()
    call.name, call.dtype = name, type_of(a, "a")
    if type_of(b, "b") != call.dtype:
        raise ValueError(f"{name}: a is {a.dtype.name}, b is {b.dtype.name}")
    call.shape = [*a.shape[:-2], m, n, k]
    call.transpose_a, call.transpose_b = bool(transA), bool(transB)
    call.format_a, call.format_b = ("NZ" if each else "ND" for each in (formatA, formatB))
    extra = [*options.pop("tables", []), _take_bias(call, options.pop("bias", None), (n,))]
    for key, value in options.items():
        setattr(call, key, value)
    inputs = [to_nz(each) if nz else each for each, nz in ((a, formatA), (b, formatB))]
    return run(device, call, inputs + extra, (*a.shape[:-2], m, n), outDType)


def basic_matmul(a, b, outDType="float16", transA=False, transB=False, formatA=False,
                 formatB=False, *, bias=None, device=None):
    """C = A B + bias, C is m x n.

    Args:
        a: m x k; with transA k x m. float16, float32, int8, or bfloat16.
        b: k x n; with transB n x k. Of the same type.
        outDType: of C: float16, bfloat16 or float32; int32, and nothing else, of int8.
        transA, transB: the array is the transposed matrix.
        formatA, formatB: the array lies in fractals on the card (`npusim.to_nz()`, which is done
            here).
        bias: n numbers that are added to each row: float32 or float16 of reals, int32 of int8.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _matmul("basic_matmul", a, b, outDType, transA, transB, formatA, formatB, device, bias=bias)


def batched_matmul(a, b, outDType="float16", transA=False, transB=False, formatA=False,
                   formatB=False, *, bias=None, device=None):
    """C[i] = A[i] B[i] + bias of a batch. Matrices have one dimension more, in front.

    Args:
        a, b, outDType, transA, transB, formatA, formatB, bias, device: as those of `basic_matmul()`.

    Raises:
        ValueError, Error: see the module.
    """
    return _matmul("batched_matmul", a, b, outDType, transA, transB, formatA, formatB, device, bias=bias)


def grouped_matmul(a, b, groupEnds, outDType="float16", transA=False, transB=False, formatA=False,
                   formatB=False, *, slice_k=False, bias=None, device=None):
    """Products of groups that are slices of one matrix.

    Without `slice_k` groups are rows of A, and each has a B of its own: C[rows of group] =
    A[rows of group] B[group]. Rows of C behind the last group are 0. With it groups are columns of
    A and rows of B, and each has a C of its own: C[group] = A[:, part] B[part].

    Args:
        a: m x k; with transA k x m.
        b: groups x k x n, with transB groups x n x k; with slice_k k x n, with transB n x k.
        groupEnds: integers: where each group ends in m, with slice_k in k; none before the one
            before it. A group may be empty.
        outDType, device: as those of `basic_matmul()`.
        transA, transB, formatA, formatB: as those of `basic_matmul()`. Fractals along the side
            that is sliced cannot be cut: `ErrorCode.UNSUPPORTED` are groups of rows with formatA
            and transA, groups of k with formatA and no transA, or with formatB and transB.
        slice_k: groups are slices of k.
        bias: groups x n, of a type as that of `basic_matmul()`.

    Returns:
        An array of m x n; with slice_k of groups x m x n.

    Raises:
        ValueError, Error: see the module.
    """
    a, b = array_of(a, "a", 2), array_of(b, "b", 2 if slice_k else 3)
    ends = numpy.asarray(groupEnds)
    m, k = a.shape[::-1] if transA else a.shape
    other, n = b.shape[-2:][::-1] if transB else b.shape[-2:]
    if ends.ndim != 1 or ends.size and ends.dtype.kind not in "iu":
        raise ValueError(f"groupEnds: found {ends.ndim} dimensions of {ends.dtype.name}; allowed: "
                         "1 of integers")
    if k != other or not slice_k and len(b) != len(ends):
        raise ValueError(f"grouped_matmul: a is {a.shape}, b is {b.shape}, there are {len(ends)} "
                         "groups: they cannot be multiplied")
    side = k if slice_k else m
    bounds = [0, *ends.tolist(), side]
    if bounds != sorted(bounds):
        raise ValueError(f"groupEnds: found {ends.tolist()[:8]}; allowed: from 0 to {side}, each "
                         "at least the one before")
    call = _npusim.OperatorCall()
    call.name, call.dtype = "grouped_matmul", type_of(a, "a")
    if type_of(b, "b") != call.dtype:
        raise ValueError(f"grouped_matmul: a is {a.dtype.name}, b is {b.dtype.name}")
    call.shape, call.slice_k = [len(ends), m, n, k], bool(slice_k)
    call.transpose_a, call.transpose_b = bool(transA), bool(transB)
    call.format_a, call.format_b = ("NZ" if each else "ND" for each in (formatA, formatB))
    inputs = [to_nz(each) if nz else each for each, nz in ((a, formatA), (b, formatB))]
    shape = (len(ends), m, n) if slice_k else (m, n)
    bias = _take_bias(call, bias, (len(ends), n))
    return run(device, call, [*inputs, ends.astype("int64"), bias], shape, outDType,
                zeros=not slice_k and bounds[-2] < m)


def splitk_matmul(a, b, outDType="float16", transA=False, transB=False, formatA=False,
                  formatB=False, *, splits=0, bias=None, device=None):
    """C = A B with k in parts that different cores work on, added up in their order.

    Args:
        a, b, outDType, transA, transB, formatA, formatB, bias, device: as those of `basic_matmul()`.
        splits: how many parts; 0: as many as keep the cores busy.

    Raises:
        ValueError, Error: see the module.
    """
    splits = number_of(splits, "splits", operator.index)
    if not 0 <= splits <= _MOST_SPLITS:
        raise ValueError(f"splits: found {splits}; allowed: 0 to {_MOST_SPLITS}")
    return _matmul("splitk_matmul", a, b, outDType, transA, transB, formatA, formatB, device,
                   splits=splits, bias=bias)


def quant_matmul(a, b, outDType="float32", transA=False, transB=False, formatA=False,
                 formatB=False, *, scale=1.0, channel_scales=None, token_scales=None, bias=None,
                 device=None):
    """C[i, j] = scale token_scales[i] channel_scales[j] ((A B)[i, j] + bias[j]).

    Args:
        a, b: int8, else as those of `basic_matmul()`.
        outDType: of C: float16, bfloat16 or float32.
        transA, transB, formatA, formatB, device: as those of `basic_matmul()`.
        scale: a float.
        channel_scales: n numbers, float32; None: all are 1.
        token_scales: m numbers, float32; None: all are 1.
        bias: n numbers, int32; reals (float32, float16 or bfloat16) are added last instead.

    Raises:
        ValueError, Error: see the module.
    """
    a, b = array_of(a, "a", 2), array_of(b, "b", 2)
    tables = []
    for name, table, side in (("channel_scales", channel_scales, b.shape[0 if transB else 1]),
                              ("token_scales", token_scales, a.shape[1 if transA else 0])):
        if table is not None:
            table = table if isinstance(table, Tensor) else numpy.asarray(table, "float32")
            if table.shape != (side,):
                raise ValueError(f"{name}: found the shape {table.shape}; allowed: ({side},)")
        tables.append(table)
    return _matmul("quant_matmul", a, b, outDType, transA, transB, formatA, formatB, device,
                   scale=number_of(scale, "scale"), tables=tables, bias=bias)


def gemv(a, x, outDType=None, transA=False, formatA=False, *, device=None):
    """y = A x, y has m elements.

    Args:
        a: m x k; with transA k x m.
        x: k elements of the same type.
        outDType: of y; None: that of a, int32 of int8.
        transA, formatA, device: as those of `basic_matmul()`.

    Raises:
        ValueError, Error: see the module.
    """
    a, x = array_of(a, "a", 2), array_of(x, "x", 1)
    m, k = a.shape[::-1] if transA else a.shape
    if x.shape != (k,) or x.dtype != a.dtype:
        raise ValueError(f"gemv: a is {a.shape} of {a.dtype.name}, x is {x.shape} of "
                         f"{x.dtype.name}")
    call = _npusim.OperatorCall()
    call.name, call.dtype, call.shape = "gemv", type_of(a, "a"), [m, k]
    call.transpose_a, call.format_a = bool(transA), "NZ" if formatA else "ND"
    if outDType is None:
        outDType = "int32" if call.dtype == "int8" else call.dtype
    return run(device, call, [to_nz(a) if formatA else a, x], (m,), outDType)


def elementwise(expression, *inputs, scalars=(), outDType=None, device=None):
    """expression(a, b, c, d, s, s1, s2, s3) for each element.

    Args:
        expression: over the names of the inputs in their order and of the scalars: "a * s + b",
            "gelu(max(a, b))"; docs/writing-an-operator.md has the functions. It names what is given.
        inputs: 1 to 4 arrays of one shape, whatever it is, and one type.
        scalars: at most 4 numbers: s, s1, s2, s3.
        outDType: of the result; None: that of the inputs.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return _elementwise(expression, inputs, scalars, outDType, device)


def _elementwise(expression, inputs, scalars, outDType, device, what=None):
    arrays = [array_of(each, "inputs") for each in inputs]
    scalars = [number_of(each, "scalars") for each in scalars]
    if not isinstance(expression, str):
        raise TypeError(f"expression: found a {type(expression).__name__}; allowed: a str")
    if not expression.isascii():
        raise ValueError("expression: found characters beyond ASCII; allowed: C++")
    if not 1 <= len(arrays) <= 4 or len(scalars) > 4:
        raise ValueError(f"elementwise: {len(arrays)} inputs and {len(scalars)} scalars; allowed: "
                         "1 to 4, and at most 4")
    for each in arrays[1:]:
        if each.shape != arrays[0].shape or each.dtype != arrays[0].dtype:
            raise ValueError("elementwise: inputs have one shape and one type")
    call = _npusim.OperatorCall()
    call.name, call.dtype = "elementwise", type_of(arrays[0], "inputs")
    call.shape = [arrays[0].size]
    call.expression = expression
    call.scalars = [*scalars, *[0.0] * (4 - len(scalars))]
    return run(device, call, arrays, arrays[0].shape, outDType or call.dtype, scalars=len(scalars), what=what)


def rms_norm(x, gamma=None, outDType=None, *, epsilon=1e-6, device=None):
    """x / sqrt(mean of the row's squares + epsilon) * gamma, row by row.

    Args:
        x: rows x columns, float16, float32 or bfloat16.
        gamma: `columns` elements of the same type; None: all are 1.
        outDType: of the result; None: that of x.
        epsilon: a float.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x", 2)
    if gamma is not None:
        gamma = array_of(gamma, "gamma")
        if gamma.shape != x.shape[1:] or gamma.dtype != x.dtype:
            raise ValueError(f"gamma: found {gamma.shape} of {gamma.dtype.name}; allowed: "
                             f"{x.shape[1:]} of {x.dtype.name}")
    call = _npusim.OperatorCall()
    call.name, call.dtype, call.shape = "rms_norm", type_of(x, "x"), list(x.shape)
    call.epsilon = number_of(epsilon, "epsilon")
    return run(device, call, [x, gamma], x.shape, outDType or call.dtype)


def flash_attention(q, k, v, outDType=None, *, scale=None, causal=False, layout="BNSD",
                    whole_mask=False, device=None):
    """softmax(scale Q K^T) V of each head.

    Args:
        q: batch x heads x queries x head, float16, float32 or bfloat16.
        k, v: batch x kv_heads x keys x head, of the same type; kv_heads divides heads.
        outDType: of the result, which has the shape of q; None: the type of q.
        scale: a float; None: 1 / sqrt(head).
        causal: the last query sees all keys, query i keys 0 to keys - queries + i. Queries that
            see no key, the first ones where there are more queries than keys, give zeros.
        layout: "BNSD" as said above; "BSND": heads are the third axis of q, k and v.
        whole_mask: of a causal one: keys that no query sees are multiplied, too, as libraries do
            with a mask of all queries and keys. The result is the same, the time is longer.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    q, k, v = array_of(q, "q", 4), array_of(k, "k", 4), array_of(v, "v", 4)
    if k.shape != v.shape or (q.shape[0], q.shape[3]) != (k.shape[0], k.shape[3]):
        raise ValueError(f"flash_attention: q is {q.shape}, k is {k.shape}, v is {v.shape}")
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError("flash_attention: q, k and v have one type")
    if layout not in ("BNSD", "BSND"):
        raise ValueError(f"flash_attention: layout is {layout!r}, not BNSD or BSND")
    call = _npusim.OperatorCall()
    call.name, call.dtype = "flash_attention", type_of(q, "q")
    call.heads_inside = layout == "BSND"
    heads, rows = (2, 1) if call.heads_inside else (1, 2)
    call.shape = [q.shape[0], q.shape[heads], k.shape[heads], q.shape[rows], k.shape[rows], q.shape[3]]
    call.scale = 1 / numpy.sqrt(max(q.shape[3], 1)) if scale is None else number_of(scale, "scale")
    call.causal, call.whole_mask = bool(causal), bool(whole_mask)
    return run(device, call, [q, k, v], q.shape, outDType or call.dtype)
