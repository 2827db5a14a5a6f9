// SPDX-License-Identifier: Apache-2.0
// Any fault of the card before any access while managed memory is used: whatever fails then ends
// with an error, and the next opening works.
#include <array>
#include <random>
#include <vector>

#include "npu/driver/managed.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "tests/regression/opened_card.hpp"
#include "tests/support/folders.hpp"

namespace npu::regression {
namespace {

using driver::FaultPolicy;
using driver::kPageSize;
using testkit::Fault;

class ManagedFault : public OpenedCard, public testing::WithParamInterface<FaultPolicy> {
 protected:
  ManagedFault()
      : OpenedCard("910b", {"endpoint.completion_timeout_us=1000",
                            GetParam() == FaultPolicy::kAts ? "mmu.fault_policy=ats"
                                                            : "mmu.fault_policy=message"}) {
    for (const char byte : file_text(binary_dir() + "/programs/pager.npu")) {
      pager_.push_back(static_cast<std::byte>(byte));
    }
  }

  Fault fault() {
    const auto duration = Picoseconds(static_cast<std::int64_t>(random_() % 20'000'000));
    const std::array<Fault, 6> all = {
        testkit::link_down(duration),      testkit::function_level_reset(),
        testkit::bus_master_off(duration), testkit::memory_decode_off(duration),
        testkit::poisoned_completion(),    testkit::lost_completion()};
    return all[random_() % all.size()];
  }
  AccessKind kind() {
    constexpr std::array<AccessKind, 4> kAll = {AccessKind::kMmioRead, AccessKind::kMmioWrite,
                                                AccessKind::kCombiningStore,
                                                AccessKind::kWriteBarrier};
    return kAll[random_() % kAll.size()];
  }
  // Pages go to the card, which has memory for fewer, and come back.
  Status use() {
    auto device = driver::Device::open_index(platform(), 0);
    if (!device) return forward_error(device);
    auto process = driver::ProcessContext::open(**device);
    if (!process) return forward_error(process);
    driver::ManagedOptions options;
    options.policy = GetParam();
    options.pager = {pager_.data(), pager_.size()};
    options.card_limit = 6 * kPageSize;
    auto managed = driver::ManagedMemory::open(**device, (*process)->space(), options);
    if (!managed) return forward_error(managed);
    const auto pages = (*managed)->allocate(8 * kPageSize);
    if (!pages) return forward_error(pages);
    auto queue = (*process)->create_queue();
    if (!queue) return forward_error(queue);
    std::byte byte{};
    for (unsigned i = 0; i < 8; ++i) {
      const auto at = *pages + i * kPageSize;
      if (auto ok = (*managed)->write(at, {&byte, 1}); !ok) return ok;
      const auto entry = driver::entries::copy_on_device(at, at + 4096, 64);
      const auto ticket = (*queue)->submit(entry, deadline());
      if (!ticket) return forward_error(ticket);
      if (auto ok = (*queue)->wait(*ticket, WaitPolicy::kInterrupt, deadline()); !ok) return ok;
    }
    if (auto ok = (*managed)->read(*pages, {&byte, 1}); !ok) return ok;
    queue->reset();
    return (*managed)->close();
  }

  std::vector<std::byte> pager_;
  std::mt19937_64 random_{11};
};

TEST_P(ManagedFault, LeavesACardThatCanBeOpened) {
  close();
  unsigned failed = 0;
  for (unsigned i = 0; i < 25 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    inject(fault(), testkit::at_access(1 + random_() % 200, kind()));
    for (unsigned uses = 0; uses < 40 && pending_faults() > 0; ++uses) failed += use() ? 0 : 1;
    EXPECT_EQ(pending_faults(), 0U);
    failed += use() ? 0 : 1;  // a completion that goes wrong may be one of the next use
    run_for(130_ms);
    EXPECT_THAT(use(), Succeeds());
  }
  EXPECT_GT(failed, 5U);
}

INSTANTIATE_TEST_SUITE_P(Policies, ManagedFault,
                         testing::Values(FaultPolicy::kMessage, FaultPolicy::kBatch,
                                         FaultPolicy::kAts),
                         [](const auto& instance) {
                           if (instance.param == FaultPolicy::kAts) return "ats";
                           return instance.param == FaultPolicy::kMessage ? "message" : "batch";
                         });

}  // namespace
}  // namespace npu::regression
