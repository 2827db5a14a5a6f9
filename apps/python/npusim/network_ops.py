# SPDX-License-Identifier: Apache-2.0
"""What networks have between their products: a part of `npusim.ops`, whose module says what arrays, types
and errors are."""

import operator

import numpy

from .array_ops import concat, embedding, split
from .operator_call import array_of, number_of, run
from .tensor_ops import _broadcast, _call, transpose


def _each(name, expression, doc):
    def apply(x, outDType=None, *, device=None):
        from .ops import _elementwise
        return _elementwise(expression, [x], (), outDType, device, name)
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"""{doc}, for each element.

    Args:
        x: float16, float32 or bfloat16.
        outDType: of the result; None: that of x.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return apply


def _pair(name, expression, doc):
    def apply(a, b, outDType=None, *, device=None):
        return _broadcast(expression, a, b, (), outDType, device, name)
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"""{doc}, for each element.

    Args:
        a, b: arrays of one type; sides of 1 are repeated as NumPy does.
        outDType: of the result; None: that of a.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    return apply


tanh = _each("tanh", "tanh(a)", "The hyperbolic tangent")
sigmoid = _each("sigmoid", "sigmoid(a)", "1 / (1 + exp(-x))")
silu = _each("silu", "silu(a)", "x / (1 + exp(-x))")
gelu = _each("gelu", "gelu(a)", "x times the normal distribution's function, by tanh")
exp = _each("exp", "exp(a)", "e to the power of x")
add = _pair("add", "a + b", "a + b")
sub = _pair("sub", "a - b", "a - b")
mul = _pair("mul", "a * b", "a b")
div = _pair("div", "a / b", "a / b")
maximum = _pair("maximum", "max(a, b)", "The larger one of a and b")
minimum = _pair("minimum", "min(a, b)", "The smaller one of a and b")


def swi_glu(x, outDType=None, *, device=None):
    """silu of the left half of each row times its right half.

    Args:
        x: rows x columns, float16, float32 or bfloat16; an even number of columns.
        outDType: of the result, which has half the columns; None: that of x.
        device: a `Device`; None: card 0.

    Raises:
        ValueError, Error: see the module.
    """
    x = array_of(x, "x", 2)
    call = _call("swi_glu", x, x.shape)
    return run(device, call, [x], (x.shape[0], x.shape[1] // 2), outDType or call.dtype)


def add_rms_norm(x, y, gamma, *, epsilon=1e-6, device=None):
    """The RMS norm of x + y, and x + y.

    Args:
        x, y: rows x columns of one type, float16, float32 or bfloat16.
        gamma: `columns` elements of the same type.
        epsilon: a float.
        device: a `Device`; None: card 0.

    Returns:
        Two arrays.

    Raises:
        ValueError, Error: see the module.
    """
    x, y, gamma = array_of(x, "x", 2), array_of(y, "y", 2), array_of(gamma, "gamma", 1)
    if x.shape != y.shape or gamma.shape != x.shape[1:] or not x.dtype == y.dtype == gamma.dtype:
        raise ValueError(f"add_rms_norm: x is {x.shape} of {x.dtype.name}, y {y.shape} of {y.dtype.name}, "
                         f"gamma {gamma.shape} of {gamma.dtype.name}")
    call = _call("add_rms_norm", x, x.shape, epsilon=number_of(epsilon, "epsilon"))
    return tuple(run(device, call, [x, y, gamma], x.shape, call.dtype, others=[(x.shape, x.dtype)]))


def _places(sides, kernel, stride, padding, dilation):
    """Of each element of each window the pixel, -1 outside: batch, rows, columns, window."""
    batch, height, width = sides
    outputs = [(side + 2 * pad - step * (window - 1) - 1) // move + 1
               for side, pad, step, window, move in
               zip((height, width), padding, dilation, kernel, stride)]
    if min(outputs) < 1:
        raise ValueError(f"conv2d: a window of {kernel} is larger than {height} x {width} with its padding")
    axes = [numpy.arange(count)[:, None] * move - pad + numpy.arange(window)[None, :] * step
            for count, move, pad, window, step in zip(outputs, stride, padding, kernel, dilation)]
    rows = axes[0][None, :, None, :, None]
    columns = axes[1][None, None, :, None, :]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    first = numpy.arange(batch)[:, None, None, None, None] * (height * width)
    return numpy.where(inside, first + rows * width + columns, -1), outputs


def _two(value, what):
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    pair = tuple(number_of(each, what, operator.index) for each in pair)
    if len(pair) != 2 or min(pair) < (0 if what == "padding" else 1):
        raise ValueError(f"{what}: found {value}; allowed: a number, or two")
    return pair


def conv2d(x, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1, device=None):
    """A convolution: windows of x as rows of a matrix (gathered on the card), times the weights.

    Args:
        x: batch x channels x height x width, float16, float32 or bfloat16.
        weight: outputs x channels / groups x height x width of a window, of the same type.
        bias: `outputs` numbers, float16 or float32; None: none.
        stride, padding, dilation: a number, or two for height and width.
        groups: divides channels and outputs; each group is a product of its own.
        device: a `Device`; None: card 0.

    Returns:
        batch x outputs x height x width, of the type of x.

    Raises:
        ValueError, Error: see the module.
    """
    from .ops import basic_matmul
    x, weight = array_of(x, "x", 4), array_of(weight, "weight", 4)
    batch, channels, height, width = x.shape
    outputs, each, *kernel = weight.shape
    groups = number_of(groups, "groups", operator.index)
    if groups < 1 or channels != each * groups or outputs % groups or x.dtype != weight.dtype:
        raise ValueError(f"conv2d: x is {x.shape} of {x.dtype.name}, weight {weight.shape} of "
                         f"{weight.dtype.name}, {groups} groups")
    places, sides = _places((batch, height, width), kernel, _two(stride, "stride"),
                            _two(padding, "padding"), _two(dilation, "dilation"))
    pixels = transpose(x, (0, 2, 3, 1), device=device).reshape(-1, channels)
    windows = transpose(weight, (2, 3, 1, 0), device=device).reshape(-1, outputs)
    inputs = split(pixels, groups, axis=1, device=device) if groups > 1 else [pixels]
    filters = split(windows, groups, axis=1, device=device) if groups > 1 else [windows]
    bias = None if bias is None else array_of(bias, "bias", 1)
    biases = [bias] if bias is None or groups == 1 else split(bias, groups, device=device)
    products = [
        basic_matmul(embedding(one, places.reshape(-1), device=device).reshape(-1, len(filters[i])),
                     filters[i], _type_name(x),
                     bias=biases[i] if bias is not None else None, device=device)
        for i, one in enumerate(inputs)]
    result = concat(products, axis=1, device=device) if groups > 1 else products[0]
    return transpose(result.reshape(batch, *sides, outputs), (0, 3, 1, 2), device=device)


def _type_name(x):
    return "bfloat16" if x.dtype == "uint16" else x.dtype.name
