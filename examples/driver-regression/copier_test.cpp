// SPDX-License-Identifier: Apache-2.0
// What the driver must keep: its costs, counted and timed to the picosecond, and what it does when
// the card fails.
#include "copier.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "npu/testing/machine_test.hpp"

using namespace npu::literals;
using namespace npu::testkit;
using ::testing::AllOf;

class CopierTest : public MachineTest {
 protected:
  static constexpr npu::Bytes kSize = 1_MiB;

  // The chip, and what the host's CPU takes for a store and a barrier, so that the times below can
  // be added up by hand.
  CopierTest()
      : MachineTest("910b", {"cpu.wc_store_ns=2", "cpu.barrier_ns=10", "cpu.mmio_store_ns=30"}) {}

  void SetUp() override {
    auto opened = Copier::open(platform(), kSize);
    ASSERT_THAT(opened, Succeeds());
    copier_.emplace(std::move(*opened));
  }
  void TearDown() override { copier_.reset(); }

  void fill(unsigned value) {
    std::fill_n(copier_->buffer().data, copier_->buffer().size, std::byte(value));
  }
  bool is_filled_with(unsigned value) const {
    const auto bytes = copier_->buffer();
    return std::all_of(bytes.data, bytes.data + bytes.size,
                       [value](std::byte b) { return b == std::byte(value); });
  }
  void expect_copies() {
    fill(0x5A);
    EXPECT_THAT(copier_->begin_upload(), Succeeds());
    EXPECT_THAT(copier_->wait(1_ms), Succeeds());
    fill(0);
    EXPECT_THAT(copier_->begin_download(), Succeeds());
    EXPECT_THAT(copier_->wait(1_ms), Succeeds());
    EXPECT_TRUE(is_filled_with(0x5A));
  }

  std::optional<Copier> copier_;
};

TEST_F(CopierTest, BringsBackWhatItUploaded) {
  expect_copies();
}

// An entry of four stores, a barrier, a doorbell. One read of a register here would cost more than
// all of them together.
TEST_F(CopierTest, SubmissionReadsNoRegister) {
  const auto done = accesses([&] { EXPECT_THAT(copier_->begin_upload(), Succeeds()); });
  metric("copier.submit", done);  // for `npusim compare`, see README.md
  EXPECT_THAT(done, AllOf(MmioReads(0), ConfigAccesses(0), Polls(0)));
  EXPECT_THAT(done, AllOf(CombiningStores(4), WriteBarriers(1), WritesTo("DMA_DOORBELL", 1)));
}

TEST_F(CopierTest, SubmissionTakesItsStoresToThePicosecond) {
  const auto time = elapsed([&] { EXPECT_THAT(copier_->begin_upload(), Succeeds()); });
  EXPECT_EQ(time, 4 * 2_ns + 10_ns + 30_ns);
}

TEST_F(CopierTest, WaitsByOneInterruptWithoutPolling) {
  EXPECT_THAT(copier_->begin_download(), Succeeds());
  const auto done = accesses([&] { EXPECT_THAT(copier_->wait(1_ms), Succeeds()); });
  EXPECT_THAT(done, AllOf(Interrupts(1), Polls(0), MmioReads(0)));
}

// The time is in the test's report, and the same in every run.
TEST_F(CopierTest, LatencyIsThatOfTheLink) {
  const auto time = elapsed([&] {
    EXPECT_THAT(copier_->begin_download(), Succeeds());
    EXPECT_THAT(copier_->wait(1_ms), Succeeds());
  });
  metric("copier.download.latency_ns", time);
  // 4096 writes of 256 bytes, 284 on the wire of 31.508 GB/s, cannot be faster; the wake-up of the
  // waiter takes 4.5 us.
  EXPECT_GT(time, 4096 * 9'013_ps + 4500_ns);
  EXPECT_LT(time, 4096 * 9'014_ps + 4500_ns + 3_us);
}

TEST_F(CopierTest, GivesBackWhatItTook) {
  leaks_are_errors();
  expect_copies();
}

TEST_F(CopierTest, WaitsForACopyWhoseInterruptIsLost) {
  inject(lost_interrupt());
  EXPECT_THAT(copier_->begin_download(), Succeeds());
  EXPECT_THAT(copier_->wait(10_ms), Succeeds());
  EXPECT_EQ(pending_faults(), 0u);
}

TEST_F(CopierTest, ReportsALinkThatGoesDownDuringACopy) {
  EXPECT_THAT(copier_->begin_download(), Succeeds());
  inject(link_down(5_ms), after(10_us));
  EXPECT_THAT(copier_->wait(100_ms), FailsWith(npu::ErrorCode::kDeviceLost));
  run_for(105_ms);  // PCIe 6.6.1: a card that is back is left alone for 100 ms
  EXPECT_THAT(copier_->recover(), Succeeds());
  expect_copies();
}

TEST_F(CopierTest, RecoversFromAFunctionLevelReset) {
  EXPECT_THAT(copier_->begin_upload(), Succeeds());
  inject(function_level_reset());
  EXPECT_THAT(copier_->wait(100_ms), ::testing::Not(Succeeds()));
  EXPECT_THAT(copier_->recover(), Succeeds());
  expect_copies();
}

TEST_F(CopierTest, ReportsAPoisonedCompletionAsADeviceFault) {
  inject(poisoned_completion(), at_access(1, AccessKind::kMmioWrite, "DMA_DOORBELL"));
  EXPECT_THAT(copier_->begin_upload(), Succeeds());
  EXPECT_EQ(pending_faults(), 0u);
  EXPECT_THAT(copier_->wait(1_ms), FailsWith(npu::ErrorCode::kDeviceFault));
  EXPECT_THAT(copier_->recover(), Succeeds());
  expect_copies();
}
