# SPDX-License-Identifier: Apache-2.0
"""Networks from ONNX files on a card (docs/networks.md)."""

import os

import numpy

from . import _npusim
from .operator_call import host_of
from .programs import program

# Types of ONNX that arrays have; bfloat16 as its bits. Strings are arrays of str.
_ARRAYS = {"float": "float32", "double": "float64", "float16": "float16", "bfloat16": "uint16",
           "bool": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
           "string": "object", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64"}


class Network:
    """A model of ONNX on a card.

    Its weights are copied there once, and stay until `close()`, the end of a `with`, or until nobody holds it.

    Args:
        path: of the model's file.
        passes: names of the passes over the graph (docs/networks.md); None: all; empty: none.
        unmapped: "host": the host computes nodes that no operator maps, if it can; "refuse": an error.
        device: a `Device`; None: card 0 of the process's `Simulator`.

    Raises:
        ValueError: an unknown pass; `unmapped` is something else.
        Error: `ErrorCode.UNSUPPORTED`, nodes that no operator maps, by name and type;
            `ErrorCode.INVALID_ARGUMENT` or `NOT_FOUND`, the file cannot be read;
            `ErrorCode.OUT_OF_MEMORY`.
    """

    def __init__(self, path, *, passes=None, unmapped="refuse", device=None):
        self._native = None
        if unmapped not in ("refuse", "host"):
            raise ValueError(f"unmapped: found {str(unmapped)[:40]!r}; allowed: refuse, host")
        self._device, host = host_of(device)
        names = _npusim.network_passes() if passes is None else list(passes)
        self._native = _npusim.NetworkHost(host, os.fspath(path), names, unmapped == "host",
                                           program("tensors"))
        self._device._networks.add(self)
        self._inputs = {name: (kind, sides) for name, kind, sides in self._native.inputs()}
        self._note_programs()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def _note_programs(self):
        if self._native.used_aicpu:
            self._device._simulator._use_program("tensors", program("tensors"))

    @property
    def device(self):
        """The card: a `Device`."""
        return self._device

    @property
    def inputs(self):
        """What `run()` takes: a `dict` from names to (dtype, shape); -1 in a shape, or None for it: open."""
        return {name: (_ARRAYS[kind], None if sides is None else tuple(sides))
                for name, (kind, sides) in self._inputs.items()}

    def run(self, inputs):
        """Computes the network: waits for its results.

        Args:
            inputs: a `dict` from the names of all inputs to arrays of their types. Lists and numbers become
                arrays of these types; arrays do not change theirs. uint16 holds the bits of bfloat16. Strings are
                arrays of str, and of object in the result.

        Returns:
            A `dict` from the names of the model's results to arrays.

        Raises:
            ValueError: an input is missing, unknown, of another type, or of other sides than the model's.
            Error: a node cannot do what the inputs want (`ErrorCode.UNSUPPORTED`,
                `ErrorCode.INVALID_ARGUMENT`), or the card says so. The network stays usable.
        """
        unknown = [name for name in inputs if name not in self._inputs]
        if unknown:
            raise ValueError(f"inputs: found '{unknown[0]}'; allowed: {', '.join(self._inputs)}")
        rows = [self._row(name, inputs) for name in self._inputs]
        results = self._native.run(rows)
        self._note_programs()
        return {name: (numpy.array(data, object) if kind == "string" else
                       numpy.frombuffer(data, _ARRAYS[kind]).copy()).reshape(sides)
                for name, kind, sides, data in results}

    def _row(self, name, inputs):
        if name not in inputs:
            raise ValueError(f"inputs: '{name}' is missing")
        kind, sides = self._inputs[name]
        value = inputs[name]
        dtype = numpy.dtype(_ARRAYS[kind])
        array = value if isinstance(value, numpy.ndarray) else numpy.asarray(value, dtype)
        if kind == "string":
            array = array.astype(object)
            if not all(isinstance(each, str) for each in array.flat):
                raise ValueError(f"{name}: an array of str is wanted")
        if array.dtype.newbyteorder("=") != dtype:
            raise ValueError(f"{name}: found an array of {array.dtype.name}; allowed: {dtype.name}")
        if sides is not None and (len(sides) != array.ndim or
                                  any(side not in (-1, own) for side, own in zip(sides, array.shape))):
            allowed = ", ".join("any" if side == -1 else str(side) for side in sides)
            raise ValueError(f"{name}: found an array of ({', '.join(map(str, array.shape))}); "
                             f"allowed: ({allowed})")
        array = array.astype(dtype, copy=False)
        return name, kind, list(array.shape), list(array.flat) if kind == "string" else array.tobytes()

    @property
    def last_run(self):
        """What the last `run()` took: a `dict`, in simulated time.

        total_ps is from the call to the results on the host. In it device_ps, in which a kernel ran, and
        gap_ps, in which none did; and host_ps, in which the host worked, and wait_ps, in which it waited for
        the card. launches; peak_bytes, of weights and tensors on the card. nodes: a `dict` for each node in the
        order in which they ran: name, operator, launches, on_host, and device_ps, gap_ps, host_ps and wait_ps
        of the node. All 0 before the first run.
        """
        return self._native.times()

    def close(self):
        """Gives weights and tensors back. Idempotent."""
        if self._native is not None:
            self._native.close()
