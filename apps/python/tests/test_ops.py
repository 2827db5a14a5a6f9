# SPDX-License-Identifier: Apache-2.0
"""Operators against NumPy. NPUSIM_OPS_SHAPES: how many random shapes of each."""
import os
import zlib

import numpy
import pytest

import npusim
from npusim import ops

SHAPES = int(os.environ.get("NPUSIM_OPS_SHAPES", "4"))
MANY = SHAPES > 50  # each kernel takes its time to compile
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


@pytest.mark.parametrize("dtype", REALS + ["int8"])
def test_groups(dtype):
    values = Values(zlib.crc32(f"groups {dtype}".encode()))
    for _ in range(SHAPES if MANY else 1):
        m, n, k, groups = (values.side() for _ in range(4))
        groups = groups % 9 + 1
        for slice_k in (False, True):
            ends = numpy.sort(values.random.integers(0, (k if slice_k else m) + 1, groups))
            ta, tb, fa, fb = values.flags(4)
            a = values.small((m, k), dtype)
            b = values.small((k, n) if slice_k else (groups, k, n), dtype)
            call = (a.T if ta else a, b.swapaxes(-1, -2) if tb else b, ends,
                    "int32" if dtype == "int8" else "float32", ta, tb, fa, fb)
            if (fa and not ta or fb and tb) if slice_k else (fa and ta):
                with pytest.raises(npusim.Error) as caught:
                    ops.grouped_matmul(*call, slice_k=slice_k)
                assert caught.value.code is npusim.ErrorCode.UNSUPPORTED
                continue
            found = ops.grouped_matmul(*call, slice_k=slice_k)
            expected = numpy.zeros((groups, m, n) if slice_k else (m, n))
            for group, (begin, end) in enumerate(zip([0, *ends], ends)):
                if slice_k:
                    expected[group] = exact(a)[:, begin:end] @ exact(b)[begin:end]
                else:
                    expected[begin:end] = exact(a)[begin:end] @ exact(b[group])
            assert (found == expected).all(), (m, n, k, ends, slice_k, ta, tb, fa, fb)


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
        ta, tb, fa, fb = values.flags(4)
        out = REALS[int(values.random.integers(3))]
        near(ops.quant_matmul(a.T if ta else a, b.T if tb else b, out, ta, tb, fa, fb, scale=0.25,
                              channel_scales=channels, token_scales=tokens), expected, out)
    near(ops.quant_matmul(a, b), exact(a) @ exact(b), "float32")


@pytest.mark.parametrize("dtype", REALS + ["int8", "int32"])
def test_gemv(dtype):
    values = Values(4)
    for _ in range(SHAPES):
        m, k = values.side(), values.side()
        a, x = values.small((m, k), dtype), values.small((k,), dtype)
        transposed, fractals = values.flags(2)
        found = ops.gemv(a.T if transposed else a, x, "float32" if dtype in REALS else None,
                         transposed, fractals)
        assert found.dtype == ("float32" if dtype in REALS else "int32")
        assert (found == exact(a) @ exact(x)).all(), (m, k, transposed, fractals)


@pytest.mark.parametrize("dtype", REALS + ["int32"])
def test_elementwise(dtype):
    values = Values(5)
    for _ in range(SHAPES):
        shape = tuple(values.side() for _ in range(int(values.random.integers(1, 3))))
        a, b = values.small(shape, dtype), values.small(shape, dtype)
        found = ops.elementwise("a * s + b", a, b, scalars=[2])
        assert found.shape == shape and found.dtype == a.dtype
        assert (exact(found) == 2 * exact(a) + exact(b)).all()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_elementwise_of_integers(dtype):
    values = Values(10)
    for _ in range(SHAPES):
        shape = tuple(values.side() for _ in range(int(values.random.integers(1, 3))))
        a, b, c = (values.small(shape, dtype) for _ in range(3))
        if dtype == "int64":
            a += 1 << 60  # beyond what a double holds
            assert (ops.elementwise("min(max(a, b), c)", a, b, c)
                    == numpy.minimum(numpy.maximum(a, b), c)).all()
            assert (ops.elementwise("max(a, b)", a, b) == a).all()
        else:
            found = ops.elementwise("max(a * b + c, -3) - abs(b)", a, b, c)
            assert found.dtype == dtype
            assert (found == numpy.maximum(a * b + c, -3) - abs(b)).all()


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
        queries, keys = scores.shape[-2:]
        hidden = numpy.arange(keys) > numpy.arange(queries)[:, None] + keys - queries
        scores[..., hidden] = -numpy.inf
    most = scores.max(axis=-1, keepdims=True)
    power = numpy.exp(scores - numpy.where(numpy.isinf(most), 0, most))
    return power / numpy.maximum(power.sum(axis=-1, keepdims=True), 1e-300) @ v


@pytest.mark.parametrize("dtype", REALS)
def test_flash_attention(dtype):
    values = Values(9)
    for _ in range(SHAPES):
        batch, kv, group = (int(each) for each in values.random.integers(1, 3, 3))
        queries, keys, head = values.side(), values.side(), int(values.random.choice([16, 64, 128]))
        q = values.normal((batch, kv * group, queries, head), dtype)
        k, v = (values.normal((batch, kv, keys, head), dtype) for _ in range(2))
        causal, whole = values.flags(2)
        found = ops.flash_attention(q, k, v, causal=causal, whole_mask=causal and whole)
        near(found, attention(q, k, v, causal),
             "bfloat16" if dtype == "bfloat16" else "float16")


@pytest.mark.parametrize("queries,keys", [(1, 70), (3, 40), (40, 3)])
def test_the_last_query_of_a_causal_attention_sees_all_keys(queries, keys):
    values = Values(10)
    q = values.normal((1, 2, queries, 16), "float32")
    k, v = (values.normal((1, 1, keys, 16), "float32") for _ in range(2))
    found = ops.flash_attention(q, k, v, causal=True)
    near(found, attention(q, k, v, True), "float16")
    assert (found[:, :, :max(queries - keys, 0)] == 0).all()


@pytest.mark.parametrize("m,n,k", [(0, 3, 5), (4, 0, 5), (4, 3, 0), (0, 0, 0)])
def test_products_of_nothing(m, n, k):
    a, b, x = (numpy.ones(shape, "float16") for shape in ((m, k), (k, n), (k,)))
    for formats in ((False, False), (True, True)):
        for name in ("basic_matmul", "splitk_matmul"):
            found = getattr(ops, name)(a, b, "float16", False, False, *formats)
            assert found.shape == (m, n) and (found == 0).all()
    for batch in (0, 2):
        found = ops.batched_matmul(numpy.ones((batch, m, k), "float16"),
                                   numpy.ones((batch, k, n), "float16"))
        assert found.shape == (batch, m, n) and (found == 0).all()
        groups = ops.grouped_matmul(a, numpy.ones((batch, k, n), "float16"), batch * [m])
        assert groups.shape == (m, n) and (groups == 0).all()
        groups = ops.grouped_matmul(a, b, batch * [k], slice_k=True)
        assert groups.shape == (batch, m, n) and (groups == 0).all()
    found = ops.quant_matmul(a.astype("int8"), b.astype("int8"), "float16", token_scales=m * [2])
    assert found.shape == (m, n) and (found == 0).all()
    assert (ops.gemv(a, x) == k).all() and ops.gemv(a, x).shape == (m,)


def test_rows_of_nothing():
    for shape in ((0, 5), (4, 0), (0, 0)):
        x = numpy.ones(shape, "float32")
        assert ops.softmax(x).shape == ops.rms_norm(x, x[0] if len(x) else None).shape == shape
        assert ops.elementwise("a * a", x).shape == shape
    q, k = numpy.ones((1, 2, 3, 16), "float16"), numpy.ones((1, 2, 0, 16), "float16")
    assert (ops.flash_attention(q, k, k) == 0).all()
    for empty in ((0, 2, 3, 16), (1, 2, 0, 16)):
        assert ops.flash_attention(numpy.ones(empty, "float16"), q[:empty[0]], q[:empty[0]]).shape == empty


@pytest.mark.parametrize("dtype", ["float16", "float32"][:2 if MANY else 1])
def test_not_a_number_stays_in_its_row(dtype):
    x = numpy.ones((20, 33), dtype)
    x[3, 4], x[7, 1] = numpy.nan, numpy.inf
    ones = numpy.ones((33, 20), dtype)
    groups = numpy.stack([ones, ones])
    with numpy.errstate(invalid="ignore"):
        for found, expected in (
                (ops.splitk_matmul(x, ones, dtype, splits=2), x @ ones),
                (ops.batched_matmul(x[None], ones[None], dtype)[0], x @ ones),
                (ops.grouped_matmul(x, groups, [4, 20], dtype), x @ ones),
                (ops.gemv(x, ones[:, 0]), x @ ones[:, 0]),
                (ops.elementwise("a + a", x), x + x),
                (ops.elementwise("max(a, s)", x, scalars=[2])[7:8], numpy.maximum(x, 2)[7:8])):
            numpy.testing.assert_array_equal(found, expected)
        power = numpy.exp(exact(x) - exact(x).max(axis=1, keepdims=True))
        near(ops.softmax(x), power / power.sum(axis=1, keepdims=True), dtype)
        root = numpy.sqrt((exact(x) ** 2).mean(axis=1, keepdims=True))
        near(ops.rms_norm(x), exact(x) / root, dtype)
        q = x[None, None, :, :32]
        near(ops.flash_attention(q, q[:, :, :1], q[:, :, :1]), attention(q, q[:, :, :1], q[:, :, :1],
                                                                       False), "float16")


def test_not_a_number_in_a_product():
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


def test_how_long_the_card_worked(simulator):
    short, long = numpy.ones((64, 64), "float16"), numpy.ones((512, 512), "float16")
    begin = simulator.now
    ops.basic_matmul(short, short)
    first, between = ops.last_call()["device_ps"], simulator.now
    ops.basic_matmul(long, long)
    second = ops.last_call()["device_ps"]
    assert 1_000_000 < first < between - begin
    assert first < second < simulator.now - between


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
    with pytest.raises(ValueError, match="allowed: from 0 to 4, each at least the one before"):
        ops.grouped_matmul(half, half[None], [5])
    with pytest.raises(ValueError, match="splits: found -1"):
        ops.splitk_matmul(half, half, splits=-1)
    for call, found in ((lambda: ops.softmax(half, device=0), "device: found a int"),
                        (lambda: ops.elementwise(b"a", half), "expression: found a bytes"),
                        (lambda: ops.rms_norm(half, epsilon="small"), "epsilon: found a str")):
        with pytest.raises(TypeError, match=found):
            call()
    with pytest.raises(npusim.Error) as caught:  # 2^62 elements
        ops.basic_matmul(numpy.ones(((1 << 31) - 1, 0), "float16"),
                         numpy.ones((0, (1 << 31) - 1), "float16"))
    assert caught.value.code is npusim.ErrorCode.OUT_OF_MEMORY
    with pytest.raises(npusim.Error) as caught:
        ops.basic_matmul(half, half, "int32")
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    with pytest.raises(npusim.Error) as caught:
        ops.elementwise("a + c", single, device=device)
    assert "names an input that was not given" in caught.value.context
    allocations = device.info["allocations"]
    with pytest.raises(ValueError, match="found 'no_such_function"):
        ops.elementwise("no_such_function(a)", single, device=device)
    assert device.info["allocations"] == allocations
    assert (ops.elementwise("a + a", single) == 2).all()


def test_arrays_as_they_lie():
    a = numpy.arange(60, dtype="float32").reshape(6, 10)
    a.flags.writeable = False
    for view in (a[::2, ::-3], a.T, numpy.asfortranarray(a), a.astype(">f4"),
                 numpy.broadcast_to(numpy.float32(3), (4, 5)), numpy.float32(3)):
        assert (ops.elementwise("a + a", view) == view + view).all()


def test_a_kernel_that_faults_is_not_the_end(device):
    one = numpy.ones(5, "float32")
    ops.elementwise("a + b", one, one)
    call = npusim._npusim.OperatorCall()
    call.name, call.dtype, call.shape, call.expression = "elementwise", "float32", [5], "a + b"
    call.inputs, call.results = len(call.inputs) * [1 << 46], [1 << 46, 0, 0]
    for _ in range(3):
        with pytest.raises(npusim.Error) as caught:
            device._operators.run(call)
        assert caught.value.code is npusim.ErrorCode.DEVICE_FAULT
        assert (ops.elementwise("a + b", one, one) == 2).all()
        assert (ops.splitk_matmul(one[:, None], one[None], "float32", splits=2) == 1).all()


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
