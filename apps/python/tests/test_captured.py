# SPDX-License-Identifier: Apache-2.0
"""Operators that are captured once and run many times."""

import numpy
import pytest

import npusim
from arrays import normal
from npusim import ops


def block(x, weights):
    """Cube and vector cores in turn, an operator with a workspace, and results on several axes."""
    y = ops.rms_norm(x, weights["norm"])
    z = ops.softmax(ops.basic_matmul(y, weights["in"]))
    z = ops.splitk_matmul(z, weights["out"], splits=2)
    return ops.add(x, ops.relu(z)), ops.argmax(z, axis=1)


def made_weights(seed):
    return {"norm": npusim.tensor(numpy.ones(64, "float16")),
            "in": npusim.tensor(normal(seed, 64, 96, scale=0.1)),
            "out": npusim.tensor(normal(seed + 1, 96, 64))}


def same(found, wanted):
    for left, right in zip(found, wanted):
        numpy.testing.assert_array_equal(left.numpy(), right.numpy())


def test_a_graph_gives_what_its_operators_give_one_by_one(simulator):
    weights, x = made_weights(1), npusim.tensor(normal(3, 32, 64))
    with ops.capture() as graph:
        results = block(x, weights)
    for seed in range(4, 8):
        x.write(normal(seed, 32, 64))
        run = graph.run()
        same(results, block(x, weights))
        assert run["launches"] >= 7
        assert 0 < run["device_ps"] < run["total_ps"]
    graph.close()
    graph.close()


def test_nothing_runs_while_it_is_captured(simulator):
    x = npusim.tensor(normal(1, 16, 16))
    y = ops.relu(x)
    before = simulator.now
    with ops.capture() as graph:
        results = [ops.add(y, y)]
        assert ops.last_call()["device_ps"] == 0
    taken = simulator.now - before
    graph.run()
    numpy.testing.assert_array_equal(results[0].numpy(), y.numpy() * 2)
    assert simulator.now - before > 2 * taken


def test_a_launch_of_a_graph_costs_less_than_one_by_itself(simulator):
    x = npusim.tensor(normal(1, 64, 64))
    weight = npusim.tensor(normal(2, 64, 64))

    def chain():
        y = x
        for _ in range(8):
            y = ops.relu(ops.basic_matmul(y, weight))
        return y

    chain()
    before = simulator.now
    chain()
    alone = simulator.now - before
    with ops.capture() as graph:
        chain()
    graph.run()
    assert graph.run()["total_ps"] < 0.7 * alone


def test_graphs_and_operators_share_a_card(simulator):
    """A larger workspace than the captured one, and a second graph, change nothing of the first."""
    weights, x = made_weights(5), npusim.tensor(normal(9, 32, 64))
    with ops.capture() as first:
        one = block(x, weights)
    large = npusim.tensor(normal(1, 512, 512)), npusim.tensor(normal(2, 512, 512))
    wanted = ops.splitk_matmul(*large, splits=4)
    with ops.capture() as second:
        two = ops.splitk_matmul(*large, splits=4)
    for _ in range(2):
        first.run()
        second.run()
        same(one, block(x, weights))
        same([two], [wanted])


def test_tensors_live_as_long_as_the_graph(simulator):
    x = npusim.tensor(normal(1, 16, 16))
    with ops.capture() as graph:
        y = ops.add(ops.relu(ops.add(x, numpy.ones((16, 16), "float16"))), x)
    wanted = numpy.maximum(x.numpy() + 1, 0) + x.numpy()
    others = [npusim.tensor(numpy.full((16, 16), 7, "float16")) for _ in range(20)]
    graph.run()
    numpy.testing.assert_allclose(y.numpy(), wanted, rtol=1e-2, atol=1e-2)
    assert all((each.numpy() == 7).all() for each in others)


def test_what_cannot_be_captured_is_told(simulator):
    x = npusim.tensor(normal(1, 16, 16))
    with pytest.raises(ValueError, match="operators on tensors"):
        with ops.capture():
            ops.relu(normal(1, 4, 4))
    with ops.capture() as empty:
        with pytest.raises(RuntimeError, match="captures already"):
            with ops.capture():
                pass
        with pytest.raises(RuntimeError, match="is captured"):
            empty.run()
    with pytest.raises(npusim.Error, match="empty"):
        empty.run()
    with pytest.raises(ZeroDivisionError):
        with ops.capture() as broken:
            ops.relu(x)
            raise ZeroDivisionError
    with pytest.raises(RuntimeError, match="closed"):
        broken.run()
    numpy.testing.assert_array_equal(ops.relu(x).numpy(), numpy.maximum(x.numpy(), 0))


def test_a_closed_device_has_no_graphs(simulator):
    x = npusim.tensor(normal(1, 16, 16))
    with ops.capture() as graph:
        ops.relu(x)
    graph.run()
    simulator.device(0).close()
    with pytest.raises(RuntimeError, match="closed"):
        graph.run()
    graph.close()


def test_what_a_graph_has_not_filled_cannot_be_read(simulator):
    x = npusim.tensor(numpy.ones((4, 8), "float16"))
    with ops.capture() as graph:
        y = ops.relu(x)
        z = ops.add(y, x)
        with pytest.raises(RuntimeError, match="of a graph that has not run"):
            y.numpy()
    same_memory = y.reshape(8, 4)
    for read in (y.numpy, lambda: bytes(y), lambda: numpy.from_dlpack(y), lambda: memoryview(y.numpy()),
                 same_memory.numpy, lambda: ops.relu(z), lambda: ops.concat([x, z])):
        with pytest.raises(RuntimeError, match="of a graph that has not run"):
            read()
    with ops.capture() as after:
        w = ops.add(z, z)
    with pytest.raises(RuntimeError, match="of a graph that has not run"):
        after.run()
    graph.run()
    after.run()
    assert (y.numpy() == 1).all() and (same_memory.numpy() == 1).all() and (w.numpy() == 4).all()


def test_what_is_written_can_be_read(simulator):
    x = npusim.tensor(numpy.ones(8, "float16"))
    with ops.capture() as graph:
        y = ops.relu(x)
    y.write(numpy.full(8, 3, "float16"))
    assert (y.numpy() == 3).all()
    graph.run()
    assert (y.numpy() == 1).all()
