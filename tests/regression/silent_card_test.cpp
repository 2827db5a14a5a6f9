// SPDX-License-Identifier: Apache-2.0
// A card that answers no management command: making and ending queues is over soon, and says why.
#include "npu/driver/process.hpp"
#include "tests/regression/opened_card.hpp"

namespace npu::regression {
namespace {

using ::testing::HasSubstr;

struct Silence {
  const char* name;
  testkit::Fault fault;
  ErrorCode code;
  const char* why;
};

class SilentCard : public OpenedCard, public ::testing::WithParamInterface<Silence> {
 protected:
  SilentCard() : OpenedCard("910b2") {}
  void SetUp() override {
    OpenedCard::SetUp();
    auto process = driver::ProcessContext::open(*device_);
    ASSERT_THAT(process, Succeeds());
    process_ = std::move(*process);
    auto queue = process_->create_queue();
    ASSERT_THAT(queue, Succeeds());
    queue_ = std::move(*queue);
  }
  void TearDown() override {
    queue_.reset();
    process_.reset();
    OpenedCard::TearDown();
  }
  std::unique_ptr<driver::ProcessContext> process_;
  std::unique_ptr<driver::Queue> queue_;
};

TEST_P(SilentCard, IsNoticedOnceAndLaterCallsEndAtOnce) {
  inject(GetParam().fault);
  Result<std::unique_ptr<driver::Queue>> made = nullptr;
  const auto first = elapsed([&] { made = process_->create_queue(); });
  ASSERT_THAT(made, FailsWith(GetParam().code));
  EXPECT_THAT(made.error().context, HasSubstr(GetParam().why));
  EXPECT_LT(first, 2_ms);
  EXPECT_LT(elapsed([&] { made = process_->create_queue(); }), 100_us);
  EXPECT_LT(elapsed([&] { queue_.reset(); }), 100_us);
  EXPECT_LT(elapsed([&] { process_.reset(); }), 100_us);
}

TEST_P(SilentCard, EndsAQueueWithinTwoMilliseconds) {
  inject(GetParam().fault);
  EXPECT_LT(elapsed([&] { queue_.reset(); }), 2_ms);
}

INSTANTIATE_TEST_SUITE_P(By, SilentCard,
                         ::testing::Values(Silence{"Removal", testkit::surprise_removal(),
                                                   ErrorCode::kDeviceLost, "no longer answers"},
                                           Silence{"MemoryDecode", testkit::memory_decode_off(),
                                                   ErrorCode::kIo, "its memory decoding is off"},
                                           Silence{"BusMaster", testkit::bus_master_off(),
                                                   ErrorCode::kIo, "bus mastering off"},
                                           Silence{"Power", testkit::power_down(), ErrorCode::kIo,
                                                   "not in D0"}),
                         [](const auto& each) { return std::string(each.param.name); });

// 2 us without bus mastering, at any instant of the making of a queue: it is made, or refused at
// once, and the next one is made.
TEST_F(SilentCard, ForAMomentHoldsUpNobody) {
  for (unsigned i = 0; i < 60; ++i) {
    inject(testkit::bus_master_off(2_us), testkit::after(i * 200_ns));
    Result<std::unique_ptr<driver::Queue>> made = nullptr;
    EXPECT_LT(elapsed([&] { made = process_->create_queue(); }), 5_ms) << i;
    run_for(10_us);
    made = process_->create_queue();
    ASSERT_THAT(made, Succeeds()) << i;
    ASSERT_LT(elapsed([&] { made->reset(); }), 5_ms) << i;
  }
}

}  // namespace
}  // namespace npu::regression
