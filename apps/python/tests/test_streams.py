# SPDX-License-Identifier: Apache-2.0
import gc

import numpy
import pytest

import npusim


def test_there_and_back(device, simulator):
    size = 1 << 16
    host, back = device.host_memory(size), device.host_memory(size)
    host.array("uint32")[:] = numpy.arange(size // 4)
    first, second = device.allocate(size), device.allocate(size)
    with device.stream() as stream:
        begin = simulator.now
        stream.copy(first, host)
        stream.copy(second, first)
        ticket = stream.copy(back, second)
        assert begin < ticket.submitted <= simulator.now
        assert not ticket.done()
        ticket.wait()
        assert ticket.done()
    assert (back.array("uint32") == numpy.arange(size // 4)).all()


@pytest.mark.parametrize("policy", ["polling", "interrupt", "adaptive"])
def test_policies(device, policy):
    host, memory = device.host_memory(64), device.upload(bytes(range(64)))
    with device.stream() as stream:
        stream.copy(host, memory).wait(policy)
    assert bytes(host.view()) == bytes(range(64))


def test_offsets(device):
    host, memory = device.host_memory(64), device.upload(bytes(range(64)))
    with device.stream() as stream:
        stream.copy(host, memory, 4, destination_offset=60, source_offset=10)
        stream.synchronize()
        assert bytes(host.view()) == bytes(60) + bytes([10, 11, 12, 13])
        for call in (dict(nbytes=65), dict(nbytes=0), dict(nbytes=1, source_offset=64),
                     dict(destination_offset=-1)):
            with pytest.raises(ValueError):
                stream.copy(host, memory, **call)


def test_an_event_of_two_streams(device):
    size = 1 << 20
    host, memories = device.host_memory(size), [device.allocate(size) for _ in range(2)]
    host.array("uint8")[:] = 5
    event = device.event()
    assert event.done()
    event.wait()
    streams = [device.stream() for _ in range(2)]
    for stream, memory in zip(streams, memories):
        stream.copy(memory, host, event=event)
    assert not event.done()
    event.wait()
    assert event.done()
    for memory in memories:
        assert (memory.to_numpy() == 5).all()


def test_a_fault_is_an_error(device):
    memory = device.allocate(1 << 20)
    stream = device.stream()
    host = device.host_memory(64)
    memory.free()
    ghost = device.allocate(1 << 20)
    stream._native.submit("d2h", ghost.address + (1 << 40), host.bus_address, 64, None)
    with pytest.raises(npusim.Error) as caught:
        stream.copy(host, ghost).wait()
    assert caught.value.code is npusim.ErrorCode.DEVICE_FAULT


def test_what_cannot_be(device):
    host, memory = device.host_memory(64), device.allocate(64)
    stream = device.stream(interrupt=False)
    with pytest.raises(TypeError, match="none of the card's"):
        stream.copy(host, host)
    with pytest.raises(TypeError, match="bytes"):
        stream.copy(memory, b"abc")
    with pytest.raises(ValueError, match="allowed: polling, interrupt, adaptive"):
        stream.copy(memory, host).wait("often")
    with pytest.raises(npusim.Error) as caught:
        stream.copy(memory, host).wait("interrupt")
    assert caught.value.code is npusim.ErrorCode.UNSUPPORTED
    with pytest.raises(npusim.Error) as caught:
        stream.copy(memory, host).wait("polling", 0)
    assert caught.value.code is npusim.ErrorCode.TIMEOUT
    stream.close()
    stream.close()
    with pytest.raises(RuntimeError, match="the stream is closed"):
        stream.copy(memory, host)


def test_streams_and_events_come_back(device):
    ids = set()
    for _ in range(50):
        ids.add((device.stream().id, device.event().id))
        gc.collect()
    assert len(ids) < 5
