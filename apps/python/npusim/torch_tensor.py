# SPDX-License-Identifier: Apache-2.0
"""What a torch tensor on the card is: a part of `npusim.torch`. Its elements lie in an `npusim.Tensor`; the
order of its axes and repeated sides are remembered, and made on the card when an operator needs them."""

import math
import operator
import weakref

import numpy
import torch

from . import ops
from .tensor import Tensor, empty, tensor

TYPES = {torch.float16: "float16", torch.bfloat16: "uint16", torch.float32: "float32", torch.int8: "int8",
         torch.int32: "int32", torch.int64: "int64", torch.bool: "bool", torch.uint8: "uint8"}
REALS = (torch.float16, torch.bfloat16, torch.float32)


def name_of(dtype):
    """What `outDType` of npusim.ops is for a type of torch."""
    return "bfloat16" if dtype == torch.bfloat16 else TYPES[dtype]


def refuse(why):
    raise NotImplementedError(why)


def _strides(base, order, shape):
    steps = [math.prod(base.shape[axis + 1:]) if base.size else 1 for axis in range(base.ndim)]
    return [0 if base.shape[axis] != side else steps[axis] for axis, side in zip(order, shape)]


class CardTensor(torch.Tensor):
    """A torch tensor in the memory of a card, for inference: `npusim.torch.to()` makes it."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, base, dtype, order, shape):
        made = torch.Tensor._make_wrapper_subclass(
            cls, shape, strides=_strides(base, order, shape), dtype=dtype, requires_grad=False,
            device=torch.device("privateuseone", base.device.index))
        made._card, made._order = base, order
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        from .torch import dispatch
        return dispatch(func, args, kwargs or {})

    def __repr__(self, **_):
        return f"<npusim.torch.CardTensor {tuple(self.shape)} of {self.dtype} on device {self._card.device.index}>"

    def npusim(self):
        """The elements as an `npusim.Tensor`, of the same memory if they lie in C order."""
        return plain(self)

    def numpy(self):
        """A copy on the host; of bfloat16 there is none, as of torch's own tensors."""
        return to_host(self).numpy()

    def tolist(self):
        """Numbers in lists, from a copy on the host."""
        return to_host(self).tolist()

    def item(self):
        """The only element, from a copy on the host."""
        return to_host(self).item()

    __bool__ = lambda self: bool(self.item())
    __int__ = __index__ = lambda self: int(self.item())
    __float__ = lambda self: float(self.item())

    @property
    def data(self):
        """The same elements; another tensor of the card takes their place when it is set."""
        return self.detach()

    @data.setter
    def data(self, value):
        torch.Tensor.data.__set__(self, value)
        self._card, self._order = value._card, value._order

    def __deepcopy__(self, memo):
        made = self.clone()
        memo[id(self)] = made = torch.nn.Parameter(made, False) if getattr(self, "_is_param", False) else made
        return made

    @property
    def requires_grad(self):
        """False: the card's tensors are for inference."""
        return False

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Refuses gradients: the card's tensors are for inference."""
        if requires_grad:
            raise NotImplementedError("the card's tensors are for inference: they have no gradients")
        return self

    def __dlpack__(self, **options):
        return to_host(self).__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU: a copy on the host, as of npusim.Tensor

    def copy_(self, source, non_blocking=False):
        """Fills it with the elements of another tensor; one of the host is copied to the card."""
        from .torch import dispatch
        return dispatch(torch.ops.aten.copy_.default, (self, source), {})

    # Torch's own ones of these ask for the device's runtime first, which this device has none of.
    def contiguous(self, memory_format=torch.contiguous_format):
        """The tensor itself if its elements lie in C order, else a copy that does."""
        return self if self.is_contiguous() else torch.ops.aten.clone(self, memory_format=memory_format)

    def __invert__(self):
        return torch.ops.aten.bitwise_not(self)

    def __setitem__(self, index, value):
        raise NotImplementedError("aten.index_put_: no operator of the card; torch.where() and torch.cat() have one")

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        used = sum(each is not None and each is not Ellipsis for each in index)
        if sum(each is Ellipsis for each in index) == 0:
            index = (*index, Ellipsis)
        found, axis = self, 0
        for each in index:
            if each is None:
                found, axis = found.unsqueeze(axis), axis + 1
            elif each is Ellipsis:
                axis += self.ndim - used
            elif isinstance(each, slice):
                if each != slice(None):
                    found = torch.ops.aten.slice(found, axis, each.start, each.stop, each.step or 1)
                axis += 1
            elif isinstance(each, (torch.Tensor, list, numpy.ndarray)):
                if sum(isinstance(other, (torch.Tensor, list, numpy.ndarray)) for other in index) > 1:
                    raise NotImplementedError("aten.index.Tensor: several tensors as indices: no operator of the card")
                each = torch.as_tensor(each) if not isinstance(each, torch.Tensor) else each
                found, axis = torch.ops.aten.index(found, [None] * axis + [each]), axis + each.ndim
            elif isinstance(each, bool):
                raise NotImplementedError("aten.index.Tensor: a truth value as index has no operator of the card")
            else:
                found = torch.ops.aten.select(found, axis, each)
        return found


def wrap(base, dtype, order=None, shape=None):
    """A torch tensor of an `npusim.Tensor`; `order`: axis i is axis order[i] of it."""
    order = tuple(range(base.ndim)) if order is None else tuple(order)
    shape = [base.shape[axis] for axis in order] if shape is None else shape
    turned = [axis for axis in order if base.shape[axis] != 1]
    if turned == sorted(turned):  # only sides of 1 have other places: the elements lie as they did
        base, order = base.reshape([base.shape[axis] for axis in order]), tuple(range(base.ndim))
    return CardTensor(base, dtype, order, [int(side) for side in shape])


def moved(move, x, *arguments, **options):
    """A move of elements of any type: those of bool are bytes on the card."""
    if x.dtype == bool:
        return move(x.view("int8"), *arguments, **options).view(bool)
    return move(x, *arguments, **options)


def spread(x):
    """The elements in the order of the axes, with sides of 1 where they are repeated."""
    if x._order == tuple(range(x._card.ndim)):
        return x._card
    return moved(ops.transpose, x._card, x._order)


def _repeated(x, shape):
    if x.dtype == "int64":  # which is moved and not computed: pairs of int32
        pairs = Tensor(x.device, (*x.shape, 2), "int32", x._block)
        return Tensor(x.device, shape, "int64", _repeated(pairs, (*shape, 2))._block)
    other = [side if side != own else 1 for side, own in zip(shape, x.shape)]
    return ops.broadcast("a", x, empty(other, x.dtype, device=x.device))


def plain(x):
    """The elements in C order: the memory of x itself if they lie so."""
    found = spread(x)
    return found if found.shape == tuple(x.shape) else moved(_repeated, found, tuple(x.shape))


def as_int32(x):
    """Integers of 64 bits without their upper halves."""
    halves = Tensor(x.device, (x.size, 2), "int32", x._block)
    return ops.slice(halves, 0, 1, axis=1).reshape(x.shape)


def as_int64(x):
    """int32 with the sign in upper halves."""
    flat = x.reshape(-1, 1)
    pairs = ops.concat([flat, ops.elementwise("where(a < 0, -1, 0)", flat)], 1)
    return Tensor(x.device, x.shape, "int64", pairs._block)


def to_host(x):
    """A tensor of torch on the host with a copy of the elements."""
    array = plain(x).numpy()
    if x.dtype == torch.bfloat16:
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def to_bits(host):
    """The elements of a tensor of the host as npusim.Tensor has them."""
    return host.view(torch.int16).numpy().view("uint16") if host.dtype == torch.bfloat16 else host.numpy()


def to_card(source, device):
    """A copy of a tensor of the host on a card."""
    if source.dtype not in TYPES or source.layout != torch.strided or source.device.type != "cpu":
        raise ValueError(f"tensor: found {source.dtype} of {source.layout} on {source.device}; allowed: strided ones of "
                         f"{', '.join(str(each)[6:] for each in TYPES)} on the CPU")
    return wrap(tensor(to_bits(source.detach().contiguous()), device=device), source.dtype)


def cast(x, dtype):
    """x in another type, as torch has it."""
    if x.dtype == dtype:
        return x
    found = spread(x)
    if torch.int64 in (dtype, x.dtype):
        small = as_int32(found) if x.dtype == torch.int64 else found
        if dtype not in (torch.int64, torch.int32) or x.dtype not in (torch.int64, torch.int32, torch.int8, torch.bool):
            refuse(f"{x.dtype} to {dtype} has no operator of the card")
        small = small if small.dtype == "int32" else ops.cast(small, "int32")
        found = as_int64(small) if dtype == torch.int64 else small
    elif torch.uint8 in (dtype, x.dtype) or dtype == torch.int8 and x.dtype != torch.bool:
        refuse(f"{x.dtype} to {dtype} has no operator of the card")  # the card saturates, torch wraps
    else:
        found = ops.cast(found, name_of(dtype), "trunc" if dtype == torch.int32 and x.dtype in REALS else "rint")
    return wrap(found, dtype, shape=x.shape)


def axis_of(x, dim):
    found = operator.index(dim)
    if not -max(x.ndim, 1) <= found < max(x.ndim, 1):
        raise IndexError(f"dim: found {dim}; allowed: {-max(x.ndim, 1)} to {max(x.ndim, 1) - 1}")
    return found % max(x.ndim, 1)


def copy_of_view(source, base, dtype, **form):
    """What torch makes as a view and the card has as a copy: neither may be written to while both live."""
    views = getattr(source._card._block, "torch_views", None)
    if base._block is not source._card._block:
        if views is None:
            views = source._card._block.torch_views = weakref.WeakSet()
        base._block.torch_views = views
        views.add(base._block)
    return wrap(base, dtype, **form)


def writable(x, what):
    """The memory of x, for an operator in place. Raises NotImplementedError."""
    if getattr(x._card._block, "torch_views", None):
        raise NotImplementedError(f"{what}: in place where the card has a view as a copy")
    if x._order != tuple(range(x.ndim)) or x._card.shape != tuple(x.shape):
        raise NotImplementedError(f"{what}: in place on turned or repeated axes")
    return x._card


def store(x, value, what):
    """Fills x with the elements of `value` on the card."""
    target = writable(x, what)
    if tuple(value.shape) != tuple(x.shape):
        raise NotImplementedError(f"{what}: a result of {tuple(value.shape)} in place of {tuple(x.shape)}")
    if x.dtype != value.dtype:
        raise NotImplementedError(f"{what}: a result of {value.dtype} in place of {x.dtype}")
    if target.size:
        bits = [each.view("int8") if each.dtype == bool else each for each in (target, plain(value))]
        ops.kv_cache_write(bits[0].reshape(1, -1), _first_row(target.device), bits[1].reshape(1, -1))
    return x


def _first_row(device):
    found = getattr(device, "torch_first_row", None)
    if found is None:
        found = device.torch_first_row = tensor(numpy.zeros(1, "int32"), device=device)
    return found
