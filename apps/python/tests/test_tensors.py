# SPDX-License-Identifier: Apache-2.0
"""Tensors on the card: operators take and return them without a copy."""

import gc

import numpy
import pytest

import npusim
from arrays import normal
from npusim import ops


def copied_bytes(simulator):
    return sum(each["value"] for each in simulator.table()
               if each["unit"] == "B" and (".h2d" in each["name"] or ".d2h" in each["name"]
                                           or "host_to_device" in each["name"]
                                           or "device_to_host" in each["name"]))


def test_a_tensor_holds_what_was_written(simulator):
    x = normal(1, 3, 4)
    on_card = npusim.tensor(x)
    assert (on_card.shape, on_card.ndim, on_card.size, on_card.nbytes) == ((3, 4), 2, 12, 24)
    assert on_card.device is simulator.device(0)
    numpy.testing.assert_array_equal(on_card.numpy(), x)
    on_card.write(x + 1)
    numpy.testing.assert_array_equal(on_card.numpy(), x + numpy.float16(1))
    numpy.testing.assert_array_equal(on_card.reshape(2, -1).numpy(), (x + numpy.float16(1)).reshape(2, 6))
    numpy.testing.assert_array_equal(on_card.view("uint16").numpy(), (x + numpy.float16(1)).view("uint16"))
    assert npusim.empty((2, 0, 3)).reshape(0).shape == (0,)
    assert npusim.tensor([[1, 2]], "int32").dtype == "int32"


def test_what_cannot_be_is_told(simulator):
    x = npusim.tensor(normal(1, 3, 4))
    none = npusim.empty((0, 4), "float16")
    for wrong, told in ((lambda: x.reshape(5, 3), "12 elements"), (lambda: none.reshape(-1, 0), "no -1 beside a 0"),
                        (lambda: npusim.empty((1 << 62, 4), "float16"), "allowed: fewer than 2\\^63 bytes"),
                        (lambda: npusim.empty((1 << 63,), "int8"), "allowed: fewer than 2\\^63 bytes"),
                        (lambda: x.device.allocate(1 << 70), "allowed: less than 2\\^63"),
                        (lambda: x.device.host_memory(1 << 70), "allowed: less than 2\\^63"), (lambda: x.reshape(-1, -1), "12 elements"),
                        (lambda: x.reshape(0, -1), r"\(0, -1\); allowed: 12 elements"), (lambda: x.view("int8"), "2 bytes"),
                        (lambda: x.write(numpy.zeros((3, 4))), "float64"),
                        (lambda: x.view("nope"), "'nope'"), (lambda: npusim.empty(3, "nope"), "'nope'"),
                        (lambda: npusim.tensor(["a"]), "<U1"), (lambda: ops.softmax("x"), "str of <U1"),
                        (lambda: npusim.tensor(numpy.zeros(3, "M8[s]")), "datetime64"),
                        (lambda: npusim.empty((-1,)), "no side below 0")):
        with pytest.raises(ValueError, match=told):
            wrong()
    for wrong in (lambda: numpy.asarray(x), lambda: bool(x), lambda: ops.basic_matmul(x, x, formatA=True)):
        with pytest.raises((TypeError, ValueError)):
            wrong()


def test_operators_return_tensors_of_tensors_and_arrays_of_arrays(simulator):
    x, y = normal(1, 5, 33), normal(2, 5, 33)
    cases = [
        lambda a, b: ops.add(a, b), lambda a, b: ops.softmax(a), lambda a, b: ops.transpose(a),
        lambda a, b: ops.concat([a, b], 1), lambda a, b: ops.reduce(a, "sum", 0),
        lambda a, b: ops.argmax(a, 1), lambda a, b: ops.less(a, b), lambda a, b: ops.where(ops.less(a, b), a, b),
        lambda a, b: ops.cast(a, "float32"), lambda a, b: ops.cast(a, "bool"), lambda a, b: ops.pad(a, [(1, 2), (0, 3)]),
        lambda a, b: ops.embedding(a, [[1, -1], [4, 0]]), lambda a, b: ops.basic_matmul(a, b, transB=True),
        lambda a, b: ops.slice(a, 1, 4), lambda a, b: ops.clip(a, -0.5, 0.5), lambda a, b: ops.tanh(a),
        lambda a, b: ops.layer_norm(a), lambda a, b: ops.rms_norm(a, b[0] if isinstance(b, numpy.ndarray)
                                                                 else ops.slice(b, 0, 1).reshape(-1)),
    ]
    for case in cases:
        of_arrays = case(x, y)
        of_tensors = case(npusim.tensor(x), npusim.tensor(y))
        assert isinstance(of_arrays, numpy.ndarray) and isinstance(of_tensors, npusim.Tensor)
        assert of_tensors.dtype == of_arrays.dtype
        numpy.testing.assert_array_equal(of_tensors.numpy(), of_arrays)
    for of_arrays, of_tensors in zip(ops.top_k(x, 3), ops.top_k(npusim.tensor(x), 3)):
        numpy.testing.assert_array_equal(of_tensors.numpy(), of_arrays)


def test_a_table_on_the_card_is_changed(simulator):
    table, rows = normal(1, 6, 8), normal(2, 2, 8)
    on_card = npusim.tensor(table)
    changed = ops.kv_cache_write(on_card, npusim.tensor(numpy.array([4, 1], "int32")), npusim.tensor(rows))
    table[[4, 1]] = rows
    assert changed.address == on_card.address
    numpy.testing.assert_array_equal(on_card.numpy(), table)


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"dilation": (2, 1), "padding": (0, 2)},
                                     {"groups": 2}])
def test_a_convolution_is_what_its_sums_are(simulator, options):
    x = normal(1, 2, 4, 7, 6)
    groups = options.get("groups", 1)
    weight, bias = normal(2, 6, 4 // groups, 3, 2, scale=0.3), normal(3, 6).astype("float32")
    found = ops.conv2d(npusim.tensor(x), npusim.tensor(weight), bias, **options).numpy()

    def pair(name, usual):
        value = options.get(name, usual)
        return value if isinstance(value, tuple) else (value, value)

    stride, padding, dilation = pair("stride", 1), pair("padding", 0), pair("dilation", 1)
    padded = numpy.pad(x.astype("float64"), ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    wanted = numpy.zeros(found.shape)
    for output in range(6):
        first = output // (6 // groups) * (4 // groups)
        for row in range(found.shape[2]):
            for column in range(found.shape[3]):
                window = padded[:, first:first + 4 // groups,
                                row * stride[0]:row * stride[0] + 2 * dilation[0] + 1:dilation[0],
                                column * stride[1]:column * stride[1] + dilation[1] + 1:dilation[1]]
                wanted[:, output, row, column] = (window * weight[output]).sum((1, 2, 3)) + bias[output]
    numpy.testing.assert_allclose(found, wanted, rtol=4e-3, atol=4e-3)


def test_blocks_come_back(simulator):
    device = simulator.device(0)
    first = [npusim.empty(100, "int8") for _ in range(3)]
    addresses = {each.address for each in first}
    assert len(addresses) == 3
    allocations = device.info["allocations"]
    del first
    gc.collect()
    again = [npusim.empty(100, "int8") for _ in range(3)]
    assert {each.address for each in again} == addresses
    assert device.info["allocations"] == allocations
    shared = again[0].reshape(10, 10)
    address = again[0].address
    del again
    assert shared.address == address and npusim.empty(100, "int8").address != address


def test_dlpack_copies_to_the_host_and_from_it(simulator):
    x = normal(1, 4, 4)
    numpy.testing.assert_array_equal(numpy.from_dlpack(npusim.tensor(x)), x)

    class Other:
        def __dlpack__(self, **options):
            return x.__dlpack__(**options)

        def __dlpack_device__(self):
            return x.__dlpack_device__()
    numpy.testing.assert_array_equal(npusim.tensor(Other()).numpy(), x)
    numpy.testing.assert_array_equal(npusim.from_dlpack(Other()).numpy(), x)
    assert bytes(npusim.from_dlpack(x)) == x.tobytes()
    with pytest.raises(TypeError, match="list"):
        npusim.from_dlpack([1])


TOKENS, HIDDEN, HEADS, INNER = 256, 512, 8, 1024
HEAD = HIDDEN // HEADS


def block(x, weights, call):
    """A transformer block; `call` sees each operator."""
    normed = call(ops.rms_norm, x, weights["norm"])
    q, k, v = (call(ops.basic_matmul, normed, weights[name]) for name in "qkv")
    q, k = (call(ops.rope, each.reshape(TOKENS, HEADS, HEAD), weights["cos"], weights["sin"]) for each in (q, k))
    q, k, v = (each.reshape(1, TOKENS, HEADS, HEAD) for each in (q, k, v))
    mixed = call(ops.flash_attention, q, k, v, causal=True, layout="BSND").reshape(TOKENS, HIDDEN)
    normed, x = call(ops.add_rms_norm, x, call(ops.basic_matmul, mixed, weights["out"]), weights["norm2"])
    inner = call(ops.swi_glu, call(ops.basic_matmul, normed, weights["up"]))
    return call(ops.add, x, call(ops.basic_matmul, inner, weights["down"]))


def expected(x, weights):
    weights = {name: each.astype("float64") for name, each in weights.items()}

    def norm(y, gamma):
        return y / numpy.sqrt((y * y).mean(1, keepdims=True) + 1e-6) * gamma

    def turned(y):
        y = y.reshape(TOKENS, HEADS, HEAD)
        half = numpy.concatenate([-y[..., HEAD // 2:], y[..., :HEAD // 2]], -1)
        return y * weights["cos"][:, None] + half * weights["sin"][:, None]

    x = x.astype("float64")
    normed = norm(x, weights["norm"])
    q, k, v = (normed @ weights[name] for name in "qkv")
    q, k, v = turned(q), turned(k), v.reshape(TOKENS, HEADS, HEAD)
    scores = numpy.einsum("qhd,khd->hqk", q, k) / numpy.sqrt(HEAD)
    scores = numpy.where(numpy.tril(numpy.ones((TOKENS, TOKENS), bool)), scores, -numpy.inf)
    shares = numpy.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    x = x + numpy.einsum("hqk,khd->qhd", shares, v).reshape(TOKENS, HIDDEN) @ weights["out"]
    gate, up = numpy.split(norm(x, weights["norm2"]) @ weights["up"], 2, 1)
    return x + (gate / (1 + numpy.exp(-gate)) * up) @ weights["down"]


def test_a_transformer_block_takes_the_time_of_its_kernels_and_launches(simulator):
    shapes = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "out": (HIDDEN, HIDDEN),
              "up": (HIDDEN, 2 * INNER), "down": (INNER, HIDDEN)}
    weights = {name: normal(i, *shape, scale=shape[0] ** -0.5)
               for i, (name, shape) in enumerate(shapes.items())}
    weights.update(norm=1 + normal(10, HIDDEN, scale=0.1), norm2=1 + normal(11, HIDDEN, scale=0.1))
    angles = numpy.arange(TOKENS)[:, None] * 10000.0 ** (-numpy.arange(HEAD) % (HEAD // 2) / (HEAD // 2))
    weights.update(cos=numpy.cos(angles).astype("float16"), sin=numpy.sin(angles).astype("float16"))
    x = normal(12, TOKENS, HIDDEN)
    on_card = {name: npusim.tensor(each) for name, each in weights.items()}
    given = npusim.tensor(x)
    spent = []

    def call(operator, *arguments, **options):
        result = operator(*arguments, **options)
        last = ops.last_call()
        spent.append(last["total_ps"])
        assert last["device_ps"] + sum(last["host_ps"].values()) < last["total_ps"]
        return result

    block(given, on_card, call)  # compiles, uploads kernels, takes memory
    spent.clear()
    copies, begin = copied_bytes(simulator), simulator.now
    result = block(given, on_card, call)
    took = simulator.now - begin
    # Whole blocks of memory are there, so that an operator is all that takes time.
    assert copied_bytes(simulator) == copies
    numpy.testing.assert_allclose(result.numpy(), expected(x, weights), rtol=0.02, atol=0.03)
    assert abs(took - sum(spent)) <= 0.1 * took, (took, sum(spent))
