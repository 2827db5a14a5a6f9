# SPDX-License-Identifier: Apache-2.0
import copy
import ctypes
import gc

import numpy
import pytest

import npusim


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 3, 4), ()])
def test_arrays_come_back(device, dtype, shape):
    count = int(numpy.prod(shape))
    array = (numpy.arange(count) % 100).astype(dtype).reshape(shape)
    memory = device.upload(array)
    assert memory.nbytes == len(memory) == array.nbytes
    back = memory.to_numpy(dtype, shape)
    assert back.dtype == array.dtype and back.shape == array.shape
    assert (back == array).all()


def test_arrays_that_are_not_contiguous(device):
    array = numpy.arange(100, dtype="int32").reshape(10, 10)
    assert (device.upload(array.T).to_numpy("int32", (10, 10)) == array.T).all()
    assert (device.upload(array[::2, 1:4]).to_numpy("int32", (5, 3)) == array[::2, 1:4]).all()
    memory = device.allocate(200)
    memory.write(array[:, 3:8])
    assert (memory.to_numpy("int32", (10, 5)) == array[:, 3:8]).all()


PLAIN = ["V5", "S3", "U2", ">f8", "M8[s]", "m8[ns]", "?", [("a", "i1"), ("b", "f8")], ("i4", (2, 2))]
REFERENCES = ["O", [("a", "O"), ("b", "i4")], [("a", [("b", "O")])]]


@pytest.mark.parametrize("dtype", PLAIN)
def test_types_whose_elements_are_bytes(device, dtype):
    data = bytes(range(1, 241))
    array = numpy.frombuffer(data, "u1")
    back = device.upload(array).to_numpy(dtype, 3)
    assert back.dtype == numpy.empty(0, dtype).dtype and back.tobytes() == data[:back.nbytes]
    memory = device.allocate(back.nbytes)
    memory.write(back)
    assert memory.read() == back.tobytes()
    target = numpy.zeros_like(back)
    memory.read_into(target)
    assert target.tobytes() == back.tobytes()


@pytest.mark.parametrize("dtype", REFERENCES)
def test_references_to_objects_are_no_bytes(device, dtype):
    memory, host = device.upload(bytes([0x41] * 64)), device.host_memory(64)
    array = numpy.zeros(1, dtype)
    for call in (lambda: memory.to_numpy(dtype, (1,)), lambda: memory.to_numpy(dtype),
                 lambda: memory.read_into(array), lambda: memory.write(array),
                 lambda: device.upload(array), lambda: host.array(dtype, (1,)),
                 lambda: memory.read_into((ctypes.py_object * 2)())):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("dtype", ["V0", "S0", "U0", []])
def test_types_without_bytes_are_refused(device, dtype):
    for memory in (device.allocate(8).to_numpy, device.host_memory(8).array):
        with pytest.raises(ValueError):
            memory(dtype)


@pytest.mark.parametrize("shape", [-1, (-1,), (-1, -1), (2, -4)])
def test_shapes_below_nothing_are_refused(device, shape):
    for memory in (device.allocate(8).to_numpy, device.host_memory(8).array):
        with pytest.raises(ValueError):
            memory("u1", shape)


def test_memory_of_a_card_is_not_copied_by_copying_its_object(device):
    with pytest.raises(TypeError):
        copy.copy(device.allocate(8))


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_any_buffer(device, make):
    data = bytes(range(256)) * 5
    memory = device.upload(make(data))
    assert memory.read() == data
    assert memory.read(3, 300) == data[300:303]
    target = bytearray(7)
    memory.read_into(target, 1)
    assert target == data[1:8]


def test_parts(device):
    memory = device.upload(bytes(100))
    memory.write(b"abc", 97)
    memory.write(b"", 100)
    assert memory.read() == bytes(97) + b"abc"
    assert memory.read(0) == b""
    assert (memory.to_numpy("uint8", 3, 97) == [97, 98, 99]).all()
    assert memory.to_numpy("uint16", offset=97).shape == (1,)


@pytest.mark.parametrize("call", [
    lambda m: m.write(bytes(101)), lambda m: m.write(b"a", 100), lambda m: m.write(b"a", -1),
    lambda m: m.read(101), lambda m: m.read(1, 100), lambda m: m.to_numpy("float64", 13),
    lambda m: m.to_numpy("uint8", (10, 11)), lambda m: m.read_into(bytearray(5), 96),
])
def test_what_does_not_fit(device, call):
    memory = device.upload(bytes(100))
    with pytest.raises(ValueError):
        call(memory)
    assert memory.read() == bytes(100)


def test_a_target_that_cannot_be_written(device):
    memory = device.upload(b"abc")
    with pytest.raises(BufferError):
        memory.read_into(b"xyz")


def test_freed(device):
    allocations = device.info["allocations"]
    memory = device.allocate(1)
    assert device.info["allocations"] == allocations + 1
    memory.free()
    memory.free()
    assert device.info["allocations"] == allocations
    for call in (memory.read, lambda: memory.write(b"a"), lambda: memory.address):
        with pytest.raises(ValueError, match="the memory is freed"):
            call()
    with device.allocate(1):
        assert device.info["allocations"] == allocations + 1
    assert device.info["allocations"] == allocations


def test_nobody_holds_it(device):
    allocations = device.info["allocations"]
    for _ in range(20):
        device.allocate(10)
    gc.collect()
    assert device.info["allocations"] == allocations


@pytest.mark.parametrize("size, code", [(0, "INVALID_ARGUMENT"), (1 << 50, "OUT_OF_MEMORY")])
def test_sizes_that_cannot_be(device, size, code):
    with pytest.raises(npusim.Error) as caught:
        device.allocate(size)
    assert caught.value.code is npusim.ErrorCode[code]
    assert caught.value.context


def test_host_memory_is_a_buffer(device):
    host = device.host_memory(4096)
    assert len(host) == host.nbytes == 4096
    assert bytes(host.view()) == bytes(4096)
    array = host.array("int32", (32, 32))
    array[3, 4] = 7
    assert host.array("int32")[3 * 32 + 4] == 7
    assert numpy.asarray(host)[4 * (3 * 32 + 4)] == 7
    host.view()[0:3] = b"abc"
    assert bytes(host.array("uint8", 3)) == b"abc"
    assert host.bus_address % 4096 == 0
    with pytest.raises(ValueError):
        host.array("int32", 1025)


def test_host_memory_outlives_its_object(device):
    array = device.host_memory(64).array("uint8")
    gc.collect()
    array[:] = 3
    assert (array == 3).all()
    with pytest.raises(npusim.Error) as caught:
        device.close()
    assert caught.value.code is npusim.ErrorCode.BUSY
    assert caught.value.context == "1 pieces of host memory of card 0 are in use"
    del array
    gc.collect()
    assert not device.closed


def test_cards_have_no_address_in_common(script):
    script("""
import npusim
with npusim.Simulator("system-2x910b2") as machine:
    cards = [machine.device(i) for i in range(2)]
    memories = [card.allocate(1 << 20) for card in cards for _ in range(3)]
    begins = sorted(each.address for each in memories)
    assert all(after - before >= 1 << 20 for before, after in zip(begins, begins[1:])), begins
    for value, memory in enumerate(memories):
        memory.write(bytes([value]) * 4096)
    assert [memory.read(4096)[17] for memory in memories] == list(range(6))
""")
