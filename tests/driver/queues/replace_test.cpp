// SPDX-License-Identifier: Apache-2.0
// Rings that are replaced at any time: every entry is executed once and in order, outcomes are
// right, and the queue goes on.
#include <optional>

#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using Ring = QueueChange::Ring;

QueueEntryOptions quiet() {
  QueueEntryOptions options;
  options.completion = false;
  return options;
}

QueueChange replace(unsigned log2, QueueMemory memory = QueueMemory::kHost) {
  QueueChange change;
  change.ring_change = Ring::kReplace;
  change.ring = {memory, log2};
  return change;
}

// Nothing ever says that the entries before the change were taken.
TEST_F(QueueTest, ASmallerRingBehindEntriesWithoutCompletionsIsNotFull) {
  const auto queue = make(small(8));
  for (int i = 0; i < 60; ++i)
    ASSERT_THAT(queue->submit(entries::nop(), in(1_ms), quiet()), IsOk());
  pass(1_ms);
  ASSERT_THAT(change(*queue, replace(2)), IsOk());
  EXPECT_THAT(run(*queue), IsOk());
  EXPECT_EQ(executed(*queue), 61U);
}

// Those that move fill the new ring, and none of them has a completion.
TEST_F(QueueTest, ARingFullOfEntriesWithoutCompletionsThatMovedGoesOn) {
  const auto queue = make(small(8));
  cp.paused = true;
  for (int i = 0; i < 4; ++i) ASSERT_THAT(queue->submit(entries::nop(), in(1_ms), quiet()), IsOk());
  ASSERT_THAT(change(*queue, replace(2)), IsOk());
  cp.resume();
  EXPECT_THAT(run(*queue), IsOk());
  EXPECT_EQ(executed(*queue), 5U);
}

// Entries carry their number; nops of the driver's own carry none.
class ReplaceTest : public QueueTest, public testing::WithParamInterface<unsigned> {
 protected:
  void begin(unsigned seed) {
    state_ = seed * 0x9E3779B97F4A7C15 + 1;
    QueueOptions options;
    options.ring = {any_memory(), 2 + dice(5)};
    options.log2_completions = kLargest;
    options.completion_memory = any_memory();
    options.indices_in_memory = dice(3) == 0;
    options.in_order = dice(2) == 0;
    completions_ = 2 + dice(2) * 100;
    queue_ = make(options);
    ring_ = std::size_t{1} << options.ring.log2_entries;
    cp.entry_latency = [this](const abi::QueueEntry&) {
      return static_cast<int>(dice(3000)) * 1_ns;
    };
  }
  unsigned dice(unsigned sides) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state_ >> 33) % sides;
  }
  QueueMemory any_memory() { return dice(2) == 0 ? QueueMemory::kHost : QueueMemory::kDevice; }
  bool runs() const { return !cp.paused && !null_ && !disabled_ && !suspended_ && evictions_ == 0; }

  void submit_some() {
    std::vector<abi::QueueEntry> batch(1 + dice(static_cast<unsigned>(dice(4) == 0 ? ring_ : 3)));
    if (batch.size() > ring_) batch.resize(ring_);
    auto number = numbers_;
    for (auto& entry : batch) {
      entry = entries::nop();
      entry.set(abi::SignalPayload{0, 0, ++number});
    }
    QueueEntryOptions options;
    options.completion = dice(completions_) == 0;
    const auto ticket =
        queue_->submit(batch.data(), batch.size(), in(runs() ? 20_ms : 30_us), options);
    if (runs()) {
      ASSERT_THAT(ticket, IsOk());
    } else if (!ticket) {
      EXPECT_THAT(ticket, FailsWith(ErrorCode::kQueueFull));
      return;
    }
    numbers_ = number;
    if (options.completion) last_ = *ticket;
  }
  void replace_ring() {
    const auto log2 = 2 + dice(kLargest - 1);
    const auto done = change(*queue_, replace(log2, any_memory()));
    if (!done) {
      EXPECT_THAT(done, FailsWith(ErrorCode::kInvalidArgument, "are waiting"));
      const auto status = must(process->query(queue_->id()));
      EXPECT_GT(status.write_index - status.read_index + 1, std::uint64_t{1} << log2);
      return;
    }
    ring_ = std::size_t{1} << log2;
    null_ = false;
  }
  void set_null(bool null) {
    QueueChange what;
    what.ring_change = null ? Ring::kNullRing : Ring::kRestore;
    ASSERT_THAT(change(*queue_, what), IsOk());
    null_ = null;
  }
  void set_disabled(bool disabled) {
    QueueChange what;
    what.percentage = disabled ? 0 : 100;
    ASSERT_THAT(change(*queue_, what), IsOk());
    disabled_ = disabled;
  }
  void set_suspended(bool suspended) {
    const std::vector<QueueId> ids = {queue_->id()};
    const auto done = suspended ? process->suspend(ids, in(1_ms)) : process->resume(ids, in(1_ms));
    ASSERT_EQ(done.front(), QueueResult::kDone);
    suspended_ = suspended;
  }
  void evict() {
    ASSERT_THAT(process->evict(in(1_ms)), IsOk());
    ++evictions_;
  }
  void restore() {
    if (evictions_ == 0) return;
    ASSERT_THAT(process->restore(in(1_ms)), IsOk());
    --evictions_;
  }
  void wait() {
    if (!last_ || !runs()) return;
    ASSERT_THAT(queue_->wait(*last_, WaitPolicy::kPolling, in(20_ms)), IsOk());
  }
  void step() {
    switch (dice(14)) {
      case 0:
      case 1:
        return replace_ring();
      case 2:
        return set_null(dice(2) == 0);
      case 3:
        return set_disabled(dice(2) == 0);
      case 4:
        return set_suspended(dice(2) == 0);
      case 5:
        return dice(2) == 0 ? evict() : restore();
      case 6:
        cp.paused = true;
        return;
      case 7:
        return cp.resume();
      case 8:
        return wait();
      case 9:
        return pass(static_cast<int>(dice(20'000)) * 1_ns);
      default:
        return submit_some();
    }
  }
  void let_run() {
    cp.resume();
    set_null(false);
    set_disabled(false);
    set_suspended(false);
    while (evictions_ > 0) restore();
  }
  void check() {
    let_run();
    for (std::size_t i = 0; i < 3 * ring_; ++i) {
      submit_some();
      if (HasFatalFailure()) return;
    }
    ASSERT_THAT(run(*queue_), IsOk());
    std::uint64_t number = 0, index = 0;
    for (const auto& done : cp.executed()) {
      if (done.queue != queue_->id().value) continue;
      EXPECT_EQ(done.index, index++);
      const auto carried = done.entry.get<abi::SignalPayload>().value;
      if (carried == 0) continue;
      ASSERT_EQ(carried, ++number);
    }
    EXPECT_EQ(number, numbers_);
  }

  static constexpr unsigned kLargest = 8;
  std::unique_ptr<Queue> queue_;
  std::size_t ring_ = 0;
  std::uint64_t state_ = 0, numbers_ = 0;
  bool null_ = false, disabled_ = false, suspended_ = false;
  unsigned evictions_ = 0, completions_ = 1;
  std::optional<QueueTicket> last_;
};

TEST_P(ReplaceTest, EveryEntryIsExecutedOnceAndInOrder) {
  begin(GetParam());
  for (int i = 0; i < 400 && !HasFatalFailure(); ++i) step();
  if (!HasFatalFailure()) check();
  let_run();
  queue_.reset();
}
INSTANTIATE_TEST_SUITE_P(Seeds, ReplaceTest, testing::Range(1U, 41U));

}  // namespace
}  // namespace npu::driver
