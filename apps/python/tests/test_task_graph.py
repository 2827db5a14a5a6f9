# SPDX-License-Identifier: Apache-2.0
import numpy
import pytest

import npusim

ADD, MUL, ADDS = 0, 2, 6  # npu::platform::VectorOp
FP32 = 2                  # npu::platform::DataType
COUNT = 128 * 128


def elementwise(graph, op, to, a, b=None, number=0.0, **options):
    """A task of the kernel `elementwise`: its words are those of kernels/device/shipped."""
    arguments = [npusim.output(to), npusim.input(a),
                 npusim.scalar(0) if b is None else npusim.input(b), npusim.scalar(COUNT),
                 npusim.scalar(op << 32 | FP32), npusim.scalar(float(number))]
    return graph.add(0, arguments, **options)


@pytest.fixture
def tensors(device):
    device.register_kernel(0, "elementwise")
    a = device.upload(numpy.full((128, 128), 2, "float32"))
    b = device.upload(numpy.full((128, 128), 3, "float32"))
    return [a, b] + [device.allocate(4 * COUNT) for _ in range(4)]


def diamond(tensors):
    a, b, c, d, e, f = tensors
    graph = npusim.Graph()
    elementwise(graph, ADD, c, a, b)
    elementwise(graph, ADDS, d, c, number=1)
    elementwise(graph, ADDS, e, c, number=2)
    elementwise(graph, MUL, f, d, e, blocks=4)
    return graph


def test_a_diamond(device, tensors):
    graph = diamond(tensors)
    assert (len(graph), graph.edges) == (4, 4)
    found = device.run(graph)
    assert (tensors[5].to_numpy("float32", (128, 128)) == 42).all()
    assert found["result"]["completed"] == 4
    assert found["result"]["dispatched_blocks"] == 7
    assert (found["called_ps"] < found["uploaded_ps"] < found["launched_ps"] < found["ended_ps"]
            <= found["returned_ps"])
    assert found["records"] == found["pmu"] == found["tensors"] == []


@pytest.mark.parametrize("options", [
    dict(block_dim=1), dict(aicpu_threads=1), dict(handshake="memory"), dict(single_issue=True)])
def test_options(device, tensors, options):
    device.run(diamond(tensors), **options)
    assert (tensors[5].to_numpy("float32") == 42).all()


def test_records_counters_and_copies(device, tensors):
    found = device.run(diamond(tensors), profiling=True, pmu_group=2, dump_tensors=True,
                       block_dim=2)
    assert sorted((r["task"], r["block"]) for r in found["records"]) == [
        (0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)]
    assert all(r["ready"] <= r["sent"] <= r["begun"] < r["ended"] for r in found["records"])
    assert all(p["group"] == 2 and len(p["counters"]) == 8 for p in found["pmu"]) and found["pmu"]
    assert found["pmu"][0]["events"][:2] == ["vec_busy_cycles", "cube_busy_cycles"]
    product = [t for t in found["tensors"] if t["task"] == 3 and t["stage"] == "after"]
    assert [t["address"] for t in product] == [tensors[5].address]
    assert (numpy.frombuffer(product[0]["bytes"], "float32") == 42).all()
    assert device.last_run()["records"] == found["records"]


def test_order_that_arguments_do_not_say(device, tensors):
    a, _, c, d, _, _ = tensors
    graph = npusim.Graph()
    read = elementwise(graph, ADDS, d, a, number=1)
    elementwise(graph, ADDS, c, a, number=5, after=[read])
    last = graph.add(None, shape="none")
    graph.depend(last, read)
    assert graph.edges == 2
    device.run(graph)
    assert (d.to_numpy("float32") == 3).all() and (c.to_numpy("float32") == 7).all()


def test_what_cannot_be(device, tensors):
    graph = npusim.Graph()
    with pytest.raises(ValueError, match="shape: found 'cube'; allowed: none, aic, aiv, mixed"):
        graph.add(0, shape="cube")
    with pytest.raises(npusim.Error) as caught:
        graph.add(0, blocks=0)
    assert caught.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    with pytest.raises(npusim.Error):
        graph.depend(0, 1)
    with pytest.raises(ValueError, match="allowed: register, memory"):
        device.run(graph, handshake="mail")
    graph = npusim.Graph()
    graph.add(0, [npusim.scalar(0)])
    with pytest.raises(npusim.Error, match="1 arguments, kernel 0 .elementwise. takes 6"):
        device.run(graph)
    with pytest.raises(ValueError):
        npusim.input(tensors[0], 4 * COUNT)
    with pytest.raises(ValueError):
        npusim.scalar(1 << 64)
    with pytest.raises(ValueError, match="program: found 'nosuch'; allowed: "):
        device.register_kernel(1, "nosuch")
    with pytest.raises(npusim.Error):
        device.register_kernel(1, b"")


def test_scalars():
    assert npusim.scalar(-1).word == (1 << 64) - 1
    assert npusim.scalar(1.0).word == 0x3F80_0000
    assert npusim.scalar(True).word == 1
    assert (npusim.scalar(7).kind, npusim.scalar(7).nbytes) == ("scalar", 0)


def test_a_kernel_that_fails(device, tensors):
    graph = npusim.Graph()
    ghost = tensors[0].address + (1 << 42)
    elementwise(graph, ADD, ghost, tensors[0], tensors[1])
    with pytest.raises(npusim.Error) as caught:
        device.run(graph)
    assert caught.value.code is npusim.ErrorCode.DEVICE_FAULT
    assert "task 0" in caught.value.context
    assert device.last_run()["result"]["status"] != 0
    device.run(diamond(tensors))
    assert (tensors[5].to_numpy("float32") == 42).all()


def test_a_kernel_that_is_not_there(device, tensors):
    device.unregister_kernel(0)
    with pytest.raises(npusim.Error) as caught:
        device.run(diamond(tensors))
    assert caught.value.code in (npusim.ErrorCode.NOT_FOUND, npusim.ErrorCode.INVALID_ARGUMENT)
    with pytest.raises(npusim.Error) as caught:
        device.unregister_kernel(0)
    assert caught.value.code is npusim.ErrorCode.NOT_FOUND


def test_programs():
    names = npusim.program_names()
    assert {"scheduler", "executor", "elementwise", "empty", "matmul"} <= set(names)
    assert npusim.program("empty").startswith(b"\x7fELF")
    assert npusim.program_path("empty").endswith("/empty.npu")
