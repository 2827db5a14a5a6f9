# SPDX-License-Identifier: Apache-2.0
"""Operators that choose, reduce, compare and move elements beside NumPy, on the card that
NPUSIM_TEST_CARD names."""

import math
import os

import numpy
import pytest

import npusim
from npusim import ops

RANDOM = numpy.random.default_rng(11)
REALS = ["float16", "float32", "bfloat16"]
COMPARED = [*REALS, "int8", "int32"]
ALL = [*COMPARED, "int64"]
SHAPES = [(1, 1), (7, 13), (3, 257), (1, 4096), (130, 31)]


@pytest.fixture(scope="session")
def simulator():
    made = npusim.Simulator(os.environ.get("NPUSIM_TEST_CARD", "910b2"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def card(device):
    return device


def some(shape, dtype, low=-4, high=4):
    """Elements with ties among them, as the operator takes them and as numbers."""
    values = numpy.asarray(numpy.round(RANDOM.uniform(low, high, shape) * 4) / 4)
    if dtype.startswith("int"):
        array = values.astype(dtype)
        return array, array
    if dtype == "bfloat16":
        bits = npusim.to_bfloat16(values.astype("float32"))
        return bits, npusim.from_bfloat16(bits)
    return values.astype(dtype), values.astype(dtype)


def numbers(array):
    return npusim.from_bfloat16(array) if array.dtype == "uint16" else array


def with_specials(x):
    x = x.copy()
    flat = x.reshape(-1)
    for special in (numpy.nan, numpy.inf, -numpy.inf, -0.0, numpy.nan):
        flat[RANDOM.integers(flat.size, size=max(flat.size // 20, 1))] = special
    return x


def same(found, wanted):
    return numpy.array_equal(found, wanted, equal_nan=numpy.asarray(found).dtype.kind == "f")


@pytest.mark.parametrize("dtype", COMPARED)
def test_places_of_the_first_largest_and_smallest(dtype):
    for shape in SHAPES:
        x, plain = some(shape, dtype)
        assert same(ops.argmax(x, axis=-1), plain.argmax(-1))
        assert same(ops.argmin(x, axis=-1), plain.argmin(-1))
    x, plain = some((5, 6, 7), dtype)
    assert same(ops.argmax(x, axis=1), plain.argmax(1))
    assert ops.argmin(x) == plain.argmin()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_places_in_rows_of_several_segments(dtype):
    x = RANDOM.uniform(-4, 4, (19, 50_011)).astype(dtype)
    for row, place in enumerate((0, 8191, 8192, 24_575, 24_576, 50_010)):
        x[row, place] = -numpy.nan if row % 2 else numpy.nan
        x[row + 6, [place, 50_010]] = numpy.inf
    x[12] = -numpy.inf
    x[13] = numpy.inf
    x[14, [63, 9000]] = numpy.nan
    x[15] = -0.0
    x[15, 77] = 0
    x[16] = numpy.nan
    x[17, 1:] = -numpy.inf
    assert same(ops.argmax(x, axis=-1), x.argmax(-1))
    assert same(ops.argmin(x, axis=-1), x.argmin(-1))
    for shape in ((1, 129), (7, 8193), (17, 257), (9, 2048), (393, 191)):
        x = with_specials(some(shape, dtype)[0])
        assert same(ops.argmax(x, axis=-1), x.argmax(-1))
        assert same(ops.argmin(x, axis=-1), x.argmin(-1))


def test_places_among_what_is_no_number():
    for shape in SHAPES:
        x = with_specials(some(shape, "float32")[0])
        assert same(ops.argmax(x, axis=-1), x.argmax(-1))
        assert same(ops.argmin(x, axis=-1), x.argmin(-1))
    nothing = numpy.full((3, 50), -numpy.inf, "float16")
    assert not ops.argmax(nothing, axis=1).any()
    nothing[1, 7:] = numpy.nan
    assert ops.argmax(nothing, axis=1).tolist() == [0, 7, 0]
    assert ops.argmax(numpy.zeros((0, 5), "float32"), axis=1).shape == (0,)
    with pytest.raises(npusim.Error, match="as many elements"):
        ops.argmax(numpy.zeros((5, 0), "float32"), axis=1)


def first_ones(plain, k, largest):
    # Stable, and what is no number is the largest.
    keys = plain.astype("float64")
    keys = numpy.where(numpy.isnan(keys), numpy.inf, keys), numpy.isnan(keys)
    order = [sorted(range(len(row)), key=lambda i, r=r: (bool(keys[1][r][i]) ^ largest, (-1 if largest else 1) * row[i]))
             for r, row in enumerate(keys[0])]
    return numpy.array(order).reshape(len(order), -1)[:, :k]


@pytest.mark.parametrize("dtype", COMPARED)
@pytest.mark.parametrize("largest", [True, False])
def test_top_k(dtype, largest):
    for shape, k in (((1, 1), 1), ((7, 13), 13), ((33, 64), 8), ((3, 257), 5)):
        x, plain = some(shape, dtype)
        values, places = ops.top_k(x, k, largest=largest)
        wanted = first_ones(plain, k, largest)
        assert same(places, wanted) and places.dtype == numpy.int32
        assert same(numbers(values), numpy.take_along_axis(plain, wanted, 1))


def test_top_k_of_what_is_no_number():
    x = with_specials(some((9, 60), "float32")[0])
    for largest in (True, False):
        values, places = ops.top_k(x, 60, largest=largest)
        wanted = first_ones(x, 60, largest)
        assert same(places, wanted)
        assert same(values, numpy.take_along_axis(x, wanted, 1))


def test_top_k_of_rows_longer_than_a_core_holds():
    x = with_specials(some((2, 70001), "float32")[0])
    values, places = ops.top_k(x, 3)
    assert same(places, first_ones(x, 3, True))


HOW = {"sum": numpy.sum, "mean": numpy.mean, "max": numpy.max, "min": numpy.min, "prod": numpy.prod}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("dtype", COMPARED)
def test_reductions_over_any_axes(how, dtype):
    if how == "mean" and dtype.startswith("int"):
        return
    for shape, axis in (((1,), 0), ((7, 13), 1), ((7, 13), 0), ((3, 5, 11), 1), ((3, 5, 11), (0, 2)),
                        ((4, 5, 3), None), ((2, 3, 4, 5), (1, 2))):
        x, plain = some(shape, dtype, *((0.75, 1.25) if how == "prod" else (-4, 4)))
        wide = "int32" if dtype.startswith("int") else "float64"
        wanted = HOW[how](plain.astype(wide), axis=axis, keepdims=True)
        found = numbers(ops.reduce(x, how, axis, keepdims=True))
        assert found.shape == wanted.shape
        assert numpy.allclose(found, wanted, {"float16": 1e-3, "bfloat16": 1e-2}.get(dtype, 1e-6), 1e-3)


@pytest.mark.parametrize("how", ["sum", "max", "min"])
def test_reductions_of_what_is_no_number(how):
    for shape, axis in (((40, 300), 1), ((40, 300), 0), ((3, 20000), 1), ((20000, 3), 0)):
        x = with_specials(some(shape, "float32")[0])
        x[3:5] = some(shape, "float32")[0][3:5]
        x[:, 1] = 1
        with numpy.errstate(invalid="ignore"):
            assert same(ops.reduce(x, how, axis), HOW[how](x, axis=axis))


def test_reductions_of_nothing():
    x = numpy.zeros((3, 0, 4), "float32")
    assert not ops.reduce(x, "sum", 1).any()
    assert (ops.reduce(x, "prod", 1) == 1).all()
    assert numpy.isnan(ops.reduce(x, "mean", 1)).all()
    assert ops.reduce(x, "sum", 0).shape == (0, 4)
    with pytest.raises(npusim.Error, match="nothing has no largest"):
        ops.reduce(x, "max", 1)


def test_sums_over_many_cores():
    x = some((1000003,), "float16")[0]
    assert numpy.allclose(ops.reduce(x, "sum", outDType="float32"), x.sum(dtype="float64"), 1e-5)
    assert ops.reduce(x, "max") == x.max()


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("interleaved", [False, True])
def test_rope(dtype, interleaved):
    for tokens, heads, head in ((1, 1, 2), (5, 3, 30), (7, 4, 128)):
        (x, px), (cos, pc), (sin, ps) = (some(shape, dtype, -1, 1) for shape in
                                         ((tokens, heads, head), (tokens, head), (tokens, head)))
        px, pc, ps = (each.astype("float64") for each in (px, pc, ps))
        y = numpy.empty_like(px)
        if interleaved:
            y[..., ::2], y[..., 1::2] = -px[..., 1::2], px[..., ::2]
        else:
            y[..., :head // 2], y[..., head // 2:] = -px[..., head // 2:], px[..., :head // 2]
        wanted = px * pc[:, None] + y * ps[:, None]
        found = numbers(ops.rope(x, cos, sin, interleaved=interleaved))
        assert numpy.allclose(found, wanted, 1e-2 if dtype == "bfloat16" else 1e-3, 1e-3)


@pytest.mark.parametrize("dtype", ALL)
def test_where_moves_bits(dtype):
    for shapes in (((5, 1, 7), (6, 1), (6, 7)), ((), (3,), (3,)), ((2, 3), (2, 3), (1,)), ((1,), (1,), (1,)),
                   ((131, 257), (131, 257), (131, 257)), ((3, 0), (1,), (3, 1))):
        a, b = some(shapes[0], dtype)[0], some(shapes[1], dtype)[0]
        condition = RANDOM.integers(2, size=shapes[2]).astype(bool)
        if dtype == "int64" and a.size:
            a = a - (1 << 40)
        assert same(ops.where(condition, a, b), numpy.where(condition, a, b))


@pytest.mark.parametrize("name", ["equal", "not_equal", "greater", "greater_equal", "less", "less_equal",
                                  "logical_and", "logical_or"])
@pytest.mark.parametrize("dtype", COMPARED)
def test_truth(name, dtype):
    for shapes in (((5, 1, 7), (6, 1)), ((1,), (1,)), ((257,), (257,)), ((0, 3), (3,))):
        (a, pa), (b, pb) = some(shapes[0], dtype), some(shapes[1], dtype)
        if dtype == "float32" and a.size:
            a, b = pa, pb = with_specials(a), with_specials(b)
        found = getattr(ops, name)(a, b)
        assert found.dtype == bool and same(found, getattr(numpy, name)(pa, pb))
    assert same(ops.logical_not(a), numpy.logical_not(pa))


@pytest.mark.parametrize("dtype", COMPARED)
def test_formulas_of_one(dtype):
    for shape in ((1,), (7, 131), (0,), (3, 5, 11)):
        x, plain = some(shape, dtype)
        if dtype == "float32" and x.size:
            x = plain = with_specials(x)
        assert same(numbers(ops.relu(x)), numpy.maximum(plain, 0).astype(plain.dtype))
        assert same(numbers(ops.clip(x, -1, 2)), numpy.clip(plain, -1, 2))
        if dtype.startswith("int"):
            continue
        wide = plain.astype("float64")
        with numpy.errstate(all="ignore"):
            wanted = {"leaky_relu": numpy.where(wide < 0, 0.01 * wide, wide), "sqrt": numpy.sqrt(wide),
                      "reciprocal": 1 / wide,
                      "erf": numpy.array([math.erf(each) for each in wide.reshape(-1)]).reshape(shape)}
        for name, of in wanted.items():
            error = {"float16": 2e-3, "bfloat16": 1e-2}.get(dtype, 1e-6)
            assert numpy.allclose(numbers(getattr(ops, name)(x)), of, error, 1e-7, equal_nan=True), name


ROUNDINGS = {"rint": numpy.rint, "floor": numpy.floor, "ceil": numpy.ceil, "trunc": numpy.trunc,
             "round": lambda x: numpy.copysign(numpy.floor(numpy.abs(x) + 0.5), x)}


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_casts_to_integers(dtype, rounding):
    x, plain = some((7, 131), dtype, -150, 150)
    wanted = ROUNDINGS[rounding](plain.astype("float64"))
    assert same(ops.cast(x, "int32", rounding), wanted.astype("int32"))
    assert same(ops.cast(x, "int8", rounding), numpy.clip(wanted, -128, 127).astype("int8"))


def test_casts_at_the_edges():
    x = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 3e9, -3e9, 0.49999997, -0.5, 2.5, 8388607.5, 1e-30],
                    "float32")
    most = (1 << 31) - 1
    assert ops.cast(x, "int32").tolist() == [0, most, -most - 1, most, -most - 1, 0, 0, 2, 8388608, 0]
    assert ops.cast(x, "int32", "round").tolist()[5:] == [0, -1, 3, 8388608, 0]
    assert ops.cast(x, "int32", "floor").tolist()[5:] == [0, -1, 2, 8388607, 0]
    assert ops.cast(x, "int32", "ceil").tolist()[5:] == [1, 0, 3, 8388608, 1]
    assert same(ops.cast(x, "bool"), x.astype(bool))


@pytest.mark.parametrize("dtype", COMPARED)
def test_casts_to_reals(dtype):
    for shape in ((1,), (257,), (0,), (3, 5, 11)):
        x, plain = some(shape, dtype)
        if dtype == "float32" and x.size:
            x = plain = with_specials(x)
        for to in ("float16", "float32"):
            assert same(ops.cast(x, to), plain.astype(to))
        assert same(ops.cast(x, "bfloat16"), npusim.to_bfloat16(plain.astype("float32")))
    assert same(ops.cast(numpy.array([True, False]), "float16"), numpy.array([1, 0], "float16"))


def test_powers():
    a = numpy.array([2, -2, -2, -2, 0, 0, 0, 1, numpy.nan, numpy.inf, 3, -1, 0.5], "float32")
    b = numpy.array([3, 3, 2, 0.5, 2, 0, -1, numpy.nan, 0, 2, -2, 7, 0.25], "float32")
    with numpy.errstate(all="ignore"):
        assert numpy.allclose(ops.pow(a, b), numpy.power(a, b), 1e-5, equal_nan=True)


@pytest.mark.parametrize("dtype", ALL)
def test_parts(dtype):
    x, y, z = (some((3, side, 5), dtype)[0] for side in (4, 0, 7))
    assert same(ops.concat([x, y, z], 1), numpy.concatenate([x, y, z], 1))
    assert same(ops.concat([x], -1), x)
    assert same(ops.slice(z, 1, 6, 2, axis=1), z[:, 1:6:2])
    assert same(ops.slice(z, -3, 99, axis=-1), z[..., -3:])
    assert ops.slice(z, 5, 2, axis=1).shape == (3, 0, 5)
    for found, wanted in zip(ops.split(z, [2, 0, 5], axis=1), numpy.split(z, [2, 2], 1)):
        assert same(found, wanted)
    assert same(ops.pad(x, [(0, 0), (1, 2), (3, 0)], 0), numpy.pad(x, [(0, 0), (1, 2), (3, 0)]))
    table, indices = some((9, 17), dtype)[0], numpy.array([[0, 8], [3, 3], [1, 7]])
    assert same(ops.embedding(table, indices), table[indices])


def test_padding_has_its_value():
    x = numpy.arange(6, dtype="float16").reshape(2, 3)
    assert same(ops.pad(x, [(1, 1), (2, 0)], -1.5), numpy.pad(x, [(1, 1), (2, 0)], constant_values=-1.5))


def test_products_with_a_bias():
    a, b = some((5, 7, 33), "float16")[0] / 8, some((5, 33, 9), "float16")[0] / 8
    bias = some((9,), "float32")[0]
    wide = a[0].astype("float64") @ b[0] + bias
    for product in (ops.basic_matmul, ops.splitk_matmul):
        assert numpy.allclose(product(a[0], b[0], bias=bias), wide, 1e-2, 1e-2)
        assert numpy.allclose(product(a[0], b[0], bias=bias.astype("float16")), wide, 1e-2, 1e-2)
    wide = a.astype("float64") @ b + bias
    assert numpy.allclose(ops.batched_matmul(a, b, bias=bias), wide, 1e-2, 1e-2)
    biases = some((5, 9), "float32")[0]
    rows = a.reshape(35, 33)
    found = ops.grouped_matmul(rows, b, [7, 14, 21, 28, 35], bias=biases)
    assert numpy.allclose(found, (a.astype("float64") @ b + biases[:, None]).reshape(35, 9), 1e-2, 1e-2)
    ai, bi = some((7, 33), "int8")[0], some((33, 9), "int8")[0]
    whole = numpy.arange(9, dtype="int32")
    sums = ai.astype("int32") @ bi.astype("int32") + whole
    assert same(ops.basic_matmul(ai, bi, outDType="int32", bias=whole), sums)
    assert numpy.allclose(ops.quant_matmul(ai, bi, scale=0.5, bias=whole), 0.5 * sums)
    found = ops.quant_matmul(ai, bi, scale=0.5, bias=bias)
    assert numpy.allclose(found, 0.5 * (sums - whole) + bias, 1e-5)
    with pytest.raises(ValueError, match="bias: found the shape"):
        ops.basic_matmul(a[0], b[0], bias=bias[:3])
