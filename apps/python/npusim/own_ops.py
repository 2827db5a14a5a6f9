# SPDX-License-Identifier: Apache-2.0
"""Operators of one's own (docs/own-operators.md): a part of `npusim.ops`, whose module says what arrays,
types and errors are."""

import operator

from . import _npusim
from .operator_call import array_of, number_of, out_type, run, type_of

_ARRAYS = {"bfloat16": "uint16"}
_MOST_SIDE = (1 << 31) - 1


def _sides(sides):
    if sides is None:
        return {}
    if not isinstance(sides, dict):
        raise TypeError(f"sides: found a {type(sides).__name__}; allowed: a dict from names to numbers")
    checked = {}
    for name, side in sides.items():
        if not isinstance(name, str):
            raise TypeError(f"sides: found a {type(name).__name__} as a name; allowed: a str")
        try:
            number = operator.index(side)
        except TypeError:
            number = -1
        if not 0 <= number <= _MOST_SIDE:
            raise ValueError(f"sides['{name[:40]}']: found {str(side)[:40]}; allowed: 0 to {_MOST_SIDE}")
        checked[name] = number
    return checked


def call(name, *inputs, sides=None, outDType=None, epsilon=1e-6, scale=1.0, value=0.0, device=None):
    """An operator that is described in a folder of $NPUSIM_OPERATORS_PATH.

    Args:
        name: the operator's.
        inputs: arrays, in the order of the description. The type of the first one that has no type
            in the description is the operator's.
        sides: a `dict` from the names of sides that no input has to numbers.
        outDType: of the first result; only the type that the description gives it is allowed.
        epsilon, scale, value: what the source reads in its parameters.
        device: a `Device`; None: card 0.

    Returns:
        The result; a list of them if there are several.

    Raises:
        ValueError, Error: see the module. Error, NOT_FOUND: no such operator.
    """
    if not isinstance(name, str):
        raise TypeError(f"name: found a {type(name).__name__}; allowed: a str")
    sides = _sides(sides)
    arrays = [array_of(each, f"inputs[{i}]") for i, each in enumerate(inputs)]
    types = [type_of(array, f"inputs[{i}]") for i, array in enumerate(arrays)]
    wanted = _npusim.OperatorCall()
    wanted.name = name
    wanted.epsilon = number_of(epsilon, "epsilon")
    wanted.scale = number_of(scale, "scale")
    wanted.scalars = [number_of(value, "value"), 0.0, 0.0, 0.0]
    shapes = [list(array.shape) for array in arrays]
    wanted.dtype = _npusim.type_of_call(name, types)
    if outDType is not None:
        wanted.out_dtype = out_type(outDType)
    of_inputs, results = _npusim.complete_call(wanted, shapes, sides)
    for i, (found, allowed) in enumerate(zip(types, of_inputs)):
        if found != allowed:
            raise ValueError(f"inputs[{i}]: found {found}; allowed: {allowed}")
    results = [(shape, _ARRAYS.get(kind, kind)) for shape, kind in results]
    (shape, kind), others = results[0], results[1:]
    return run(device, wanted, arrays, shape, "bfloat16" if kind == "uint16" else kind, others=others)
