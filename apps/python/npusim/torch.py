# SPDX-License-Identifier: Apache-2.0
"""Torch on a card: tensors and modules whose operators run on it, for inference.

    import torch, npusim.torch
    with npusim.Simulator("910b2"), torch.no_grad():
        x = npusim.torch.to(torch.ones(4, 8))
        y = torch.relu(x @ x.T).cpu()

`import npusim` does not import it, and npusim does not need torch. Operators of aten run by those of
`npusim.ops`; one that has no counterpart raises NotImplementedError with its name, or runs on the host in
`record(fallback=True)`.
"""

import contextlib
import weakref

try:
    import torch
except ImportError as error:
    raise ImportError(f"npusim.torch needs PyTorch (python3-torch of Debian): {error}") from None
from torch.utils._pytree import tree_flatten, tree_map

from . import operator_call
from .errors import Error, ErrorCode
from .simulator import current_simulator
from .tensor import Tensor, _device_of, empty
from .torch_moves import TABLE
from .torch_tensor import TYPES, CardTensor, store, to_card, to_host, wrap

__all__ = ["CardTensor", "from_npusim", "record", "to"]

_INDICES = ("embedding", "index", "index_select", "copy_")  # take tensors of the host beside the card's
_records = []  # of `record()`, the innermost one last: whether the host helps, and rows
_devices = weakref.WeakValueDictionary()  # by index


def to(value, device=None):
    """A tensor on a card; or a module, whose parameters and buffers move there.

    Args:
        value: a tensor of float16, bfloat16, float32, int8, int32, int64, uint8 or bool, which is copied; one
            that is on this card is returned as it is. A `torch.nn.Module` is changed and returned, and its
            parameters need no gradient then.
        device: an `npusim.Device`; None: card 0.

    Raises:
        ValueError: another type of elements; a tensor of another card.
        Error: `ErrorCode.OUT_OF_MEMORY`.
    """
    device = _device_of(device)
    if isinstance(value, torch.nn.Module):
        return _move(value, device)
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"value: found a {type(value).__name__}; allowed: a torch.Tensor, a torch.nn.Module")
    _devices[device.index] = device
    if not isinstance(value, CardTensor):
        return to_card(value, device)
    if value._card.device is not device:
        raise ValueError(f"value: it is on card {value._card.device.index}; cpu() copies it to the host")
    return value


def _move(module, device):
    moved = {}  # what two modules share stays shared
    for part in module.modules():
        for kind in (part._parameters, part._buffers):
            for name, each in kind.items():
                if each is None:
                    continue
                if id(each) not in moved:
                    made = to(each, device)
                    moved[id(each)] = (torch.nn.Parameter(made, requires_grad=False)
                                       if kind is part._parameters else made, each)
                kind[name] = moved[id(each)][0]
    return module


def from_npusim(tensor):
    """A torch tensor of an `npusim.Tensor`, of the same memory. `npusim()` of it is the way back.

    Args:
        tensor: one whose type torch has; uint16 are the bits of bfloat16.

    Raises:
        ValueError: another type.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensor: found a {type(tensor).__name__}; allowed: an npusim.Tensor")
    for dtype, name in TYPES.items():
        if tensor.dtype == name:
            _devices[tensor.device.index] = tensor.device
            return wrap(tensor, dtype)
    raise ValueError(f"tensor: found {tensor.dtype.name}; allowed: {', '.join(TYPES.values())}")


@contextlib.contextmanager
def record(*, fallback=False):
    """Lists the operators of its block: a context manager.

    Args:
        fallback: True: what has no operator of the card is computed by torch on the host.

    Returns:
        A list of a `dict` for each operator of aten that took simulated time: operator (its name), where
        ("card" or "host"), launches, device_ps (in which kernels ran), total_ps (from the call until its
        end, with copies), copied_bytes (that a fallback copied to the host and back).
    """
    rows = []
    _records.append((fallback, rows))
    try:
        yield rows
    finally:
        _records.pop()


def dispatch(func, args, kwargs):
    """Runs an operator of aten, whose tensors are on a card or on the host."""
    name = func.overloadpacket.__name__
    tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
    _check(func, tensors[:1] if name in _INDICES else tensors)
    if not _records:
        return _run(func, name, args, kwargs)
    row = {"operator": str(func), "where": "card", "launches": 0, "device_ps": 0, "total_ps": 0, "copied_bytes": 0}

    def see(call):
        row["launches"] += call.get("launches", 0)
        row["device_ps"] += call.get("device_ps", 0)
    begin = current_simulator().now
    operator_call.watchers.append(see)
    try:
        return _run(func, name, args, kwargs)
    except NotImplementedError:
        if not _records[-1][0]:
            raise
        row["where"] = "host"
        return _on_host(func, args, kwargs, row)
    finally:
        operator_call.watchers.remove(see)
        row["total_ps"] = current_simulator().now - begin
        if row["total_ps"]:
            _records[-1][1].append(row)


def _check(func, tensors):
    if len({each._card.device.index for each in tensors if isinstance(each, CardTensor)}) > 1:
        raise RuntimeError(f"{func}: tensors of a call are on one card")
    for each in tensors:
        if not isinstance(each, CardTensor) and each.ndim:
            raise RuntimeError(f"{func}: a tensor of {tuple(each.shape)} is on the host; npusim.torch.to() moves it")


def _run(func, name, args, kwargs):
    kwargs = dict(kwargs)
    target = kwargs.pop("out", None)
    handler = TABLE.get(name)
    if handler is None and name.endswith("_") and not name.endswith("__"):
        handler, target = TABLE.get(name[:-1]), args[0]
    if handler is None:
        found = func.decompose(*args, **kwargs) if target is None else NotImplemented
        if found is NotImplemented:
            raise NotImplementedError(f"{func}: no operator of the card does it")
        return found
    try:
        found = handler(*args, **kwargs)
    except (Error, ValueError, TypeError) as error:
        if isinstance(error, Error) and error.code not in (ErrorCode.INVALID_ARGUMENT, ErrorCode.UNSUPPORTED):
            raise
        _meta(func, args, kwargs)
        raise NotImplementedError(f"{func}: {str(error).splitlines()[0].split('; compiler:')[0]}") from error
    except NotImplementedError as error:
        raise NotImplementedError(f"{func}: {error}") from None
    if target is None:
        return found
    return store(target, found, str(func))


def _meta(func, args, kwargs):
    """Raises what torch says of these shapes, if it says anything."""
    def like(each):
        return torch.empty(each.shape, dtype=each.dtype, device="meta") if isinstance(each, torch.Tensor) else each
    try:
        func(*tree_map(like, args), **tree_map(like, kwargs))
    except NotImplementedError:
        pass


def _size(each):
    return each.numel() * each.element_size()


def _on_host(func, args, kwargs, row):
    device = next(each for each in tree_flatten((args, kwargs))[0] if isinstance(each, CardTensor))._card.device
    copies = {}

    def host(each):
        if not isinstance(each, CardTensor):
            return torch.device("cpu") if isinstance(each, torch.device) else each
        if id(each) not in copies:
            copies[id(each)] = (each, to_host(each))
            row["copied_bytes"] += _size(copies[id(each)][1])
        return copies[id(each)][1]

    def card(each):
        if not isinstance(each, torch.Tensor):
            return each
        for original, copy in copies.values():
            if each is copy:
                return original
        row["copied_bytes"] += _size(each)
        return to_card(each, device)

    given = {argument.name: value for argument, value in zip(func._schema.arguments, args)}
    found = func(*tree_map(host, args), **tree_map(host, kwargs))
    for argument in func._schema.arguments:
        value = given.get(argument.name, kwargs.get(argument.name))
        if argument.alias_info is not None and argument.alias_info.is_write and isinstance(value, CardTensor):
            copy = copies[id(value)][1]
            row["copied_bytes"] += _size(copy)
            store(value, to_card(copy, device), str(func))
    return tree_map(card, found)


def _empty(size, *, dtype=None, device=None, **_):
    index = device.index or 0
    device = _devices.get(index)
    if device is None or device.closed:
        device = current_simulator().device(index) if current_simulator() else _device_of(None)
    dtype = dtype or torch.get_default_dtype()
    if dtype not in TYPES:
        raise NotImplementedError(f"aten.empty: {dtype} is no type of the card's tensors")
    return wrap(empty(tuple(size), TYPES[dtype], device=device), dtype)


# What torch makes by itself on the device: numbers beside a tensor, the likes of zeros_like().
_library = torch.library.Library("aten", "IMPL")
_library.impl("empty.memory_format", _empty, "PrivateUse1")
_library.impl("empty_strided", lambda size, stride, **options: _empty(size, **options), "PrivateUse1")
_library.impl("_copy_from", lambda source, target, non_blocking=False: store(
    target, to(source, target._card.device), "aten._copy_from"), "PrivateUse1")
