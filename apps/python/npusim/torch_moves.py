# SPDX-License-Identifier: Apache-2.0
"""Operators of aten that view, move, choose and reduce elements: a part of `npusim.torch`, as torch_ops."""

import math
import operator

import numpy
import torch

from . import ops
from .tensor import empty
from .torch_ops import TABLE, handles
from .torch_tensor import (TYPES, CardTensor, as_int32, as_int64, axis_of, cast, copy_of_view, moved, name_of, plain,
                           refuse, to_bits, to_card, to_host, wrap, writable)


@handles("view", "_unsafe_view", "_reshape_alias", "reshape")
def _view(x, shape, strides=None):
    if isinstance(shape, torch.dtype):
        refuse("the bytes as another type")
    base = plain(x)
    return copy_of_view(x, base.reshape(tuple(shape)), x.dtype)


def _same(x):
    return wrap(x._card, x.dtype, x._order, x.shape)


TABLE["detach"] = TABLE["alias"] = TABLE["lift_fresh"] = _same


@handles("unsqueeze")
def _unsqueeze(x, dim):
    at = operator.index(dim) % (x.ndim + 1)
    order = [axis + 1 for axis in x._order]
    shape = [*x.shape[:at], 1, *x.shape[at:]]
    return wrap(x._card.reshape((1, *x._card.shape)), x.dtype, [*order[:at], 0, *order[at:]], shape)


@handles("squeeze")
def _squeeze(x, dim=None):
    gone = [axis for axis in range(x.ndim) if x.shape[axis] == 1 and (dim is None or axis == axis_of(x, dim))]
    lost = sorted(x._order[axis] for axis in gone)
    order = [place - sum(each < place for each in lost)
             for axis, place in enumerate(x._order) if axis not in gone]
    base = x._card.reshape(tuple(side for at, side in enumerate(x._card.shape) if at not in lost))
    return wrap(base, x.dtype, order, [side for axis, side in enumerate(x.shape) if axis not in gone])


@handles("permute")
def _permute(x, dims):
    dims = [axis_of(x, dim) for dim in dims]
    return wrap(x._card, x.dtype, [x._order[dim] for dim in dims], [x.shape[dim] for dim in dims])


@handles("transpose")
def _transpose(x, first, second):
    dims = list(range(x.ndim))
    if dims:
        first, second = axis_of(x, first), axis_of(x, second)
        dims[first], dims[second] = second, first
    return _permute(x, dims)


TABLE["t"] = lambda x: _transpose(x, 0, 1) if x.ndim == 2 else _same(x)


@handles("expand")
def _expand(x, shape, implicit=False):
    found = x
    while found.ndim < len(shape):
        found = _unsqueeze(found, 0)
    sides = [own if side == -1 else side for side, own in zip(shape, found.shape)]
    if any(own not in (1, side) for side, own in zip(sides, found.shape)):
        raise ValueError(f"shape: found {tuple(shape)} for {tuple(x.shape)}")
    return wrap(found._card, x.dtype, found._order, sides)


def _copied(base):
    flat = base.reshape(-1)
    return moved(ops.slice, flat, 0, flat.size).reshape(base.shape)


@handles("clone")
def _clone(x, memory_format=None):
    found = plain(x)
    return wrap(_copied(found) if found._block is x._card._block else found, x.dtype)


@handles("_to_copy")
def _to_copy(x, dtype=None, device=None, **_):
    if device is not None and device.type == "cpu":
        host = to_host(x)
        return host if dtype is None else host.to(dtype)
    if device is not None and device != x.device:
        refuse(f"to {device}")
    if dtype is not None and dtype not in TYPES:
        refuse(f"{dtype} is no type of the card's tensors")
    return _clone(x) if dtype in (None, x.dtype) else cast(x, dtype)


@handles("copy")
def _copy(x, source, non_blocking=False):
    found = source if isinstance(source, CardTensor) else to_card(source.to(x.dtype), x._card.device)
    return _expand(cast(found, x.dtype), x.shape)


def _fill(x, value):
    target = writable(x, "aten.fill_")
    host = torch.full(tuple(x.shape), value.item() if isinstance(value, torch.Tensor) else value, dtype=x.dtype)
    target.write(to_bits(host))
    return x


TABLE["fill_"] = _fill
TABLE["zero_"] = lambda x: _fill(x, 0)


def _like(x, value, dtype):
    made = wrap(empty(tuple(x.shape), TYPES[dtype or x.dtype], device=x._card.device), dtype or x.dtype)
    return made if value is None else _fill(made, value)


TABLE["empty_like"] = lambda x, dtype=None, **_: _like(x, None, dtype)
TABLE["zeros_like"] = lambda x, dtype=None, **_: _like(x, 0, dtype)
TABLE["ones_like"] = lambda x, dtype=None, **_: _like(x, 1, dtype)
TABLE["full_like"] = lambda x, value, dtype=None, **_: _like(x, value, dtype)


def _part(x, begin, end, axis, step=1):
    shape = list(x.shape)
    shape[axis] = len(range(begin, end, step))
    place = x._order[axis]
    if x._card.shape[place] != x.shape[axis]:  # it is repeated
        return wrap(x._card, x.dtype, x._order, shape)
    found = moved(ops.slice, x._card, begin, end, step, axis=place)
    return copy_of_view(x, found, x.dtype, order=x._order, shape=shape)


@handles("slice")
def _slice(x, dim=0, start=None, end=None, step=1):
    axis = axis_of(x, dim)
    side = x.shape[axis]
    begin, end, step = slice(start, end, step).indices(side)
    if step < 1:
        raise ValueError(f"step: found {step}; allowed: 1 and more")
    return _same(x) if (begin, end, step) == (0, side, 1) else _part(x, begin, max(begin, end), axis, step)


@handles("select")
def _select(x, dim, index):
    axis = axis_of(x, dim)
    index = operator.index(index)
    if x.ndim == 0 or not -x.shape[axis] <= index < x.shape[axis]:
        raise IndexError(f"index {index} is out of bounds for dimension {axis} of {tuple(x.shape)}")
    index %= x.shape[axis]
    return _squeeze(_part(x, index, index + 1, axis), axis)


@handles("split_with_sizes")
def _split_with_sizes(x, sizes, dim=0):
    ends, axis = numpy.cumsum([0, *sizes]).tolist(), axis_of(x, dim)
    if ends[-1] != x.shape[axis]:
        raise ValueError(f"sizes: found {list(sizes)}; allowed: {x.shape[axis]} together")
    return [_part(x, begin, end, axis) for begin, end in zip(ends, ends[1:])]


@handles("split")
def _split(x, size, dim=0):
    side = x.shape[axis_of(x, dim)]
    sizes = [min(size, side - begin) for begin in range(0, side, size)] if size else [0]
    return _split_with_sizes(x, sizes or [0], dim)


@handles("unbind")
def _unbind(x, dim=0):
    axis = axis_of(x, dim)
    return [_squeeze(each, axis) for each in _split_with_sizes(x, [1] * x.shape[axis], axis)]


@handles("cat")
def _cat(tensors, dim=0):
    # torch leaves out empty vectors whatever the others' shapes are.
    used = [each for each in tensors if tuple(each.shape) != (0,)] or tensors[:1]
    dtype = tensors[0].dtype
    for each in tensors[1:]:
        dtype = torch.promote_types(dtype, each.dtype)
    parts, axis = [plain(cast(each, dtype)) for each in used], axis_of(used[0], dim)
    if dtype == torch.bool:
        parts = [each.view("int8") for each in parts]
    while len(parts) > 1:
        parts = [ops.concat(parts[at:at + 8], axis) for at in range(0, len(parts), 8)]
    found = parts[0].view(bool) if dtype == torch.bool else parts[0]
    return wrap(_copied(found) if len(used) == 1 else found, dtype)


TABLE["stack"] = lambda tensors, dim=0: _cat(
    [_unsqueeze(each, dim % (each.ndim + 1)) for each in tensors], dim % (tensors[0].ndim + 1))


@handles("repeat")
def _repeat(x, counts):
    found = x
    while found.ndim < len(counts):
        found = _unsqueeze(found, 0)
    for axis, count in enumerate(counts):
        if count != 1:
            apart = _unsqueeze(found, axis)
            apart = _expand(apart, [*apart.shape[:axis], count, *apart.shape[axis + 1:]])
            sides = list(found.shape)
            sides[axis] *= count
            found = wrap(plain(apart).reshape(sides), x.dtype)
    return _clone(found) if found._card._block is x._card._block else found


def _places(indices, rows, turned):
    """Indices as npusim.ops takes them; those of the host are looked at."""
    if indices.dtype not in (torch.int32, torch.int64):
        refuse(f"indices of {indices.dtype}")
    if not isinstance(indices, CardTensor):
        found = indices.numpy()
        if found.size and not (-rows if turned else 0) <= found.min() <= found.max() < rows:
            raise IndexError(f"index out of range: found {found.min()} to {found.max()} of {rows} rows")
        return numpy.where(found < 0, found + rows, found).astype("int32")
    found = plain(indices)
    found = as_int32(found) if indices.dtype == torch.int64 else found
    return ops.elementwise("where(a < 0, a + s, a)", found, scalars=[rows]) if turned else found


def _rows(x, axis, indices, turned=False):
    """Slices of an axis by index, in its place."""
    front = plain(_permute(x, [axis, *(each for each in range(x.ndim) if each != axis)]))
    others = front.shape[1:]
    table = front.reshape(front.shape[0], math.prod(others))
    found = moved(ops.embedding, table, _places(indices, front.shape[0], turned))
    found = wrap(found.reshape((*indices.shape, *others)), x.dtype)
    count = indices.ndim
    return _permute(found, [*range(count, count + axis), *range(count), *range(count + axis, found.ndim)])


TABLE["embedding"] = lambda table, indices, *_: _rows(table, 0, indices)
TABLE["index_select"] = lambda x, dim, indices: _rows(x, axis_of(x, dim), indices)


@handles("index")
def _index(x, indices):
    given = [axis for axis, each in enumerate(indices) if each is not None]
    if len(given) != 1:
        refuse("several tensors as indices")
    return _rows(x, given[0], indices[given[0]], True)


def _reduced(how):
    def compute(x, dim=None, keepdim=False, *, dtype=None):
        dims = range(x.ndim) if dim is None or dim == [] else dim if isinstance(dim, (list, tuple)) else [dim]
        dims = [axis_of(x, each) for each in dims] if x.ndim else []
        x = x if dtype is None else cast(x, dtype)
        if how in ("sum", "prod", "mean") and not x.dtype.is_floating_point and x.dtype != dtype:
            refuse(f"of {x.dtype}, which torch makes int64 of")
        return wrap(ops.reduce(plain(x), how, dims, name_of(x.dtype), keepdims=keepdim), x.dtype)
    return compute


TABLE.update({"sum": _reduced("sum"), "mean": _reduced("mean"), "amax": _reduced("max"), "amin": _reduced("min"),
              "prod": _reduced("prod")})


def _place(operator_of_place):
    def compute(x, dim=None, keepdim=False):
        found = plain(x) if dim is not None else plain(x).reshape(-1)
        axis = 0 if dim is None else axis_of(x, dim)
        places = as_int64(operator_of_place(found.reshape(found.shape or (1,)), axis))
        sides = [1 if each == axis or dim is None else side for each, side in enumerate(x.shape)]
        return wrap(places.reshape(sides) if keepdim else places, torch.int64)
    return compute


TABLE.update({"argmax": _place(ops.argmax), "argmin": _place(ops.argmin)})


def _extreme(how):
    def compute(x, dim=None, keepdim=False):
        if isinstance(dim, CardTensor):
            return TABLE[f"{how}imum"](x, dim)
        if dim is None:
            return TABLE[f"a{how}"](x)
        return TABLE[f"a{how}"](x, [dim] if x.ndim else [], keepdim), TABLE[f"arg{how}"](x, dim, keepdim)
    return compute


TABLE.update({"max": _extreme("max"), "min": _extreme("min")})


@handles("topk")
def _topk(x, k, dim=-1, largest=True, sorted=True):
    if axis_of(x, dim) != x.ndim - 1:
        refuse("of another axis than the last")
    values, places = ops.top_k(plain(x), k, largest=largest)
    return wrap(values, x.dtype), wrap(as_int64(places), torch.int64)
