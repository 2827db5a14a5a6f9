# SPDX-License-Identifier: Apache-2.0
"""Operators on axes, tables and of optimizers beside NumPy."""

import numpy
import pytest

import npusim
from npusim import ops

RANDOM = numpy.random.default_rng(5)


@pytest.fixture(autouse=True)
def card(device):
    return device


def some(*shape, dtype="float32"):
    return RANDOM.uniform(-2, 2, shape).astype(dtype)


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (0, 2, 1), None])
def test_transpose(order):
    x = some(3, 37, 5)
    assert (ops.transpose(x, order) == x.transpose(order)).all()
    assert ops.transpose(x[:0], order).shape == x[:0].transpose(order).shape


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_along_an_axis(axis):
    x = some(3, 17, 9)
    power = numpy.exp(x - x.max(axis=axis, keepdims=True))
    assert numpy.allclose(ops.softmax(x, axis=axis), power / power.sum(axis=axis, keepdims=True), 1e-5)


@pytest.mark.parametrize("shapes", [((5, 1, 7), (6, 1)), ((9,), (4, 9)), ((), (3,)), ((2, 3), (2, 3))])
def test_broadcast(shapes):
    a, b = some(*shapes[0]), some(*shapes[1])
    assert (ops.broadcast("max(a, b)", a, b) == numpy.maximum(a, b)).all()


def test_norms():
    x, gamma, beta = some(4, 6, 5, 3), some(6), some(6)
    parts = x.reshape(4, 2, -1)
    wanted = (parts - parts.mean(2, keepdims=True)) / numpy.sqrt(parts.var(2, keepdims=True) + 1e-5)
    wanted = wanted.reshape(x.shape) * gamma[:, None, None] + beta[:, None, None]
    assert numpy.allclose(ops.group_norm(x, 2, gamma, beta), wanted, atol=1e-5)
    rows = x.reshape(-1, 15)
    wanted = (rows - rows.mean(1, keepdims=True)) / numpy.sqrt(rows.var(1, keepdims=True) + 1e-5)
    assert numpy.allclose(ops.layer_norm(rows), wanted, atol=1e-5)


def test_sides_that_cannot_be_repeated_and_axes_that_come_twice_are_refused():
    ones = numpy.ones((2, 3), "float32")
    with pytest.raises(ValueError, match=r"a is \(2, 3\), b is \(2,\): sides are equal, or 1"):
        ops.add(ones, ones[:, 0])
    for twice in ((0, 0), (1, -1)):
        with pytest.raises(ValueError, match="axis: found .*; allowed: each axis once"):
            ops.reduce(ones, "sum", twice)
    ops.relu(ones)
    before = ops.last_call()
    with pytest.raises(ValueError, match="expression: 'a \\+' ends too early"):
        ops.elementwise("a +", ones)
    assert ops.last_call() == before


def test_tables():
    table, indices = some(7, 9), numpy.array([6, 0, -1, 3])
    wanted = table[indices]
    wanted[2] = 0
    assert (ops.gather(table, indices) == wanted).all()
    rows, written = some(4, 9), table.copy()
    written[indices[[0, 1, 3]]] = rows[[0, 1, 3]]
    assert (ops.kv_cache_write(table, indices, rows) == written).all()
    with pytest.raises(ValueError, match="found 7; allowed: below 7"):
        ops.gather(table, [7])


def test_a_step_of_adam_w():
    x, m, v, g = some(5, 3), some(5, 3), numpy.abs(some(5, 3)), some(5, 3)
    next_m, next_v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    step = 0.01 * next_m / 0.1 / (numpy.sqrt(next_v / 0.001) + 1e-8)
    found = ops.apply_adam_w(x, m, v, g, rate=0.01, decay=0.5)
    for part, wanted in zip(found, (x - 0.005 * x - step, next_m, next_v)):
        assert numpy.allclose(part, wanted, 1e-4, 1e-6)


def test_what_is_no_expression_is_not_compiled(device):
    single = numpy.ones((4, 4), "float32")
    ops.relu(single)
    compiled = device._operators.counters()["compiled"]
    whole = numpy.ones(4, "int64")
    for call, told in ((lambda: ops.elementwise("a * ", single), "^expression: 'a \\* ' ends too early$"),
                       (lambda: ops.elementwise('a); system("id"', single), "found ';'"),
                       (lambda: ops.elementwise("a); float q = (1", single), "found ';'"),
                       (lambda: ops.broadcast("a + (b", single, single), "ends too early"),
                       (lambda: ops.elementwise("a * s + s1", single, scalars=[2]), "not given: s1"),
                       (lambda: ops.broadcast("a * s + b", single, single), "not given: s"),
                       (lambda: ops.add(whole, whole), "^int64: add is not possible; allowed: float16, bfloat16, "
                                                       "float32, int8, int32$"),
                       (lambda: ops.relu(whole), "int64: relu is not possible"),
                       (lambda: ops.exp(whole.astype("int32")), "int32: exp is not possible; allowed: float16, "
                                                                "bfloat16, float32$"),
                       (lambda: ops.elementwise("a / 2", whole), "int64: 'a / 2' is not possible")):
        with pytest.raises(ValueError, match=told) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert device._operators.counters()["compiled"] == compiled
