// SPDX-License-Identifier: Apache-2.0
// Any fault before any access, from the scan for the card to the end of a copy: whatever fails then
// ends with an error, and the next opening works.
#include <array>
#include <random>

#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using testkit::Fault;

class AnyFault : public OpenedCard {
 protected:
  AnyFault() : OpenedCard("910b", {"endpoint.completion_timeout_us=1000"}) {}

  Fault fault() {
    const auto duration = Picoseconds(static_cast<std::int64_t>(random_() % 20'000'000));
    const auto unit = static_cast<unsigned>(random_() % 4);
    const std::array<Fault, 28> all = {
        testkit::link_down(duration),
        testkit::function_level_reset(),
        testkit::bus_master_off(duration),
        testkit::memory_decode_off(duration),
        testkit::power_down(duration),
        testkit::poisoned_completion(),
        testkit::lost_completion(),
        testkit::poisoned_completion(testkit::Requester::kHost),
        testkit::memory_error(random_() % 64_MiB, 2),
        testkit::link_retrained(1, 1, duration),
        testkit::bad_tlp(),
        testkit::bad_tlp(testkit::Requester::kHost),
        testkit::stuck_engine(unit, duration),
        testkit::lost_command(unit, duration),
        testkit::hung_aicpu(unit, duration),
        testkit::hung_control_processor(duration),
        testkit::refused_completion(testkit::CompletionStatus::kUnsupportedRequest),
        testkit::refused_completion(testkit::CompletionStatus::kCompleterAbort,
                                    testkit::Requester::kHost),
        testkit::dropped_tlp(testkit::TlpError(unit % 3)),
        testkit::iommu_fault(),
        testkit::slow_channel(unit, 8, duration),
        testkit::dropped_tlp(testkit::TlpError(unit % 3), testkit::Requester::kHost, duration),
        testkit::poisoned_write(),
        testkit::poisoned_write(testkit::Requester::kHost, duration),
        testkit::unexpected_completion(),
        testkit::unexpected_completion(testkit::Requester::kHost),
        testkit::link_error(testkit::LinkErrorType(unit)),
        testkit::link_error(testkit::LinkErrorType(unit), testkit::Requester::kHost),
    };
    return all[random_() % all.size()];
  }
  AccessKind kind() {
    constexpr std::array<AccessKind, 6> kAll = {
        AccessKind::kMmioRead,   AccessKind::kMmioWrite,   AccessKind::kCombiningStore,
        AccessKind::kConfigRead, AccessKind::kConfigWrite, AccessKind::kWriteBarrier};
    return kAll[random_() % kAll.size()];
  }
  // What a driver does from its beginning; the first error ends it.
  Status use() {
    auto device = driver::Device::open_index(platform(), 0);
    if (!device) return forward_error(device);
    const auto stream = (*device)->create_stream();
    if (!stream) return forward_error(stream);
    const auto memory = (*device)->allocate(64_KiB);
    if (!memory) return forward_error(memory);
    const auto host = (*device)->allocate_host(64_KiB);
    if (!host) return forward_error(host);
    const auto command = DmaCommand::host_to_device((*host)->bus(), memory->address, 64_KiB);
    return (*device)->copy(*stream, command, WaitPolicy::kInterrupt, deadline());
  }

  std::mt19937_64 random_{11};
};

TEST_F(AnyFault, LeavesACardThatCanBeOpened) {
  close();
  unsigned failed = 0;
  for (unsigned i = 0; i < 180 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    inject(fault(), testkit::at_access(1 + random_() % 40, kind()));
    // Until it has happened; a completion that goes wrong may be one of the driver behind that.
    for (unsigned uses = 0; uses < 40 && pending_faults() > 0; ++uses) failed += use() ? 0 : 1;
    EXPECT_EQ(pending_faults(), 0U);
    failed += use() ? 0 : 1;
    run_for(130_ms);
    EXPECT_THAT(use(), Succeeds());
  }
  EXPECT_GT(failed, 20U);  // six of the faults end nothing
}

// What the card's registers and configuration space read as then is no mistake of the card.
TEST_F(AnyFault, ACardThatIsTakenAwayWhileItIsOpenedIsLost) {
  const auto bdf = device_->info().bdf();
  close();
  for (const auto kind : {AccessKind::kConfigRead, AccessKind::kConfigWrite, AccessKind::kMmioRead,
                          AccessKind::kMmioWrite}) {
    std::uint64_t nth = 1;
    for (bool opened = false; !opened && !HasFailure(); ++nth) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", access " << nth);
      inject(testkit::link_down(100_ms), testkit::at_access(nth, kind));
      const auto device = driver::Device::open(platform(), bdf);
      opened = device.has_value();
      // The first access looks whether there is a card.
      const bool absent = kind == AccessKind::kConfigRead && nth == 1;
      if (!opened) {
        EXPECT_THAT(device, FailsWith(absent ? ErrorCode::kNotFound : ErrorCode::kDeviceLost));
      }
      run_for(250_ms);
    }
    ASSERT_GT(nth, 3U) << "accesses of kind " << static_cast<int>(kind);
    // One that was not made in opening is made now.
    for (unsigned uses = 0; uses < 40 && pending_faults() > 0; ++uses) static_cast<void>(use());
    run_for(250_ms);
    EXPECT_THAT(use(), Succeeds());
  }
}

}  // namespace
}  // namespace npu::regression
