# SPDX-License-Identifier: Apache-2.0
"""Operators against NumPy. NPUSIM_OPS_SHAPES: how many random shapes of each."""
import os
import zlib

import numpy
import pytest

import npusim
from npusim import ops

SHAPES = int(os.environ.get("NPUSIM_OPS_SHAPES", "4"))
REALS = ["float16", "float32", "bfloat16"]
SIDES = [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 61, 64, 97, 128, 131, 200]


@pytest.fixture(autouse=True)
def machine(simulator):
    return simulator


class Values:
    """Random arrays of a type: small integers, whose products and sums are exact in all of them."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)

    def side(self):
        return int(self.random.choice(SIDES))

    def flags(self, count):
        return [bool(each) for each in self.random.integers(0, 2, count)]

    def small(self, shape, dtype):
        return self.given(self.random.integers(-2, 3, shape), dtype)

    def normal(self, shape, dtype):
        return self.given(self.random.standard_normal(shape), dtype)

    @staticmethod
    def given(array, dtype):
        return npusim.to_bfloat16(array) if dtype == "bfloat16" else array.astype(dtype)


def exact(array):
    """The values as float64, whatever holds them."""
    if array.dtype == numpy.uint16:
        array = npusim.from_bfloat16(array)
    return array.astype("float64")


def near(found, expected, dtype):
    relative = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5}[dtype]
    numpy.testing.assert_allclose(exact(found), expected, rtol=relative, atol=relative)


@pytest.mark.parametrize("dtype", REALS + ["int8"])
@pytest.mark.parametrize("name", ["basic_matmul", "batched_matmul", "splitk_matmul"])
def test_products(name, dtype):
    values = Values(zlib.crc32(f"{name} {dtype}".encode()))
    out = "int32" if dtype == "int8" else "float32"
    for _ in range(SHAPES):
        m, n, k = (values.side() for _ in range(3))
        batch = (int(values.random.integers(1, 4)),) if name == "batched_matmul" else ()
        a, b = values.small((*batch, m, k), dtype), values.small((*batch, k, n), dtype)
        ta, tb, fa, fb = values.flags(4)
        found = getattr(ops, name)(a.swapaxes(-1, -2) if ta else a, b.swapaxes(-1, -2) if tb else b,
                                   out, ta, tb, fa, fb)
        assert found.dtype == out
        assert (found == exact(a) @ exact(b)).all(), (m, n, k, ta, tb, fa, fb)


@pytest.mark.parametrize("dtype", REALS)
def test_types_of_results(dtype):
    values = Values(7)
    a, b = values.normal((33, 47), dtype), values.normal((47, 21), dtype)
    for out in REALS:
        rough = {dtype, out}
        found = ops.basic_matmul(a, b, out)
        assert found.dtype == ("uint16" if out == "bfloat16" else out)
        near(found, exact(a) @ exact(b),
             "bfloat16" if "bfloat16" in rough else "float16" if "float16" in rough else "float32")
    assert ops.basic_matmul(a, b).dtype == "float16"
    assert ops.basic_matmul(a, b, numpy.float32).dtype == "float32"


def test_quantised_products():
    values = Values(3)
    for _ in range(SHAPES):
        m, n, k = (values.side() for _ in range(3))
        a, b = values.small((m, k), "int8"), values.small((k, n), "int8")
        channels, tokens = (values.random.uniform(0.5, 2, side).astype("float32")
                            for side in (n, m))
        expected = 0.25 * tokens[:, None].astype("float64") * channels * (exact(a) @ exact(b))
        near(ops.quant_matmul(a, b, scale=0.25, channel_scales=channels, token_scales=tokens),
             expected, "float32")
    near(ops.quant_matmul(a, b), exact(a) @ exact(b), "float32")


@pytest.mark.parametrize("dtype", REALS + ["int8"])
def test_gemv(dtype):
    values = Values(4)
    for _ in range(SHAPES):
        m, k = values.side(), values.side()
        a, x = values.small((m, k), dtype), values.small((k,), dtype)
        transposed, = values.flags(1)
        found = ops.gemv(a.T if transposed else a, x, None if dtype == "int8" else "float32",
                         transposed)
        assert (found == exact(a) @ exact(x)).all(), (m, k, transposed)


@pytest.mark.parametrize("dtype", REALS + ["int32"])
def test_elementwise(dtype):
    values = Values(5)
    for _ in range(SHAPES):
        shape = tuple(values.side() for _ in range(int(values.random.integers(1, 3))))
        a, b = values.small(shape, dtype), values.small(shape, dtype)
        found = ops.elementwise("a * s + b", a, b, scalars=[2])
        assert found.shape == shape and found.dtype == a.dtype
        assert (exact(found) == 2 * exact(a) + exact(b)).all()


@pytest.mark.parametrize("dtype", REALS)
def test_softmax(dtype):
    values = Values(6)
    for _ in range(SHAPES):
        x = values.normal((values.side(), values.side()), dtype)
        power = numpy.exp(exact(x) - exact(x).max(axis=1, keepdims=True))
        near(ops.softmax(x), power / power.sum(axis=1, keepdims=True), dtype)


@pytest.mark.parametrize("dtype", REALS)
def test_rms_norm(dtype):
    values = Values(8)
    for _ in range(SHAPES):
        x = values.normal((values.side(), values.side()), dtype)
        gamma = values.normal((x.shape[1],), dtype)
        root = numpy.sqrt((exact(x) ** 2).mean(axis=1, keepdims=True) + 1e-3)
        near(ops.rms_norm(x, gamma, epsilon=1e-3), exact(x) / root * exact(gamma), dtype)
        near(ops.rms_norm(x, epsilon=1e-3), exact(x) / root, dtype)


def attention(q, k, v, causal):
    q, k, v = exact(q), exact(k), exact(v)
    k, v = (numpy.repeat(each, q.shape[1] // k.shape[1], axis=1) for each in (k, v))
    scores = q @ k.swapaxes(-1, -2) / numpy.sqrt(q.shape[3])
    if causal:
        scores[..., numpy.triu(numpy.ones(scores.shape[-2:], bool), 1)] = -numpy.inf
    power = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True) @ v


@pytest.mark.parametrize("dtype", REALS)
def test_flash_attention(dtype):
    values = Values(9)
    for _ in range(SHAPES):
        batch, kv, group = (int(each) for each in values.random.integers(1, 3, 3))
        queries, keys, head = values.side(), values.side(), int(values.random.choice([16, 64, 128]))
        q = values.normal((batch, kv * group, queries, head), dtype)
        k, v = (values.normal((batch, kv, keys, head), dtype) for _ in range(2))
        causal, = values.flags(1)
        near(ops.flash_attention(q, k, v, causal=causal), attention(q, k, v, causal),
             "bfloat16" if dtype == "bfloat16" else "float16")


def test_nothing_and_not_a_number():
    empty = ops.basic_matmul(numpy.zeros((0, 5), "float16"), numpy.zeros((5, 3), "float16"))
    assert empty.shape == (0, 3)
    sums = ops.basic_matmul(numpy.zeros((4, 0), "float16"), numpy.zeros((0, 3), "float16"))
    assert (sums == 0).all() and sums.shape == (4, 3)
    a = numpy.ones((20, 20), "float32")
    a[3, 4] = numpy.nan
    found = ops.basic_matmul(a, numpy.ones((20, 20), "float32"), "float32")
    assert numpy.isnan(found[3]).all() and (numpy.delete(found, 3, 0) == 20).all()


def test_who_had_the_kernel():
    a = numpy.ones((8, 8), "float32")
    ops.elementwise("a + s * 4096", a, scalars=[1])
    first = ops.last_call()
    ops.elementwise("a + s * 4096", a, scalars=[2])
    second = ops.last_call()
    assert first["origin"] in ("compiled", "disk") and second["origin"] == "memory"
    assert first["key"] == second["key"] and len(first["key"]) == 64
    assert second["compile_ns"] == 0 and second["launches"] == 1
    ops.elementwise("a - s * 4096", a, scalars=[1])
    assert ops.last_call()["key"] != first["key"]


def test_what_cannot_be(device):
    half, single = numpy.ones((4, 4), "float16"), numpy.ones((4, 4), "float32")
    with pytest.raises(ValueError, match="they cannot be multiplied"):
        ops.basic_matmul(half, half[:3])
    with pytest.raises(ValueError, match="a is float16, b is float32"):
        ops.basic_matmul(half, single)
    with pytest.raises(ValueError, match="outDType: found 'float8'"):
        ops.basic_matmul(half, half, "float8")
    with pytest.raises(ValueError, match="found an array of float64"):
        ops.basic_matmul(half.astype("float64"), half.astype("float64"))
    with pytest.raises(ValueError, match="found 1 dimensions"):
        ops.softmax(half[0])
    with pytest.raises(npusim.Error) as caught:
        ops.basic_matmul(half, half, "int32")
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    allocations = device.info["allocations"]
    with pytest.raises(npusim.Error) as caught:
        ops.elementwise("no_such_function(a)", single, device=device)
    assert "no_such_function" in caught.value.context
    assert device.info["allocations"] == allocations
    assert (ops.elementwise("a + a", single) == 2).all()


def test_without_a_machine(script):
    script("""
import numpy, npusim, pytest
with pytest.raises(RuntimeError, match="make an npusim.Simulator first"):
    npusim.ops.softmax(numpy.ones((2, 2), "float32"))
""")


def test_formats():
    matrix = numpy.arange(20 * 20, dtype="float16").reshape(20, 20)
    packed = npusim.to_nz(matrix)
    assert packed.shape == (32 * 32,)
    for row, column in ((0, 0), (3, 15), (3, 16), (19, 19), (16, 2)):
        assert packed[column // 16 * 32 * 16 + row * 16 + column % 16] == matrix[row, column]
    assert packed.sum(dtype="float64") == matrix.sum(dtype="float64")
    with pytest.raises(ValueError):
        npusim.to_nz(matrix[0])


def test_bfloat16():
    bits = numpy.array([0x3F80, 0xC000, 0x7F80, 0x0001, 0x7F7F], "uint16")
    assert (npusim.to_bfloat16(npusim.from_bfloat16(bits)) == bits).all()
    assert npusim.to_bfloat16([1.00390625, 1.01171875]).tolist() == [0x3F80, 0x3F82]  # to even
    assert numpy.isnan(npusim.from_bfloat16(npusim.to_bfloat16([float("nan")])))[0]
