// SPDX-License-Identifier: Apache-2.0
// A command processor that stops answering at any instant, and goes on at another: every call holds
// its deadline, and later calls finish what was left.
#include <algorithm>
#include <array>

#include "tests/driver/queues/queue_fixture.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kQueues = 3;

class DeadlineTest : public QueueTest, public testing::WithParamInterface<unsigned> {
 protected:
  unsigned dice(unsigned sides) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state_ >> 33) % sides;
  }
  Picoseconds some_time() {
    const Picoseconds times[] = {0_ns, 1_us, 5_us, 100_us, 2_ms, 5_ms, 200_ms};
    return times[dice(7)];
  }
  // The card dies within what comes next, and is back before or after its end.
  void let_it_die() {
    if (dice(2) == 0) return;
    const auto death = in(static_cast<int>(dice(20'000)) * 1_ns);
    fake.scheduler.at(death, [this] { cp.stuck = true; });
    revival_ = std::max(revival_, death + some_time());
  }
  void revive() {
    if (revival_ > fake.scheduler.now()) pass(revival_ - fake.scheduler.now());
    cp.stuck = false;
  }
  // A call with a deadline, which may be used up, and the millisecond for a reset.
  template <class Call>
  void timed(Call call) {
    const auto deadline = in(some_time());
    let_it_die();
    call(deadline);
    EXPECT_LE(fake.scheduler.now(), deadline + 1_ms + 100_us);
    if (dice(2) == 0) revive();
  }
  void step() {
    auto& queue = queues_[dice(kQueues)];
    if (queue == nullptr) queue = make(small());
    const std::vector<QueueId> ids = {queue->id()};
    switch (dice(6)) {
      case 0:
        return timed([&](auto deadline) { process->suspend(ids, deadline); });
      case 1:
        return timed([&](auto deadline) { process->resume(ids, deadline); });
      case 2:
        return timed([&](auto deadline) { static_cast<void>(process->evict(deadline)); });
      case 3:
        return timed([&](auto deadline) { static_cast<void>(process->restore(deadline)); });
      case 4:
        timed([&](auto deadline) { static_cast<void>(process->destroy(*queue, deadline)); });
        return;
      default:
        timed([&](auto deadline) { static_cast<void>(queue->submit(entries::nop(), deadline)); });
    }
  }
  // Everything answers again: what was left open can be finished, and works.
  void settle() {
    revive();
    while (process->evictions() > 0) ASSERT_THAT(process->restore(in(10_ms)), IsOk());
    for (auto& queue : queues_) {
      if (queue == nullptr) continue;
      const bool gone = !process->query(queue->id());
      const bool leaving = process->resume({queue->id()}, in(10_ms))[0] != QueueResult::kDone;
      if (leaving && !gone) {
        EXPECT_THAT(queue->submit(entries::nop(), in(1_ms)),
                    FailsWith(ErrorCode::kInvalidArgument, "destroyed"));
      }
      if (!leaving) {
        EXPECT_THAT(run(*queue), IsOk());
      }
      const auto end = process->destroy(*queue, in(10_ms));
      if (!end) {
        EXPECT_THAT(end, FailsWith(ErrorCode::kNotFound));
      }
      queue.reset();
    }
  }

  std::uint64_t state_ = 0;
  Instant revival_;
  std::array<std::unique_ptr<Queue>, kQueues> queues_;
};

TEST_P(DeadlineTest, EveryCallHoldsItAndLaterOnesFinish) {
  state_ = GetParam() * 0x9E3779B97F4A7C15 + 1;
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    // With the card answering; a queue's making has no deadline.
    revive();
    for (auto& queue : queues_) {
      if (queue == nullptr) queue = make(small());
    }
    for (int i = 0; i < 10; ++i) step();
    settle();
    EXPECT_EQ(cp.queues(), 0U);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, DeadlineTest, testing::Range(1U, 21U));

}  // namespace
}  // namespace npu::driver
