// SPDX-License-Identifier: Apache-2.0
// Queues that work while other tasks suspend, change, evict, create and destroy: sums tell whether
// every kernel ran once.
#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

class Chaos {
 public:
  Chaos(platform::Platform& host, unsigned seed)
      : host_(host), card_(host), process_(card_), state_(seed * 0x9E3779B97F4A7C15) {}

  void run() {
    for (std::uint32_t i = 0; i < kQueues; ++i) add_queue(i);
    for (std::uint32_t i = 0; i < kQueues; ++i) spawn([this, i] { work(i); });
    spawn([this] { change(); });
    spawn([this] { suspend(); });
    spawn([this] { evict(); });
    spawn([this] { come_and_go(); });
    for (auto& task : tasks_) task->join();
    auto& reader = process_.add();
    for (std::uint32_t i = 0; i < kQueues; ++i) {
      EXPECT_EQ(process_.read(reader, sum(i), kBytes),
                std::vector<std::uint32_t>(kBytes / 4, 0x424C'0000));  // 1 + 100 * 0.5
    }
    EXPECT_EQ(queue_statistics(*card_.device).timeouts, 0U);
    EXPECT_EQ(process_.process->take_faults().size(), 0U);
  }

 private:
  static constexpr std::uint32_t kQueues = 6;
  static constexpr int kKernels = 100, kChanges = 40;
  static constexpr Bytes kBytes = 16_KiB;

  unsigned dice(unsigned sides) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state_ >> 33) % sides;
  }
  void pause() { card_.pass(static_cast<int>(1 + dice(20)) * 1_us); }
  void spawn(std::function<void()> body) {
    tasks_.push_back(must(host_.tasks().spawn("task", std::move(body))));
  }
  driver::DeviceAddress sum(std::uint32_t i) const { return process_.memory + 1_MiB + i * kBytes; }
  driver::Queue& any() { return *process_.queues[dice(kQueues)]; }

  void add_queue(std::uint32_t i) {
    driver::QueueOptions options;
    options.in_order = true;
    options.ring.log2_entries = 3;
    options.log2_completions = 6;
    options.priority = dice(16);
    options.indices_in_memory = i % 2 == 1;
    if (i % 3 == 0) options.ring.memory = driver::QueueMemory::kDevice;
    auto& queue = process_.add(options);
    const auto half = process_.memory + 512_KiB;
    ASSERT_TRUE(card_.run(queue, entries::fill(half, kBytes, 0x3F00'0000)));    // 0.5f
    ASSERT_TRUE(card_.run(queue, entries::fill(sum(i), kBytes, 0x3F80'0000)));  // 1.0f
    kernels_.push_back(process_.add(queue, sum(i), half, kBytes, 1 + dice(8), i));
  }
  void work(std::uint32_t i) {
    auto& queue = *process_.queues[i];
    for (int k = 1; k <= kKernels; ++k) {
      const auto ticket = must(queue.submit(kernels_[i], card_.in(1_s)));
      if (k != kKernels && dice(4) != 0) continue;
      ASSERT_TRUE(queue.wait(ticket, driver::WaitPolicy::kAdaptive, card_.in(1_s))) << i;
    }
  }
  void change() {
    for (int i = 0; i < kChanges; ++i) {
      auto& queue = any();
      driver::QueueChange off, on;
      off.percentage = 0;
      off.priority = dice(16);
      on.percentage = 100;
      on.core_mask = driver::first_cores(1 + dice(24));
      on.ring_change = driver::QueueChange::Ring::kReplace;
      on.ring = {dice(2) == 0 ? driver::QueueMemory::kHost : driver::QueueMemory::kDevice,
                 5 + dice(2)};
      EXPECT_TRUE(process_.process->update(queue.id(), off));
      pause();
      EXPECT_TRUE(process_.process->update(queue.id(), on));
      pause();
    }
  }
  void suspend() {
    for (int i = 0; i < kChanges; ++i) {
      const std::vector<driver::QueueId> ids = {any().id()};
      const std::vector<driver::QueueResult> done = {driver::QueueResult::kDone};
      EXPECT_EQ(process_.process->suspend(ids, card_.in(100_ms)), done);
      pause();
      EXPECT_EQ(process_.process->resume(ids, card_.in(100_ms)), done);
      pause();
    }
  }
  void evict() {
    for (int i = 0; i < kChanges; ++i) {
      EXPECT_TRUE(process_.process->evict(card_.in(100_ms)));
      pause();
      EXPECT_TRUE(process_.process->restore(card_.in(100_ms)));
      pause();
    }
  }
  // With these there are more queues than slots.
  void come_and_go() {
    for (int i = 0; i < kChanges / 4; ++i) {
      const auto other = card_.process();
      std::vector<std::unique_ptr<driver::Queue>> queues;
      queues.reserve(20);
      for (int q = 0; q < 20; ++q) {
        queues.push_back(must(other->create_queue()));
        EXPECT_TRUE(queues.back()->submit(entries::nop(), card_.in(1_ms)));
      }
      while (!queues.empty()) {
        const auto end = other->destroy(*queues.back(), card_.in(100_ms));
        EXPECT_TRUE(end && *end == driver::QueueEnd::kDrained);
        queues.pop_back();
      }
    }
  }

  platform::Platform& host_;
  QueueCard card_;
  QueueProcess process_;
  std::uint64_t state_;
  std::vector<abi::QueueEntry> kernels_;
  std::vector<std::unique_ptr<platform::Task>> tasks_;
};

class QueueChaos : public testing::TestWithParam<unsigned> {};

TEST_P(QueueChaos, EveryKernelRunsOnce) {
  Machine machine;
  machine.run([](platform::Platform& host) { Chaos(host, GetParam()).run(); });
}
INSTANTIATE_TEST_SUITE_P(Seeds, QueueChaos, testing::Range(1U, 7U));

}  // namespace
}  // namespace npu::test
