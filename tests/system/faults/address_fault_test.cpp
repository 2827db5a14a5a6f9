// SPDX-License-Identifier: Apache-2.0
// Addresses that a command must not use.
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

using abi::FaultCode;

// `command` fails with `code` at `address`, whichever way is waited for; the card goes on.
void expect_fault(FaultyCard& bench, const DmaCommand& command, FaultCode code,
                  std::uint64_t address) {
  expect_code(bench.copy(bench.stream, command), ErrorCode::kDeviceFault);
  const auto fault = must(bench.device->take_fault());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, code) << describe(*fault);
  EXPECT_EQ(fault->address, address);
  EXPECT_EQ(fault->stream, bench.stream.value);
  bench.expect_works();
}

TEST(AddressFault, UnmappedBusAddress) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const platform::BusAddress nowhere{0x7'0000'0000'0000};
    const auto command = DmaCommand::host_to_device(nowhere, bench.memory.address, 4096);
    expect_fault(bench, command, FaultCode::kHostAddress, nowhere.value);
  });
}

TEST(AddressFault, RunningOffTheEndOfAMappingLeavesTheNeighboursAlone) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto before = bench.buffer(64_KiB, 0x11);
    const auto target = bench.buffer(64_KiB, 0x22);
    const auto behind = bench.buffer(64_KiB, 0x33);
    const auto command = DmaCommand::device_to_host(bench.memory.address, target->bus(), 1_MiB);
    expect_fault(bench, command, FaultCode::kHostAddress, target->bus().value + 64_KiB);
    EXPECT_TRUE(all_equal(before->cpu(), 0x11));
    EXPECT_TRUE(all_equal(behind->cpu(), 0x33));
  });
}

TEST(AddressFault, WritingMemoryThatTheDeviceMayOnlyRead) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto memory = bench.buffer(8_KiB, 0x44, DmaDirection::kDeviceReads);
    const auto command = DmaCommand::device_to_host(bench.memory.address, memory->bus(), 8_KiB);
    expect_fault(bench, command, FaultCode::kHostPermission, memory->bus().value);
    EXPECT_TRUE(all_equal(memory->cpu(), 0x44));
  });
}

TEST(AddressFault, EachDirectionMayUseMemoryThatIsMappedForIt) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto from = bench.buffer(8_KiB, 0x99, DmaDirection::kDeviceReads);
    const auto to = bench.buffer(8_KiB, 0, DmaDirection::kDeviceWrites);
    const auto at = bench.memory.address;
    EXPECT_TRUE(bench.copy(bench.stream, DmaCommand::host_to_device(from->bus(), at, 8_KiB)));
    EXPECT_TRUE(bench.copy(bench.stream, DmaCommand::device_to_host(at, to->bus(), 8_KiB)));
    EXPECT_TRUE(all_equal(to->cpu(), 0x99));
  });
}

TEST(AddressFault, ReadingMemoryThatTheDeviceMayOnlyWrite) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto memory = bench.buffer(8_KiB, 0x55, DmaDirection::kDeviceWrites);
    const auto command = DmaCommand::host_to_device(memory->bus(), bench.memory.address, 8_KiB);
    expect_fault(bench, command, FaultCode::kHostPermission, memory->bus().value);
  });
}

TEST(AddressFault, MemoryThatWasGivenBack) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    auto memory = bench.buffer(8_KiB, 0x66);
    const auto bus = memory->bus();
    const auto out = DmaCommand::device_to_host(bench.memory.address, bus, 8_KiB);
    EXPECT_TRUE(bench.copy(bench.stream, out)) << "while it is mapped";
    memory.reset();
    expect_fault(bench, out, FaultCode::kHostAddress, bus.value);
  });
}

// The driver's user gives the memory back 20 us into a copy of more than 100 us.
void expect_fault_in_mid_copy(bool to_host) {
  Machine().on<FaultyCard>([&](FaultyCard& bench) {
    auto memory = bench.buffer(4_MiB, 0x5A);
    const auto bus = memory->bus();
    const auto command = to_host ? DmaCommand::device_to_host(bench.memory.address, bus, 4_MiB)
                                 : DmaCommand::host_to_device(bus, bench.memory.address, 4_MiB);
    const auto ticket = must(bench.device->submit(bench.stream, command));
    bench.host.clock().sleep_until(bench.host.clock().now() + 20_us);
    memory.reset();
    const auto deadline = bench.host.clock().now() + 1_s;
    expect_code(bench.device->wait(ticket, WaitPolicy::kAdaptive, deadline),
                ErrorCode::kDeviceFault);
    const auto fault = must(bench.device->take_fault());
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->code, FaultCode::kHostAddress);
    EXPECT_GT(fault->address, bus.value) << "it had begun";
    EXPECT_LT(fault->address, bus.value + 4_MiB);
    bench.expect_works();
  });
}

TEST(AddressFault, MemoryGivenBackWhileTheCardReadsIt) {
  expect_fault_in_mid_copy(false);
}
TEST(AddressFault, MemoryGivenBackWhileTheCardWritesIt) {
  expect_fault_in_mid_copy(true);
}

TEST(AddressFault, GivingBackOtherMemoryDisturbsNoCopy) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto from = bench.buffer(2_MiB, 0xB4), to = bench.buffer(2_MiB, 0);
    const auto at = bench.memory.address;
    ASSERT_TRUE(bench.copy(bench.stream, DmaCommand::host_to_device(from->bus(), at, 2_MiB)));
    const auto out = DmaCommand::device_to_host(at, to->bus(), 2_MiB);
    const auto ticket = must(bench.device->submit(bench.stream, out));
    for (int i = 0; i < 10; ++i) {
      bench.buffer(4_KiB, 0).reset();
      bench.host.clock().sleep_until(bench.host.clock().now() + 3_us);
    }
    const auto deadline = bench.host.clock().now() + 1_s;
    EXPECT_TRUE(bench.device->wait(ticket, WaitPolicy::kPolling, deadline));
    EXPECT_TRUE(all_equal(to->cpu(), 0xB4));
  });
}

TEST(AddressFault, TheStreamBesideCopiesOn) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto beside = must(bench.device->create_stream());
    const auto from = bench.buffer(1_MiB, 0xC3), to = bench.buffer(1_MiB, 0);
    const auto at = bench.memory.address;
    const auto in = DmaCommand::host_to_device(from->bus(), at, 1_MiB);
    const auto out = DmaCommand::device_to_host(at, to->bus(), 1_MiB);
    const auto bad = DmaCommand::host_to_device(platform::BusAddress{0x1000}, at + 2_MiB, 1_MiB);
    ASSERT_TRUE(bench.device->submit(beside, in));
    const auto failing = must(bench.device->submit(bench.stream, bad));
    const auto good = must(bench.device->submit(beside, out));
    const auto deadline = bench.host.clock().now() + 1_s;
    expect_code(bench.device->wait(failing, WaitPolicy::kPolling, deadline),
                ErrorCode::kDeviceFault);
    EXPECT_TRUE(bench.device->wait(good, WaitPolicy::kPolling, deadline));
    EXPECT_TRUE(all_equal(to->cpu(), 0xC3));
  });
}

TEST(AddressFault, MemoryThatBelongsToAnotherCard) {
  Machine({}, "system-8x910b.yaml").on<FaultyCard>([](FaultyCard& bench) {
    const auto other = open_card(bench.host, 5);
    const auto memory = must(other->allocate_host(4_KiB));
    fill(*memory, 0x77);
    const auto command = DmaCommand::device_to_host(bench.memory.address, memory->bus(), 4_KiB);
    expect_fault(bench, command, FaultCode::kHostAddress, memory->bus().value);
    EXPECT_TRUE(all_equal(memory->cpu(), 0x77));
  });
}

// `command`, whose host end is good, fails at device address `address`.
void expect_translation_fault(FaultyCard& bench, const DmaCommand& command, std::uint64_t address,
                              bool write) {
  expect_code(bench.copy(bench.stream, command), ErrorCode::kDeviceFault);
  const auto fault = must(bench.device->take_fault());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, FaultCode::kTranslation) << describe(*fault);
  EXPECT_EQ(fault->address, address);
  EXPECT_EQ(fault->vmid, bench.device->address_space().vmid());
  EXPECT_EQ(fault->write, write);
  bench.expect_works();
}

TEST(AddressFault, DeviceLocalAddressUsedAsAVirtualOne) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto source = bench.buffer(4_KiB, 0x88);
    const auto command = DmaCommand::host_to_device(source->bus(), driver::DeviceAddress{0}, 4_KiB);
    expect_translation_fault(bench, command, 0, true);
  });
}

TEST(AddressFault, RunningOffTheEndOfDeviceMemory) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto target = bench.buffer(64_KiB, 0x88);
    const auto end = bench.memory.address + bench.memory.reserved;
    const driver::DeviceAddress from{end.value - 32_KiB};
    const auto command = DmaCommand::device_to_host(from, target->bus(), 64_KiB);
    expect_translation_fault(bench, command, end.value, false);
  });
}

TEST(AddressFault, DeviceMemoryThatWasFreed) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto source = bench.buffer(4_KiB, 0x88);
    const auto freed = must(bench.device->allocate(2_MiB));
    const auto command = DmaCommand::host_to_device(source->bus(), freed.address, 4_KiB);
    EXPECT_TRUE(bench.copy(bench.stream, command));
    ASSERT_TRUE(bench.device->free(freed.address));
    expect_translation_fault(bench, command, freed.address.value, true);
  });
}

// The first page of the destination is missing. What was in flight behind it may have been written,
// as the header says; what was not begun is not.
TEST(AddressFault, WhatTheFaultComesBeforeIsNotBegun) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    auto& space = bench.device->address_space();
    const auto memory = must(space.create_memory(64_MiB));
    const auto at = must(space.reserve(64_MiB));
    ASSERT_TRUE(space.map(at, 64_MiB, memory));
    ASSERT_TRUE(space.set_access(at, 64_MiB, driver::Access::kReadWrite));
    const auto bytes = bench.buffer(64_MiB, 0x31);
    const auto all = DmaCommand::host_to_device(bytes->bus(), at, 64_MiB);
    ASSERT_TRUE(bench.copy(bench.stream, all));
    ASSERT_TRUE(space.unmap(at, 2_MiB));
    fill(*bytes, 0x42);
    expect_translation_fault(bench, all, at.value, true);
    const auto half = at + 32_MiB;
    const auto stream = must(bench.device->create_stream());
    EXPECT_TRUE(bench.copy(stream, DmaCommand::device_to_host(half, bytes->bus(), 32_MiB)));
    EXPECT_TRUE(all_equal(bytes->cpu().subspan(0, 32_MiB), 0x31));
  });
}

TEST(AddressFault, DeviceMemoryOfAnotherSpace) {
  Machine().on<FaultyCard>([](FaultyCard& bench) {
    const auto source = bench.buffer(4_KiB, 0x88);
    const auto other = must(bench.device->create_address_space());
    const auto theirs = must(other->allocate(2_MiB));
    const auto command = DmaCommand::host_to_device(source->bus(), theirs.address, 4_KiB);
    expect_translation_fault(bench, command, theirs.address.value, true);
  });
}

}  // namespace
}  // namespace npu::test
