# SPDX-License-Identifier: Apache-2.0
"""Operators of aten on tensors of a card, by those of `npusim.ops`: a part of `npusim.torch`. TABLE has them
by name. What they raise becomes NotImplementedError with the operator's name there."""

import math
import re

import numpy
import torch

from . import ops
from .bfloat16 import to_bfloat16
from .tensor import tensor
from .torch_tensor import REALS, TYPES, CardTensor, cast, moved, name_of, plain, refuse, spread, wrap

TABLE = {}


def handles(*names):
    def add(function):
        TABLE.update(dict.fromkeys(names, function))
        return function
    return add


def number(x):
    """A number of Python of a tensor of the host without dimensions."""
    return x.item() if isinstance(x, torch.Tensor) and not isinstance(x, CardTensor) else x


def constant(value, dtype, device):
    """A number as a tensor on the card; the last few stay there."""
    kept = device.__dict__.setdefault("torch_constants", {})
    key = (repr(value), dtype)
    if key not in kept:
        if len(kept) >= 64:
            kept.clear()
        array = to_bfloat16(value) if dtype == torch.bfloat16 else numpy.asarray(value).astype(TYPES[dtype])
        kept[key] = tensor(array, device=device)
    return kept[key]


def each(x, expression, dtype=None, scalars=()):
    """An expression of one tensor."""
    found = ops.elementwise(expression, plain(x), scalars=scalars, outDType=dtype and name_of(dtype))
    return wrap(found, dtype or x.dtype)


def pair(expression, a, b, dtype=None, scalars=()):
    """An expression of two tensors of one type, whose sides of 1 are repeated."""
    shape = torch.broadcast_shapes(a.shape, b.shape)
    found = ops.broadcast(expression, spread(a), spread(b), scalars=scalars, outDType=dtype and name_of(dtype))
    return wrap(found, dtype or a.dtype, shape=shape)


def binary(a, b, expression, kind=None, more=()):
    """a and b in the type that torch computes in; one of them may be a number, `s` of the expression."""
    a, b = number(a), number(b)
    dtype = kind or torch.result_type(a, b)
    if not isinstance(b, CardTensor):
        return each(cast(a, dtype), re.sub(r"\bb\b", "s", expression), scalars=[b])
    if not isinstance(a, CardTensor):
        return each(cast(b, dtype), re.sub(r"\bb\b", "a", re.sub(r"\ba\b", "s", expression)), scalars=[a])
    return pair(expression, cast(a, dtype), cast(b, dtype), scalars=more)


@handles("add")
def _add(a, b, alpha=1):
    a, b = number(a), number(b)
    if not isinstance(b, CardTensor):
        return binary(a, b * alpha, "a + b")
    if alpha == 1:
        return binary(a, b, "a + b")
    return binary(a, b if isinstance(a, CardTensor) else _mul(b, alpha), "a + b * s", more=[alpha])


TABLE["sub"] = lambda a, b, alpha=1: binary(a, b, "a - b") if alpha == 1 else _add(a, b, -alpha)
TABLE["rsub"] = lambda a, b, alpha=1: TABLE["sub"](b, a) if alpha == 1 else refuse("alpha other than 1")


@handles("mul")
def _mul(a, b):
    return binary(a, b, "a * b")


@handles("div")
def _div(a, b, rounding_mode=None):
    if rounding_mode is not None:
        refuse(f"rounding_mode {rounding_mode!r}")
    dtype = torch.result_type(number(a), number(b))
    return binary(a, b, "a / b", None if dtype in REALS else torch.get_default_dtype())


@handles("pow")
def _pow(a, b):
    a, b = number(a), number(b)
    if torch.result_type(a, b) not in REALS:
        refuse("powers of integers")
    if isinstance(b, CardTensor):
        return binary(a, b, "pow(a, b)")
    known = {2: "a * a", 3: "a * a * a", 1: "a + s", 0.5: "sqrt(a)", -0.5: "rsqrt(a)", -1: "reciprocal(a)"}.get(b)
    return each(a, known, scalars=[0.0]) if known and a.dtype in REALS else binary(a, b, "pow(a, b)")


TABLE["maximum"] = lambda a, b: binary(a, b, "max(a, b)")
TABLE["minimum"] = lambda a, b: binary(a, b, "min(a, b)")


def _compared(sign):
    def compare(a, b):
        a, b = number(a), number(b)
        dtype = torch.result_type(a, b)
        if dtype == torch.bool:
            refuse("comparisons of truth values")
        a = a if isinstance(a, CardTensor) else wrap(constant(a, dtype, b._card.device), dtype)
        b = b if isinstance(b, CardTensor) else wrap(constant(b, dtype, a._card.device), dtype)
        found = pair(f"where(a{sign}b,1,0)", cast(a, dtype), cast(b, dtype), torch.int8)
        return wrap(found._card.view(bool), torch.bool, found._order, found.shape)
    return compare


TABLE.update({name: _compared(sign) for name, sign in
              (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))})


def _truth(operator):
    def compute(*arguments):
        if any(one.dtype != torch.bool for one in arguments):
            refuse("only of truth values")
        shape = torch.broadcast_shapes(*(one.shape for one in arguments))
        return wrap(operator(*(spread(one) for one in arguments)), torch.bool, shape=shape)
    return compute


for _name in ("logical", "bitwise"):
    TABLE[f"{_name}_not"] = _truth(ops.logical_not)
    TABLE[f"{_name}_and"], TABLE[f"{_name}_or"] = _truth(ops.logical_and), _truth(ops.logical_or)


def _real(expression, scalars=()):
    def compute(x):
        return each(x if x.dtype in REALS else refuse(f"of {x.dtype}"), expression, scalars=scalars)
    return compute


TABLE.update({name: _real(expression) for name, expression in
              (("exp", "exp(a)"), ("log", "ln(a)"), ("sqrt", "sqrt(a)"), ("rsqrt", "rsqrt(a)"), ("erf", "erf(a)"),
               ("reciprocal", "reciprocal(a)"), ("tanh", "tanh(a)"), ("sigmoid", "sigmoid(a)"), ("silu", "silu(a)"),
               ("mish", "mish(a)"), ("floor", "floor(a)"), ("ceil", "ceil(a)"), ("trunc", "trunc(a)"),
               ("round", "rint(a)"), ("abs", "abs(a)"))})
TABLE["relu"] = lambda x: wrap(ops.relu(plain(x)), x.dtype)
TABLE["neg"] = lambda x: each(x, "a * s", scalars=[-1])
TABLE["leaky_relu"] = lambda x, slope=0.01: wrap(ops.leaky_relu(plain(x), slope), x.dtype)


@handles("gelu")
def _gelu(x, approximate="none"):
    half = 0.5 ** 0.5
    return _real("gelu(a)")(x) if approximate == "tanh" else _real("a * s * (1 + erf(a * s1))", [0.5, half])(x)


@handles("clamp", "clamp_min", "clamp_max", "hardtanh")
def _clamp(x, low=None, high=None, *, min=None, max=None):
    low, high = (low if min is None else min), (high if max is None else max)
    if torch.result_type(x, low or 0) != x.dtype or torch.result_type(x, high or 0) != x.dtype:
        refuse("integers at bounds that are none")
    if low is None or high is None:
        return binary(x, high if low is None else low, "min(a, b)" if low is None else "max(a, b)")
    return wrap(ops.clip(plain(x), low, high), x.dtype)


TABLE["clamp_max"] = lambda x, high: _clamp(x, None, high)
TABLE["hardtanh"] = lambda x, low=-1, high=1: _clamp(x, low, high)


@handles("where")
def _where(condition, a, b):
    dtype = torch.result_type(a, b)
    if not isinstance(condition, CardTensor) or condition.dtype != torch.bool:
        refuse("a condition of the host, or not of truth values")
    shape = torch.broadcast_shapes(condition.shape, a.shape, b.shape)
    device = condition._card.device
    parts = [spread(cast(one, dtype)) if isinstance(one, CardTensor) else constant(one.item(), dtype, device)
             for one in (a, b)]
    found = ops.where(spread(condition), *parts)
    return wrap(found.view(bool) if dtype == torch.bool else found, dtype, shape=shape)


@handles("masked_fill")
def _masked_fill(x, mask, value):
    value = value if isinstance(value, CardTensor) else wrap(constant(number(value), x.dtype, x._card.device), x.dtype)
    return _where(mask, cast(value, x.dtype), x)


def _factor(x):
    """A matrix, or a batch of them, and whether it lies turned."""
    axes = tuple(range(x._card.ndim))
    swapped = axes[:-2] + (axes[-1], axes[-2])
    if x._order == swapped and tuple(x._card.shape[axis] for axis in swapped) == tuple(x.shape):
        return x._card, True
    return plain(x), False


def _product(a, b, bias=None):
    (left, turned), (right, other) = _factor(a), _factor(b)
    if a.dtype not in REALS:
        refuse(f"products of {a.dtype}")
    multiply = ops.basic_matmul if a.ndim == 2 else ops.batched_matmul
    return wrap(multiply(left, right, name_of(a.dtype), turned, other, bias=bias), a.dtype)


TABLE["mm"] = TABLE["bmm"] = _product
TABLE["mv"] = lambda a, x: wrap(ops.gemv(*_factor(a)[:1], plain(x), name_of(a.dtype), _factor(a)[1]), a.dtype)


@handles("addmm", "baddbmm")
def _addmm(bias, a, b, beta=1, alpha=1):
    if alpha == beta == 1 and bias.shape == (b.shape[-1],) and bias.dtype == a.dtype:
        return _product(a, b, spread(cast(bias, torch.float32) if bias.dtype == torch.bfloat16 else bias))
    return pair("a * s + b * s1", _product(a, b), bias, scalars=[alpha, beta])


def _rows_of(x, count):
    return plain(x).reshape(-1, math.prod(x.shape[x.ndim - count:]))


@handles("_softmax", "_log_softmax")
def _softmax(x, dim, half_to_float=False, logarithm=False):
    found = plain(x)
    if half_to_float or x.dtype not in REALS:
        refuse(f"of {x.dtype}")
    found, dim = (found.reshape(1, -1), -1) if x.ndim < 2 else (found, dim)
    if logarithm:
        less = ops.sub(found, ops.reduce(found, "max", dim, keepdims=True))
        total = ops.reduce(ops.exp(less), "sum", dim, keepdims=True)
        return wrap(ops.broadcast("a - ln(b)", less, total).reshape(tuple(x.shape)), x.dtype)
    return wrap(ops.softmax(found, axis=dim).reshape(tuple(x.shape)), x.dtype)


TABLE["_log_softmax"] = lambda x, dim, half_to_float: _softmax(x, dim, half_to_float, True)


@handles("native_layer_norm")
def _layer_norm(x, shape, gamma, beta, epsilon):
    tables = [None if table is None else plain(table).reshape(-1) for table in (gamma, beta)]
    found = ops.layer_norm(_rows_of(x, len(shape)), *tables, epsilon=epsilon)
    return wrap(found.reshape(tuple(x.shape)), x.dtype), None, None  # mean and deviation are for gradients


@handles("native_group_norm")
def _group_norm(x, gamma, beta, batch, channels, pixels, groups, epsilon):
    tables = [None if table is None else plain(table) for table in (gamma, beta)]
    return wrap(ops.group_norm(plain(x), groups, *tables, epsilon=epsilon), x.dtype), None, None


@handles("native_batch_norm")
def _batch_norm(x, gamma, beta, mean, variance, training, momentum, epsilon):
    if training:
        refuse("training")
    by_channel = (x.shape[1],) + (1,) * (x.ndim - 2)
    factor = ops.elementwise("rsqrt(a + s)", plain(variance), scalars=[epsilon])
    factor = factor if gamma is None else ops.mul(factor, plain(gamma))
    found = ops.broadcast("a - b", plain(x), plain(mean).reshape(by_channel))
    found = ops.mul(found, factor.reshape(by_channel))
    found = found if beta is None else ops.add(found, plain(beta).reshape(by_channel))
    return wrap(found, x.dtype), None, None


@handles("convolution")
def _convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed or x.ndim not in (3, 4):
        refuse("other than forward ones of 1 or 2 dimensions")
    images, windows = ((plain(one).reshape(*one.shape[:2], 1, one.shape[2]) if x.ndim == 3 else plain(one))
                       for one in (x, weight))
    steps = [(usual, values[0]) if x.ndim == 3 else tuple(values)
             for usual, values in ((1, stride), (0, padding), (1, dilation))]
    bias = None if bias is None else plain(cast(bias, torch.float32) if bias.dtype == torch.bfloat16 else bias)
    found = ops.conv2d(images, windows, bias, stride=steps[0], padding=steps[1], dilation=steps[2], groups=groups)
    return wrap(found.reshape(*found.shape[:2], found.shape[3]) if x.ndim == 3 else found, x.dtype)


@handles("_scaled_dot_product_attention_forward")
def _attention(q, k, v, mask=None, dropout=0.0, weights=False, causal=False):
    if mask is not None or dropout or weights or q.ndim not in (3, 4) or causal and q.shape[-2] != k.shape[-2]:
        refuse("with a mask, weights or several sides: softmax(q @ k.mT) @ v has operators")
    heads = [plain(each).reshape(each.shape[0], *each.shape[1:-2] or (1,), *each.shape[-2:]) for each in (q, k, v)]
    return wrap(ops.flash_attention(*heads, causal=causal).reshape(tuple(q.shape)), q.dtype), None


@handles("constant_pad_nd")
def _pad(x, sides, value=0):
    if min(sides, default=0) < 0:
        refuse("sides below 0")
    widths = [(0, 0)] * (x.ndim - len(sides) // 2) + [tuple(sides[at:at + 2]) for at in range(len(sides) - 2, -1, -2)]
    return wrap(moved(ops.pad, plain(x), widths, value), x.dtype)
