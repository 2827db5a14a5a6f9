// SPDX-License-Identifier: Apache-2.0
// The DMA ring: submission path, wrap, full ring, recovery.
#include <cstring>
#include <type_traits>

#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using platform::BusAddress;
using test::BusAccess;

template <class Make, class Source, class Destination>
constexpr bool kTakes = std::is_invocable_v<Make, Source, Destination, Bytes>;

// Each kind of address in its place alone: the other way round is no program.
TEST(DmaCommand, TakesNoAddressOfAnotherKind) {
  using ToDevice = decltype(&DmaCommand::host_to_device);
  using ToHost = decltype(&DmaCommand::device_to_host);
  using ToPeer = decltype(&DmaCommand::device_to_peer);
  using FromPeer = decltype(&DmaCommand::peer_to_device);
  static_assert(kTakes<ToDevice, BusAddress, DeviceAddress>);
  static_assert(!kTakes<ToDevice, DeviceAddress, BusAddress>);
  static_assert(kTakes<ToHost, DeviceAddress, BusAddress>);
  static_assert(!kTakes<ToHost, BusAddress, DeviceAddress>);
  static_assert(kTakes<ToPeer, DeviceAddress, ImportedAddress>);
  static_assert(!kTakes<ToPeer, ImportedAddress, DeviceAddress>);
  static_assert(!kTakes<ToPeer, DeviceAddress, DeviceAddress>);
  static_assert(kTakes<FromPeer, ImportedAddress, DeviceAddress>);
  static_assert(!kTakes<FromPeer, DeviceAddress, ImportedAddress>);
  static_assert(
      !std::is_constructible_v<DmaCommand, abi::DmaOpcode, std::uint64_t, std::uint64_t, Bytes>);
}

TEST(DmaCommand, APartIsAtTheSamePlaceOfBothSides) {
  const auto all = DmaCommand::device_to_host(DeviceAddress{0x1000}, BusAddress{0x9000}, 64);
  const auto part = all.part(16, 8);
  EXPECT_EQ(part.opcode(), abi::DmaOpcode::kDeviceToHost);
  EXPECT_EQ(part.source(), 0x1010U);
  EXPECT_EQ(part.destination(), 0x9010U);
  EXPECT_EQ(part.size(), 8U);
}

TEST_F(DeviceTest, CopiesBytesToTheDeviceAndBack) {
  auto host = must(device->allocate_host(64_KiB));
  for (Bytes i = 0; i < 32_KiB; i += 8) host->store<std::uint64_t>(i, i * 0x9E3779B97F4A7C15);
  const auto up = DmaCommand::host_to_device(host->bus(), memory, 32_KiB);
  const auto down = DmaCommand::device_to_host(memory, host->bus() + 32_KiB, 32_KiB);
  ASSERT_THAT(device->copy(stream, up, WaitPolicy::kPolling, in(1_ms)), IsOk());
  ASSERT_THAT(device->copy(stream, down, WaitPolicy::kPolling, in(1_ms)), IsOk());
  const auto* bytes = host->cpu().data;
  EXPECT_EQ(std::memcmp(bytes, bytes + 32_KiB, 32_KiB), 0);
}

// Four 8-byte stores into the ring in BAR2, the barrier, the doorbell: nothing else, no read.
TEST_F(DeviceTest, SubmissionIsEntryBarrierDoorbellWithoutARead) {
  fake.log_bus = true;
  ASSERT_THAT(submit(), IsOk());
  ASSERT_EQ(fake.bus_log.size(), 6U);
  for (Bytes i = 0; i < 4; ++i) {
    EXPECT_EQ(fake.bus_log[i].kind, BusAccess::Kind::kWrite);
    EXPECT_EQ(fake.bus_log[i].bar, 2U);
    EXPECT_EQ(fake.bus_log[i].offset, 56_GiB + 8 * i);
  }
  EXPECT_EQ(fake.bus_log[4].kind, BusAccess::Kind::kBarrier);
  EXPECT_EQ(fake.bus_log[5].bar, 0U);
  EXPECT_EQ(fake.bus_log[5].offset, 0x1010U);
  EXPECT_EQ(fake.bus_log[5].value, 1U);
}

TEST_F(DeviceTest, RingInHostMemoryNeedsOnlyTheDoorbell) {
  DeviceOptions options;
  options.ring = RingPlacement::kHostMemory;
  open(options);
  fake.log_bus = true;
  const auto ticket = must(submit());
  ASSERT_EQ(fake.bus_log.size(), 2U);
  EXPECT_EQ(fake.bus_log[0].kind, BusAccess::Kind::kBarrier);
  EXPECT_EQ(fake.bus_log[1].offset, 0x1010U);
  EXPECT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
}

TEST_F(DeviceTest, TenThousandCommandsWrapTheRingWithoutLossOrDoubling) {
  for (Bytes i = 0; i < 10'000; ++i) {
    const auto ticket = must(submit(i + 1));
    EXPECT_EQ(ticket.position, i);
    if (i == 9'999) {
      ASSERT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_s)), IsOk());
    }
  }
  ASSERT_EQ(card.executed().size(), 10'000U);
  for (Bytes i = 0; i < 10'000; ++i) ASSERT_EQ(card.executed()[i].size(), i + 1);
}

TEST_F(DeviceTest, ReadsTheConsumerIndexOnlyWhenItsCopySaysFull) {
  card.behaviour.fetch_paused = true;
  for (int i = 0; i < 4095; ++i) ASSERT_THAT(submit(), IsOk());
  EXPECT_EQ(device->dma_statistics().consumer_reads, 0U);
  EXPECT_EQ(device->dma_statistics().ring_full, 0U);
}

TEST_F(DeviceTest, AFullRingIsAnErrorAfterTheTimeoutAndQueuesNothing) {
  DeviceOptions options;
  options.submit_timeout = 50_us;
  open(options);
  card.behaviour.fetch_paused = true;
  for (int i = 0; i < 4095; ++i) ASSERT_THAT(submit(), IsOk());
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(submit(), FailsWith(ErrorCode::kQueueFull, "4095 commands"));
  EXPECT_LT(fake.scheduler.now() - begin, 60_us);
  EXPECT_EQ(device->dma_statistics().submitted, 4095U);
  EXPECT_EQ(device->dma_statistics().rejected, 1U);
}

TEST_F(DeviceTest, AFullRingRecoversAndKeepsTheOrder) {
  card.behaviour.fetch_paused = true;
  for (Bytes i = 0; i < 4095; ++i) ASSERT_THAT(submit(i + 1), IsOk());
  fake.scheduler.at(in(30_us), [&] { card.resume_fetch(); });
  const auto ticket = submit(4096);  // waits for room
  ASSERT_THAT(ticket, IsOk());
  ASSERT_THAT(device->wait(*ticket, WaitPolicy::kPolling, in(1_s)), IsOk());
  ASSERT_EQ(card.executed().size(), 4096U);
  for (Bytes i = 0; i < 4096; ++i) ASSERT_EQ(card.executed()[i].size(), i + 1);
  EXPECT_EQ(device->dma_statistics().ring_full, 1U);
}

TEST_F(DeviceTest, SeveralTasksShareTheRing) {
  std::vector<std::unique_ptr<platform::Task>> tasks;
  tasks.reserve(8);
  for (int t = 0; t < 8; ++t) {
    tasks.push_back(must(fake.tasks().spawn("submitter", [&] {
      const auto own = device->create_stream();
      for (int i = 0; i < 100; ++i) {
        const auto command = DmaCommand::device_to_device(memory, memory + 1_MiB, 64);
        EXPECT_THAT(device->copy(*own, command, WaitPolicy::kPolling, in(1_s)), IsOk());
      }
    })));
  }
  for (auto& task : tasks) task->join();
  EXPECT_EQ(card.executed().size(), 800U);
}

TEST_F(DeviceTest, RefusesCommandsThatCannotBeRight) {
  EXPECT_THAT(submit(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(device->submit(stream, DmaCommand::host_to_device({~0ULL}, memory, 64)),
              FailsWith(ErrorCode::kOutOfRange));
  EXPECT_THAT(device->submit(StreamId{77}, DmaCommand::device_to_device(memory, memory + 64, 64)),
              FailsWith(ErrorCode::kNotFound, "stream 77"));
  SubmitOptions options;
  options.event = EventId{5};
  EXPECT_THAT(submit(64, options), FailsWith(ErrorCode::kNotFound, "event 5"));
  EXPECT_EQ(card.executed().size(), 0U);
}

TEST_F(DeviceTest, TracesASubmissionWithTheCauseOfItsCommand) {
  fake.tracer().listen(true);
  ASSERT_THAT(submit(), IsOk());
  ASSERT_THAT(submit(123), IsOk());
  ASSERT_EQ(fake.tracer().events.size(), 2U);
  const auto& event = fake.tracer().events[1];
  EXPECT_EQ(event.activity, platform::Activity::kDmaSubmit);
  EXPECT_EQ(event.cause, platform::dma_cause(0, 1));
  EXPECT_EQ(event.bytes, 123U);
  EXPECT_EQ(fake.tracer().cause(), 0U);
}

}  // namespace
}  // namespace npu::driver
