# SPDX-License-Identifier: Apache-2.0
"""Managed memory: one address for arrays and cards."""
import gc
import os
import threading

import numpy
import pytest

import npusim

PAGE = 2 << 20
ADD, FP32 = 0, 2


@pytest.fixture(autouse=True)
def nothing_held():
    yield
    gc.collect()  # what an exception holds


@pytest.fixture
def doubling(device):
    """Doubles floats of managed memory on the card."""
    device.register_kernel(0, "elementwise")

    def run(memory, count, offset=0):
        graph = npusim.Graph()
        at = memory.address + offset
        graph.add(0, [npusim.output(at), npusim.input(at), npusim.input(at), npusim.scalar(count),
                      npusim.scalar(ADD << 32 | FP32), npusim.scalar(0.0)], shape="aiv")
        device.run(graph)
    yield run
    device.unregister_kernel(0)


def test_a_page_is_where_it_was_used_last(simulator, doubling):
    memory = simulator.managed_memory(2 * PAGE)
    assert memory.location() is None
    values = memory.array("float32", 1000)
    begin = simulator.now
    values[:] = numpy.arange(1000)
    assert memory.location() == -1
    assert simulator.now > begin
    doubling(memory, 1000)
    assert memory.location() == 0
    assert memory.location(PAGE) is None
    begin = simulator.now
    assert numpy.array_equal(values, 2 * numpy.arange(1000, dtype="float32"))
    assert simulator.now > begin
    assert memory.location() == -1
    begin = simulator.now
    assert values[5] == 10
    assert simulator.now == begin


def test_random_elements_on_both_sides(simulator, doubling):
    random = numpy.random.default_rng(7)
    memory = simulator.managed_memory(4 * PAGE)
    values = memory.array("float32")
    values[:] = 0
    model = numpy.zeros(values.shape, "float32")
    for step in range(60):
        at = int(random.integers(0, values.size))
        values[at] = model[at] = step + 1
        if step % 4 == 0:
            begin = int(random.integers(0, values.size // 4096)) * 4096
            doubling(memory, 4096, 4 * begin)
            model[begin:begin + 4096] *= 2
        other = int(random.integers(0, values.size))
        assert values[other] == model[other]
    assert numpy.array_equal(values, model)


def test_prefetch_and_advice(simulator, doubling):
    memory = simulator.managed_memory(PAGE)
    values = memory.array("float32", 1000)
    values[:] = 1
    memory.prefetch(0)
    assert memory.location() == 0
    memory.prefetch()
    assert memory.location() == -1
    memory.advise("read_mostly")
    with pytest.raises(npusim.Error, match="read mostly"):
        memory.prefetch()
    values[0] = 5
    memory.prefetch()
    with pytest.raises(ValueError, match="advice: found 'often'"):
        memory.advise("often")
    with pytest.raises(npusim.Error) as error:
        memory.prefetch(7)
    assert error.value.code is npusim.ErrorCode.INVALID_ARGUMENT
    with pytest.raises(npusim.Error) as error:
        memory.prefetch(0, PAGE, PAGE)
    assert error.value.code is npusim.ErrorCode.OUT_OF_RANGE
    doubling(memory, 1000)
    assert values[0] == 10


def test_memory_lives_as_long_as_a_view(simulator):
    values = simulator.managed_memory(PAGE).array("uint8")
    gc.collect()
    values[:] = 3
    assert values.sum() == 3 * PAGE
    with pytest.raises(npusim.Error) as error:
        simulator.device(0).close()
    assert error.value.code is npusim.ErrorCode.BUSY
    del values
    gc.collect()
    again = simulator.managed_memory(PAGE).array("uint8")
    assert not again.any()


def test_a_copy_to_the_card_reads_what_the_card_has(simulator, device, doubling):
    memory = simulator.managed_memory(PAGE)
    values = memory.array("float32", 1000)
    values[:] = 4
    doubling(memory, 1000)
    copy = device.upload(values)
    assert numpy.all(copy.to_numpy("float32") == 8)
    doubling(memory, 1000)
    copy.read_into(values)
    assert numpy.all(values == 8)


def test_two_cards_and_the_program(script):
    assert script("""
import npusim
with npusim.Simulator("system-2x910b2") as simulator:
    memory = simulator.managed_memory(1 << 21)
    values = memory.array("float32", 1000)
    values[:] = 1
    for turn in range(4):
        device = simulator.device(turn % 2)
        device.register_kernel(0, "elementwise")
        graph = npusim.Graph()
        graph.add(0, [npusim.output(memory), npusim.input(memory), npusim.input(memory),
                      npusim.scalar(1000), npusim.scalar(2), npusim.scalar(0.0)], shape="aiv")
        device.run(graph)
        print(memory.location())
    print(values.sum())
    del memory, values
""").split() == ["0", "1", "0", "1", "16000.0"]


def on_the_card(memory, doubling):
    values = memory.array("float32", memory.nbytes // 4)
    values[:] = 3
    doubling(memory, values.size)
    assert memory.location() == 0
    return values


def test_a_child_has_copies_of_what_a_card_had(simulator, doubling):
    memory = simulator.managed_memory(2 * PAGE)
    values = on_the_card(memory, doubling)
    child = os.fork()
    if child == 0:
        right = bool((values == 6).all())
        values[:] = 9
        os._exit(0 if right and values[7] == 9 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (values == 6).all()


def test_a_child_that_another_thread_makes_faults_and_sees_no_other_bytes(simulator, doubling, capfd):
    memory = simulator.managed_memory(PAGE)
    values = on_the_card(memory, doubling)
    ends = []

    def fork():
        child = os.fork()
        if child == 0:
            os._exit(0 if values[0] == 0 else 1)
        ends.append(os.waitpid(child, 0)[1])
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
    assert os.WIFSIGNALED(ends[0])
    assert "touched where it cannot be brought" in capfd.readouterr().err
    assert (values == 6).all()


def test_a_child_of_untouched_memory_finds_zeros(simulator):
    memory = simulator.managed_memory(PAGE)
    child = os.fork()
    if child == 0:
        os._exit(0 if not memory.array("uint8", 100).any() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_threads_use_what_was_brought_to_the_host(simulator, doubling):
    memory = simulator.managed_memory(2 * PAGE)
    values = on_the_card(memory, doubling)
    memory.to_host()
    found = []

    def work():
        found.append(float(values[-1]))
        values[-1] = 7
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [6] and values[-1] == 7


def test_files_copy_what_was_brought_to_the_host(simulator, doubling, tmp_path):
    memory = simulator.managed_memory(2 * PAGE)
    values = on_the_card(memory, doubling)
    with pytest.raises(OSError):
        values.tofile(tmp_path / "on a card")
    memory.to_host(write=False)
    values.tofile(tmp_path / "values")
    assert (numpy.fromfile(tmp_path / "values", "float32") == 6).all()
    doubling(memory, values.size)
    memory.to_host()
    with open("/dev/zero", "rb", buffering=0) as zeros:
        read = 0
        while read < memory.nbytes:  # a busy kernel reads less at once
            read += zeros.readinto(memory.array("uint8")[read:])
    assert not values.any()


def test_memory_that_nobody_has_touched_is_read_into(simulator):
    memory = simulator.managed_memory(PAGE)
    memory.to_host()
    assert memory.location() == -1
    with open("/dev/zero", "rb", buffering=0) as zeros:
        assert zeros.readinto(memory.array("uint8")) == memory.nbytes
