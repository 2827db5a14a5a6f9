// SPDX-License-Identifier: Apache-2.0
// Tasks that do anything with a device, by chance, until it is shut down at any moment. Whatever
// they are in then ends soon, with an error or without.
#include <atomic>
#include <iterator>
#include <random>

#include "tests/driver/threads/crowd_fixture.hpp"

namespace npu::driver {
namespace {

class StormTest : public CrowdTest, public testing::WithParamInterface<unsigned> {
 protected:
  using Dice = std::mt19937;
  using Deed = void (StormTest::*)(Dice&);

  void SetUp() override {
    CrowdTest::SetUp();
    common_ = open_process();
  }
  void TearDown() override {
    common_.reset();
    CrowdTest::TearDown();
  }

  static WaitPolicy any_policy(Dice& dice) {
    constexpr WaitPolicy kAll[] = {WaitPolicy::kPolling, WaitPolicy::kInterrupt,
                                   WaitPolicy::kAdaptive};
    return kAll[dice() % std::size(kAll)];
  }

  void use_common_stream(Dice& dice) { static_cast<void>(copy(stream, any_policy(dice))); }
  void use_own_stream(Dice& dice) {
    const auto own = device->create_stream();
    if (!own) return;
    static_cast<void>(copy(*own, any_policy(dice)));
    static_cast<void>(device->destroy_stream(*own, in(1_ms)));
  }
  void use_memory(Dice& dice) {
    const auto got = device->allocate((1 + dice() % 3) * 2_MiB);
    if (!got) return;
    if (dice() % 4 == 0) static_cast<void>(device->compact(16_MiB));
    static_cast<void>(device->free(got->address));
  }
  void use_event(Dice&) {
    const auto event = device->create_event();
    if (event) static_cast<void>(device->destroy_event(*event));
  }
  void reset_queue(Dice&) { static_cast<void>(device->reset_queue()); }
  void ask(Dice&) {
    static_cast<void>(queue_statistics(*device));
    static_cast<void>(take_stray_faults(*device));
    static_cast<void>(device->take_fault());
    static_cast<void>(device->memory_statistics());
  }
  void wait_for_signal(Dice& dice) {
    const auto signal = common_->signals().create();
    if (!signal) return;
    static_cast<void>(common_->signals().wait(*signal, any_policy(dice), in(30_us)));
    static_cast<void>(common_->signals().destroy(*signal));
  }
  void wait_for_fault(Dice&) { static_cast<void>(common_->wait_fault(in(50_us))); }
  void use_process(Dice& dice) {
    const auto opened = ProcessContext::open(*device, {});
    if (!opened) return;
    const auto queue = (*opened)->create_queue();
    if (!queue) return;
    const auto ticket = (*queue)->submit(entries::nop(), in(1_ms));
    if (ticket) static_cast<void>((*queue)->wait(*ticket, any_policy(dice), in(1_ms)));
    if (dice() % 2 == 0) static_cast<void>((*opened)->suspend({(*queue)->id()}, in(1_ms)));
    if (dice() % 2 == 0) static_cast<void>((*opened)->destroy(**queue, in(1_ms)));
  }

  void do_anything(unsigned task) {
    constexpr Deed kDeeds[] = {
        &StormTest::use_common_stream, &StormTest::use_own_stream, &StormTest::use_memory,
        &StormTest::use_event,         &StormTest::reset_queue,    &StormTest::ask,
        &StormTest::wait_for_signal,   &StormTest::wait_for_fault, &StormTest::use_process};
    Dice dice(GetParam() * kCrowd + task + 1);
    while (!over_) {
      pass(Picoseconds(static_cast<std::int64_t>(1 + dice() % 3'000'000)));
      (this->*kDeeds[dice() % std::size(kDeeds)])(dice);
    }
  }

  std::unique_ptr<ProcessContext> common_;
  std::atomic<bool> over_{false};
};

TEST_P(StormTest, EndsSoonAfterTheShutdown) {
  begin(kCrowd, [&](unsigned task) { do_anything(task); });
  Dice dice(GetParam() + 1);
  pass(Picoseconds(static_cast<std::int64_t>(dice() % 400'000'000)));
  static_cast<void>(device->shutdown());
  over_ = true;
  const auto closed = fake.scheduler.now();
  join();
  EXPECT_LT(fake.scheduler.now() - closed, 3_ms);
  for (unsigned i = 0; i < card.config().vectors; ++i) EXPECT_FALSE(card.vector(i).open) << i;
}

INSTANTIATE_TEST_SUITE_P(Seeds, StormTest, testing::Range(0U, 30U));

}  // namespace
}  // namespace npu::driver
