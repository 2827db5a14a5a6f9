// SPDX-License-Identifier: Apache-2.0
// A device's life: opening, streams, the BAR0 trap, removal, closing.
#include "npu/driver/device.hpp"

#include "npu/abi/registers.hpp"
#include "npu/abi/stream.hpp"
#include "tests/driver/device_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

namespace pci = abi::pci;

class OpenTest : public DeviceTest {
 protected:
  void SetUp() override {}
  Result<std::unique_ptr<Device>> try_open() {
    DeviceOptions options;
    options.ready_timeout = 1_ms;
    return Device::open(fake, card.config().bdf, options);
  }
  std::uint32_t command() { return fake.fake_pci.find(card.config().bdf)->get(pci::kCommand, 2); }
};

TEST_F(OpenTest, SetsUpDecodingMsixEventsAndTheRing) {
  const auto opened = must(try_open());
  EXPECT_EQ(command() & 6U, 6U);
  EXPECT_NE(card.read(0, abi::EventRecordBase::kOffset, 8), 0U);
  EXPECT_EQ(card.read(0, abi::DmaQueueBase::kOffset, 8), 56_GiB);
  EXPECT_EQ(card.read(0, abi::DmaQueueStatus::kOffset, 4) & 1U, 1U);
  EXPECT_EQ(opened->info().ai_cores, 64U);
  EXPECT_EQ(opened->memory_statistics().free, 56_GiB);
}

TEST_F(OpenTest, ACardThatNeverGetsReadyIsATimeoutThatNamesTheStep) {
  card.set_register(abi::DeviceStatus::kOffset, 4, 0);
  EXPECT_THAT(try_open(), FailsWith(ErrorCode::kTimeout, "wait until ready"));
  EXPECT_EQ(command(), 0U);  // as it was found
}

TEST_F(OpenTest, AnAbsentFunctionIsNotFound) {
  EXPECT_THAT(Device::open(fake, {7, 0, 0}), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(Device::open_index(fake, 3), FailsWith(ErrorCode::kNotFound, "device index 3"));
}

TEST_F(OpenTest, OpensByDeviceIndex) {
  fake.fake_pci.add_bridge({0, 1, 0}, 1, 1, 4);
  EXPECT_THAT(Device::open_index(fake, 0), IsOk());
}

TEST_F(OpenTest, ClosingLeavesTheFunctionAsItWasFoundAndNothingMapped) {
  {
    const auto opened = must(try_open());
    ASSERT_THAT(opened->create_stream(), IsOk());
  }
  EXPECT_EQ(command(), 0U);
  EXPECT_EQ(card.read(0, abi::EventRecordBase::kOffset, 8), 0U);
  EXPECT_EQ(card.read(0, abi::DmaQueueStatus::kOffset, 4) & 1U, 0U);
  EXPECT_EQ(fake.host_memory.live(), 0U);
  EXPECT_FALSE(card.vector(0).open);
  EXPECT_THAT(try_open(), IsOk());  // and can be opened again
}

TEST_F(DeviceTest, ShutdownWaitsForCommandsInFlight) {
  ASSERT_THAT(submit(), IsOk());
  ASSERT_THAT(device->shutdown(), IsOk());
  EXPECT_EQ(card.executed().size(), 1U);
  EXPECT_THAT(submit(), FailsWith(ErrorCode::kInvalidArgument, "shut down"));
  EXPECT_THAT(device->shutdown(), IsOk());
}

TEST_F(DeviceTest, ShutdownGivesUpOnAStuckCardAtItsDeadline) {
  DeviceOptions options;
  options.ready_timeout = 1_ms;
  open(options);
  card.behaviour.completion_paused = true;
  ASSERT_THAT(submit(), IsOk());
  const auto begin = fake.scheduler.now();
  EXPECT_THAT(device->shutdown(), FailsWith(ErrorCode::kTimeout));
  EXPECT_LT(fake.scheduler.now() - begin, 2_ms);
}

// requirements.md M4, the trap: BAR0 has 32 KiB, of which 4 KiB are global registers.
TEST_F(DeviceTest, StreamWindowsInBar0AreRefusedWithTheSizes) {
  StreamOptions trap;
  trap.placement = StreamPlacement::kBar0;
  const auto refused = device->create_stream(trap);
  EXPECT_THAT(refused, FailsWith(ErrorCode::kOutOfRange, "32768 bytes in BAR0"));
  EXPECT_THAT(refused, FailsWith(ErrorCode::kOutOfRange, "would end at 69632"));  // second stream
  EXPECT_THAT(refused, FailsWith(ErrorCode::kOutOfRange, "BAR0 has 32768 bytes"));
}

TEST_F(OpenTest, EvenTheFirstStreamWindowDoesNotFitBar0BesideTheGlobalPage) {
  const auto opened = must(try_open());
  StreamOptions trap;
  trap.placement = StreamPlacement::kBar0;
  EXPECT_THAT(opened->create_stream(trap), FailsWith(ErrorCode::kOutOfRange, "would end at 36864"));
}

TEST_F(DeviceTest, HundredsOfStreamsWorkInBar2) {
  std::vector<Ticket> tickets;
  for (unsigned i = 1; i < 256; ++i) {
    const auto created = must(device->create_stream());
    const auto ticket =
        must(device->submit(created, DmaCommand::device_to_device(memory, memory + 64, 64)));
    tickets.push_back(ticket);
  }
  EXPECT_THAT(device->create_stream(), FailsWith(ErrorCode::kOutOfResources, "256 streams"));
  for (const auto& ticket : tickets) {
    EXPECT_THAT(device->wait(ticket, WaitPolicy::kInterrupt, in(1_s)), IsOk());
  }
}

TEST_F(DeviceTest, DestroyingAStreamWaitsForItsCommands) {
  const auto ticket = submit();
  ASSERT_THAT(ticket, IsOk());
  ASSERT_THAT(device->destroy_stream(stream, in(1_ms)), IsOk());
  EXPECT_EQ(card.executed().size(), 1U);
  EXPECT_EQ(card.read(2, device->info().stream_window_base, 4), 0U);  // STREAM_CONTROL
  EXPECT_THAT(submit(), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(device->destroy_stream(stream, in(1_ms)), FailsWith(ErrorCode::kNotFound));
}

TEST_F(DeviceTest, DestroyingABusyStreamTimesOutAndLeavesItUsable) {
  card.behaviour.completion_paused = true;
  const auto ticket = must(submit());
  EXPECT_THAT(device->destroy_stream(stream, in(100_us)), FailsWith(ErrorCode::kTimeout));
  card.complete_next(stream.value);
  EXPECT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
  EXPECT_THAT(device->destroy_stream(stream, in(100_us)), IsOk());
}

TEST_F(DeviceTest, EventsAreCountedOnAcrossUsers) {
  for (int round = 0; round < 3; ++round) {
    const auto event = must(device->create_event());
    SubmitOptions options;
    options.event = event;
    const auto ticket = must(submit(64, options));
    EXPECT_THAT(device->destroy_event(event), FailsWith(ErrorCode::kInvalidArgument));
    EXPECT_THAT(device->wait(ticket, WaitPolicy::kPolling, in(1_ms)), IsOk());
    EXPECT_THAT(device->destroy_event(event), IsOk());
  }
}

TEST_F(DeviceTest, AFaultOfADriverThatIsGoneIsForgotten) {
  const auto bad = device->submit(stream, DmaCommand::host_to_device({0x1000}, memory, 64));
  EXPECT_FALSE(device->wait(*bad, WaitPolicy::kPolling, in(1_ms)).has_value());
  open({});
  const auto fault = must(device->take_fault());
  EXPECT_FALSE(fault.has_value());
}

TEST_F(DeviceTest, AnEventWithAFaultIsNotHandedOutAgain) {
  const auto event = device->create_event();
  SubmitOptions options;
  options.event = *event;
  const auto bad =
      device->submit(stream, DmaCommand::host_to_device({0x1000}, memory, 64), options);
  EXPECT_FALSE(device->wait(*bad, WaitPolicy::kPolling, in(1_ms)).has_value());
  ASSERT_THAT(device->destroy_event(*event), IsOk());
  const auto next = must(device->create_event());
  EXPECT_NE(next, *event);
}

// pcie.md F1: detected once, then nothing touches the card and nothing hangs.
TEST_F(DeviceTest, RemovalEndsWaitsOfEveryPolicyAndFailsEverythingAfter) {
  card.behaviour.completion_paused = true;
  const auto ticket = submit();
  fake.scheduler.at(in(20_us), [&] { card.remove(); });
  const auto begin = fake.scheduler.now();
  auto sleeper = fake.tasks().spawn("sleeper", [&] {
    EXPECT_THAT(device->wait(*ticket, WaitPolicy::kInterrupt, in(10_s)),
                FailsWith(ErrorCode::kDeviceLost));
  });
  EXPECT_THAT(device->wait(*ticket, WaitPolicy::kPolling, in(10_s)),
              FailsWith(ErrorCode::kDeviceLost, "no longer answers"));
  (*sleeper)->join();
  EXPECT_LT(fake.scheduler.now() - begin, 3_ms);
  EXPECT_TRUE(device->lost());
  fake.log_bus = true;
  EXPECT_THAT(submit(), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(device->allocate(1), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(device->take_fault(), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(device->create_stream(), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_THAT(device->shutdown(), FailsWith(ErrorCode::kDeviceLost));
  EXPECT_TRUE(fake.bus_log.empty());
}

TEST_F(DeviceTest, RemovalEndsAFullRingsRetry) {
  card.behaviour.fetch_paused = true;
  for (int i = 0; i < 4095; ++i) ASSERT_THAT(submit(), IsOk());
  fake.scheduler.at(in(30_us), [&] { card.remove(); });
  EXPECT_THAT(submit(), FailsWith(ErrorCode::kDeviceLost));
}

TEST_F(DeviceTest, RemovalBeforeOpenIsNotFound) {
  device.reset();
  card.remove();
  EXPECT_THAT(Device::open(fake, card.config().bdf), FailsWith(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace npu::driver
