// SPDX-License-Identifier: Apache-2.0
// Rings replaced at random on the simulated card, whose slots load, preempt and unload the queues:
// each entry is executed once and in order, and the queues go on.
#include <map>

#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

using Ring = driver::QueueChange::Ring;

// What each queue has completed, by the card's events.
class Completed : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kQueueComplete)
      causes[event.detail].push_back(event.cause);
  }
  std::map<std::uint64_t, std::vector<std::uint64_t>> causes;
};

class Replacing {
 public:
  Replacing(platform::Platform& host, unsigned seed)
      : host_(host), card_(host), process_(card_), state_(seed * 0x9E3779B97F4A7C15 + 1) {}

  void run(Machine& machine) {
    Completed completed;
    machine.view.add(completed);
    for (unsigned i = 0; i < kQueues; ++i) add_queue();
    kernel_ = process_.spin(*process_.queues[0], 5000);
    completed.causes.clear();
    first_ = must(process_.process->query(process_.queues[0]->id())).completed;
    for (int i = 0; i < 250; ++i) step();
    for (unsigned q = 0; q < kQueues; ++q) finish(q, completed);
    machine.view.remove(completed);
  }

 private:
  static constexpr unsigned kQueues = 20;  // more than slots

  unsigned dice(unsigned sides) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state_ >> 33) % sides;
  }
  void add_queue() {
    driver::QueueOptions options;
    options.in_order = true;
    options.ring.log2_entries = 2 + dice(5);
    options.log2_completions = 7;
    options.quantum = 20_us;
    options.indices_in_memory = dice(4) == 0;
    if (dice(2) == 0) options.ring.memory = driver::QueueMemory::kDevice;
    process_.add(options);
    held_.push_back(false);
  }
  void step() {
    const auto q = dice(dice(2) == 0 ? 3 : kQueues);
    auto& queue = *process_.queues[q];
    const auto action = dice(8);
    if (action < 4) return submit(q);
    if (action == 4) return card_.pass(static_cast<int>(dice(30)) * 1_us);
    if (action == 5) {
      const std::vector<driver::QueueId> ids = {queue.id()};
      const bool suspend = dice(2) == 0;
      const auto done = suspend ? process_.process->suspend(ids, card_.in(100_ms))
                                : process_.process->resume(ids, card_.in(100_ms));
      EXPECT_EQ(done.front(), driver::QueueResult::kDone);
      held_[q] = suspend;
      return;
    }
    driver::QueueChange change;
    change.ring_change = Ring::kReplace;
    change.ring = {dice(2) == 0 ? driver::QueueMemory::kHost : driver::QueueMemory::kDevice,
                   2 + dice(6)};
    const auto changed = process_.process->update(queue.id(), change);
    if (!changed) {
      EXPECT_EQ(changed.error().code, ErrorCode::kInvalidArgument) << changed.error().message();
    }
  }
  void submit(unsigned q) {
    driver::QueueEntryOptions options;
    options.completion = dice(20) == 0;
    for (unsigned i = dice(6); i > 0; --i) {
      const auto& entry = dice(3) == 0 ? kernel_ : entries::nop();
      const auto done =
          process_.queues[q]->submit(entry, card_.in(held_[q] ? 20_us : 1_s), options);
      EXPECT_TRUE(done || held_[q]) << q;
    }
  }
  void finish(unsigned q, const Completed& completed) {
    auto& queue = *process_.queues[q];
    EXPECT_EQ(process_.process->resume({queue.id()}, card_.in(100_ms)).front(),
              driver::QueueResult::kDone);
    EXPECT_TRUE(card_.run(queue, entries::nop())) << q;
    const auto status = must(process_.process->query(queue.id()));
    EXPECT_EQ(status.completed, status.write_index);
    const auto found = completed.causes.find(queue.id().value);
    ASSERT_NE(found, completed.causes.end());
    const auto& causes = found->second;
    const auto before = q == 0 ? first_ : 0;
    ASSERT_EQ(causes.size(), status.completed - before);
    for (std::size_t i = 1; i < causes.size(); ++i) EXPECT_EQ(causes[i], causes[i - 1] + 1) << q;
  }

  platform::Platform& host_;
  QueueCard card_;
  QueueProcess process_;
  std::uint64_t state_, first_ = 0;
  abi::QueueEntry kernel_;
  std::vector<bool> held_;
};

class QueueReplacing : public testing::TestWithParam<unsigned> {};

TEST_P(QueueReplacing, EveryEntryIsExecutedOnceAndInOrder) {
  Machine machine;
  machine.run([&](platform::Platform& host) { Replacing(host, GetParam()).run(machine); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, QueueReplacing, testing::Range(1U, 7U));

}  // namespace
}  // namespace npu::test
