// SPDX-License-Identifier: Apache-2.0
// What a submission costs: no register is read, one entry, one barrier, one doorbell.
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using ::testing::AllOf;
using testkit::Barriers;
using testkit::CombiningStores;
using testkit::ConfigAccesses;
using testkit::MmioReads;
using testkit::MmioWrites;
using testkit::Polls;
using testkit::ReadsOf;
using testkit::WriteBarriers;
using testkit::WritesTo;

class Submission : public OpenedCard {};

TEST_F(Submission, IsOneEntryOneBarrierAndOneDoorbell) {
  const auto done = accesses([&] { submit(to_card(64)); });
  EXPECT_THAT(done, AllOf(MmioReads(0), ConfigAccesses(0), Polls(0)));
  EXPECT_THAT(done, AllOf(WriteBarriers(1), Barriers(1)));
  EXPECT_THAT(done, AllOf(CombiningStores(4), WritesTo("DMA_RING[0]", 4)));
  EXPECT_THAT(done, AllOf(MmioWrites(1), WritesTo("DMA_DOORBELL", 1)));
}

TEST_F(Submission, TakesItsStoresAndNothingElse) {
  // host.yaml: four stores of 1.5 ns, a barrier of 12 ns, a doorbell of 31 ns; two locks of 20 ns
  // that nobody else holds.
  const auto time = elapsed([&] { submit(to_card(64)); });
  EXPECT_EQ(time, 4 * 1'500_ps + 12_ns + 31_ns);
}

TEST_F(Submission, ReadsNoRegisterUntilTheRingIsFull) {
  // All of the ring but one entry, and none is known to be consumed.
  constexpr unsigned kFits = abi::kRingEntries - 1;
  const auto fitting = accesses([&] {
    for (unsigned i = 0; i < kFits; ++i) submit(to_card(64));
  });
  EXPECT_THAT(fitting, AllOf(MmioReads(0), WritesTo("DMA_DOORBELL", kFits)));
  const auto full = accesses([&] { submit(to_card(64)); });
  EXPECT_THAT(full, AllOf(MmioReads(1), ReadsOf("DMA_CONSUMER_INDEX", 1)));
}

TEST_F(Submission, OfABatchRingsOnceEach) {
  const auto done = accesses([&] {
    for (unsigned i = 0; i < 16; ++i) submit(to_card(64));
  });
  EXPECT_THAT(done, AllOf(MmioReads(0), MmioWrites(16), CombiningStores(64), WriteBarriers(16)));
}

class Waiting : public OpenedCard {
 protected:
  testkit::Accesses wait(WaitPolicy policy, Bytes size) {
    const auto ticket = submit(to_host(size));
    return accesses(
        [&] { EXPECT_THAT(device_->wait(ticket, policy, deadline()), testkit::Succeeds()); });
  }
};

TEST_F(Waiting, ByPollingLooksAtHostMemoryOnly) {
  EXPECT_THAT(wait(WaitPolicy::kPolling, 64_KiB),
              AllOf(MmioReads(0), MmioWrites(0), ConfigAccesses(0), Polls(::testing::Gt(10U))));
}

TEST_F(Waiting, ByInterruptTakesOneAndDoesNotPoll) {
  EXPECT_THAT(wait(WaitPolicy::kInterrupt, 1_MiB),
              AllOf(MmioReads(0), MmioWrites(0), testkit::Interrupts(1), Polls(0)));
}

TEST_F(Waiting, ForWhatIsDoneTouchesNothing) {
  const auto ticket = submit(to_host(64));
  run_for(100_us);
  const auto done = accesses([&] {
    EXPECT_THAT(device_->wait(ticket, WaitPolicy::kInterrupt, deadline()), testkit::Succeeds());
  });
  EXPECT_THAT(done, AllOf(MmioReads(0), MmioWrites(0), Polls(0), testkit::Interrupts(0)));
}

}  // namespace
}  // namespace npu::regression
