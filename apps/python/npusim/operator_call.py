# SPDX-License-Identifier: Apache-2.0
"""A call of an operator: its arrays to the card, the operator, its result back."""

import os

import numpy

from . import _npusim
from .device import Device
from .tensor import Tensor, tensor
from .simulator import current_simulator

_NAMES = {"float16": "float16", "float32": "float32", "int8": "int8", "int32": "int32",
          "int64": "int64", "uint16": "bfloat16"}
_ARRAYS = {"float16": "float16", "half": "float16", "fp16": "float16", "f16": "float16",
           "float32": "float32", "float": "float32", "fp32": "float32", "f32": "float32",
           "bfloat16": "uint16", "bf16": "uint16", "int8": "int8", "i8": "int8", "int32": "int32",
           "i32": "int32", "int64": "int64", "i64": "int64"}
_LIMITS = {"core.l1_kib": 1 << 10, "core.l0a_kib": 1 << 10, "core.l0b_kib": 1 << 10,
           "core.l0c_kib": 1 << 10, "core.ub_kib": 1 << 10, "l2.size_mib": 1 << 20,
           "core.fixpipe_bf16": 1, "core.ub_to_l1.per_clock_bytes": 1}
_last = {}
watchers = []  # functions that see what `last_call()` says of each call


def cache_folder():
    for name, below in (("NPUSIM_JIT_CACHE_DIR", ""), ("XDG_CACHE_HOME", "npusim/jit"),
                        ("HOME", ".cache/npusim/jit")):
        if os.environ.get(name):
            return os.path.join(os.environ[name], below) if below else os.environ[name]
    return ""


def host_of(device):
    """A device, None for card 0, and what runs operators on it."""
    if device is None:
        simulator = current_simulator()
        if simulator is None:
            raise RuntimeError("no machine: make an npusim.Simulator first, and keep it")
        device = simulator._default_device()
    if not isinstance(device, Device):
        raise TypeError(f"device: found a {type(device).__name__}; allowed: a Device, None")
    if device._operators is None:
        device._ready()
        values = device._simulator.report()["configuration"]
        limits = [values[f"cards.{device.index}.{key}"] * unit for key, unit in _LIMITS.items()]
        device._operators = _npusim.OperatorHost(device._card, cache_folder(),
                                                 _npusim.CoreLimits(*limits))
    return device, device._operators


def type_of(array, what):
    name = _NAMES.get(array.dtype.name)
    if name is None:
        raise ValueError(f"{what}: found an array of {array.dtype.name}; allowed: "
                         f"{', '.join(_NAMES)} (bits of bfloat16)")
    return name


def _out(outDType):
    name = outDType if isinstance(outDType, str) else numpy.dtype(outDType).name
    if name not in _ARRAYS:
        raise ValueError(f"outDType: found '{name[:40]}'; allowed: {', '.join(_ARRAYS)}")
    array = _ARRAYS[name]
    return _NAMES[array], array


def out_type(outDType):
    return _out(outDType)[0]


def number_of(value, what, kind=float):
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: found a {type(value).__name__}; allowed: a number") from None


def array_of(value, what, dimensions=None):
    """A Tensor as it is; else an array in the byte order of the card, and of this host."""
    array = value
    if not isinstance(value, Tensor):
        array = numpy.asarray(value)
        if array.dtype.kind in "SUMm":
            raise ValueError(f"{what}: found {type(value).__name__} of {array.dtype}; allowed: an array of numbers, "
                             "a Tensor")
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if dimensions is not None and array.ndim != dimensions:
        raise ValueError(f"{what}: found {array.ndim} dimensions; allowed: {dimensions}")
    return array


def _card_of(device, tensors):
    """The device of the call's tensors. Raises ValueError: they are on several."""
    if device is None and tensors:
        device = tensors[0].device
    if any(each.device is not device for each in tensors):
        raise ValueError("tensors of a call are on one device")
    return device


def _zero(device, host, tensor):
    """Fills a tensor on the card: of `pad`, nothing with so many zeros before it."""
    call = _npusim.OperatorCall()
    call.name, call.dtype, call.shape = "pad", "int8", [1, 0, 1, tensor.nbytes, 0]
    call.inputs = [tensor.address] + [0] * (len(call.inputs) - 1)
    call.results = [tensor.address] + [0] * (len(call.results) - 1)
    host.run(call)


def repeated(**shapes):
    """The shape that arrays have whose sides of 1 are repeated."""
    try:
        return numpy.broadcast_shapes(*shapes.values())
    except ValueError:
        found = ", ".join(f"{name} is {tuple(shape)}" for name, shape in shapes.items())
        raise ValueError(f"{found}: sides are equal, or 1, from the last one on") from None


def run(device, call, arrays, shape, outDType, zeros=False, in_place=0, others=(), scalars=4, what=None):
    """`zeros`: the operator leaves elements of the result alone, which are to be 0. `in_place`: results
    are so many of the first arrays, and a list of them is returned. `others`: shapes and types of
    results behind the first one; then all are a list. Of tensors the results are tensors. Of an
    expression: `scalars`, how many are given; `what`, what the caller calls it."""
    _npusim.check_formula(call, scalars, what or (f"'{call.expression}'" if call.expression else call.name))
    tensors = [each for each in arrays if isinstance(each, Tensor)]
    device, host = host_of(_card_of(device, tensors))
    if device._capture is not None and not tensors:
        raise ValueError("a graph has operators on tensors: npusim.tensor() makes them")
    call.out_dtype, result_type = _out(outDType)
    wanted = [(tuple(shape), result_type)] * max(in_place, 1) + list(others)
    given = [each if each is None or isinstance(each, Tensor) else tensor(each, device=device)
             for each in arrays]
    if device._capture is None:
        for each in given:
            if each is not None:
                each._check_filled()
    results = given[:in_place] + [Tensor(device, *each) for each in wanted[in_place:]]
    if zeros and results[0].nbytes:
        _zero(device, host, results[0])
    addresses = [0 if each is None else each.address for each in given]
    call.inputs = addresses + [0] * (len(call.inputs) - len(addresses))
    places = [each.address for each in results]
    call.results = places + [0] * (len(call.results) - len(places))
    ran = host.run(call)
    _last.clear()
    _last.update(ran)
    for watch in watchers:
        watch(_last)
    if device._capture is not None:
        device._capture.keep(given, results, results[in_place:])
    found = results if tensors else [each.numpy() for each in results]
    return found if len(found) > 1 or in_place else found[0]


def last_call():
    """How the last operator of this process ran: a `dict`.

    key (64 digits, the kernel's), origin ("compiled", "disk", "memory": who had the kernel),
    compile_ns (wall time), host_ps (a `dict`: simulated time of the host by layer, from the call to
    the last doorbell), device_ps (simulated time on the card: from the begin of the first block to
    the end of the last), total_ps (from the call until the host has seen the end; what is more than
    device_ps is the launch), launches, workspace_bytes, warnings (of the cache). Empty before the first.
    """
    return dict(_last)
