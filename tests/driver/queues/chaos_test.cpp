// SPDX-License-Identifier: Apache-2.0
// Everything at once: tasks that submit, and tasks that suspend, change, evict, hold for compaction
// and restart the management ring. Whatever the order, every entry runs once and in its place.
#include <map>

#include "driver/queue/process_impl.hpp"
#include "driver/support/impl_of.hpp"
#include "tests/driver/queues/queue_fixture.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15) {}
  unsigned operator()(unsigned sides) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state_ >> 33) % sides;
  }

 private:
  std::uint64_t state_;
};

class QueueChaosTest : public QueueTest, public testing::WithParamInterface<unsigned> {
 protected:
  static constexpr int kQueues = 4;
  static constexpr std::uint64_t kEntries = 150;
  static constexpr int kChanges = 40;

  void spawn(std::function<void()> body) {
    tasks_.push_back(std::move(*fake.tasks().spawn("task", std::move(body))));
  }
  void join() {
    for (auto& task : tasks_) task->join();
    tasks_.clear();
  }
  void pause(Dice& dice) { pass(Picoseconds(1'000'000) * static_cast<int>(1 + dice(40))); }

  void submitter(Queue& queue, Dice dice) {
    for (std::uint64_t i = 1; i <= kEntries; ++i) {
      QueueEntryOptions options;
      options.completion = i == kEntries || dice(3) != 0;
      const auto ticket =
          must(queue.submit(entries::record_event(SignalId{0}, i), in(1_s), options));
      if (i != kEntries && (!options.completion || dice(4) != 0)) continue;
      ASSERT_THAT(queue.wait(ticket, WaitPolicy::kAdaptive, in(1_s)), IsOk());
    }
  }
  void changer(Dice dice) {
    for (int i = 0; i < kChanges; ++i) {
      auto& queue = *queues_[dice(kQueues)];
      QueueChange what, back;
      back.percentage = 1 + dice(100);
      back.ring_change = QueueChange::Ring::kRestore;
      if (dice(2) == 0) what.percentage = 0;
      if (dice(2) == 0) what.ring_change = QueueChange::Ring::kNullRing;
      what.priority = dice(16);
      EXPECT_THAT(change(queue, what), IsOk());
      pause(dice);
      EXPECT_THAT(change(queue, back), IsOk());
      QueueChange ring;
      ring.ring_change = QueueChange::Ring::kReplace;
      ring.ring = {dice(2) == 0 ? QueueMemory::kHost : QueueMemory::kDevice, 3 + dice(4)};
      const auto replaced = change(queue, ring);
      EXPECT_TRUE(replaced || replaced.error().code == ErrorCode::kInvalidArgument) << "too small";
    }
  }
  void suspender(Dice dice) {
    for (int i = 0; i < kChanges; ++i) {
      const std::vector<QueueId> ids = {queues_[dice(kQueues)]->id()};
      EXPECT_EQ(process->suspend(ids, in(1_s))[0], QueueResult::kDone);
      pause(dice);
      EXPECT_EQ(process->resume(ids, in(1_s))[0], QueueResult::kDone);
      pause(dice);
    }
  }
  void evictor(Dice dice, bool compaction) {
    for (int i = 0; i < kChanges; ++i) {
      EXPECT_THAT(compaction ? impl_of(*process).quiesce(in(1_s)) : process->evict(in(1_s)),
                  IsOk());
      pause(dice);
      if (compaction) {
        impl_of(*process).resume();
      } else {
        EXPECT_THAT(process->restore(in(1_s)), IsOk());
      }
      pause(dice);
    }
  }
  void check() {
    std::map<std::uint32_t, std::uint64_t> last;
    for (const auto& done : cp.executed()) {
      if (done.entry.opcode == static_cast<std::uint8_t>(abi::QueueOpcode::kNop)) continue;
      ASSERT_EQ(done.entry.get<abi::SignalPayload>().value, ++last[done.queue]);
    }
    for (const auto& queue : queues_) EXPECT_EQ(last[queue->id().value], kEntries);
  }

  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<platform::Task>> tasks_;
};

TEST_P(QueueChaosTest, EveryEntryRunsOnceAndInItsPlace) {
  Dice dice(GetParam());
  for (unsigned i = 0; i < kQueues; ++i) {
    auto options = small(3 + i % 2);
    options.log2_completions = 6;
    options.indices_in_memory = i % 2 == 1;
    queues_.push_back(make(options));
  }
  for (auto& queue : queues_) spawn([&, d = Dice(dice(1000))] { submitter(*queue, d); });
  spawn([&, d = Dice(dice(1000))] { changer(d); });
  spawn([&, d = Dice(dice(1000))] { suspender(d); });
  for (const bool compaction : {true, false}) {
    spawn([&, compaction, d = Dice(dice(1000))] { evictor(d, compaction); });
  }
  spawn([&, d = Dice(dice(1000))]() mutable {
    for (int i = 0; i < 10; ++i) {
      pause(d), pause(d), pause(d);
      EXPECT_THAT(impl_of(*process).manager.ring().restart(in(1_ms)), IsOk());
    }
  });
  join();
  check();
  queues_.clear();
}
INSTANTIATE_TEST_SUITE_P(Seeds, QueueChaosTest, testing::Range(1U, 13U));

}  // namespace
}  // namespace npu::driver
