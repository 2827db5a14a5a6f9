// SPDX-License-Identifier: Apache-2.0
// More queues than slots, priorities, processes at the same time (issue 4, "What it must show").
#include <algorithm>

#include "tests/system/queues/queue_card.hpp"

namespace npu::test {
namespace {

// kfdtest: OverSubscribeCpQueues.
TEST(QueueScheduling, SixtyFiveQueuesOnSixteenSlotsConsumeAHundredPacketsEach) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    for (int i = 0; i < 65; ++i) process.add();
    const auto word = [&](std::size_t q) { return process.memory + 1_MiB + q * 4; };
    std::vector<driver::QueueTicket> last(65);
    for (std::uint32_t packet = 1; packet <= 100; ++packet) {
      for (std::size_t q = 0; q < 65; ++q) {
        last[q] = card.submit(*process.queues[q], entries::fill(word(q), 4, packet));
      }
    }
    for (std::size_t q = 0; q < 65; ++q) {
      EXPECT_TRUE(card.wait(*process.queues[q], last[q], 5_s)) << q;
      EXPECT_EQ(must(process.process->query(process.queues[q]->id())).completed, 100U);
    }
    const auto words = process.read(*process.queues[0], word(0), 65 * 4);
    EXPECT_EQ(words, std::vector<std::uint32_t>(65, 100));
  });
}

// Kernels of 100 us on a core each, a quantum of 200 us: with 65 queues on 16 slots a queue is
// served every 5th turn, and a turn ends with the kernel that runs when the quantum does.
TEST(QueueScheduling, NoQueueStarvesBeyondItsTurns) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions options;
    options.quantum = 200_us;
    for (int i = 0; i < 65; ++i) process.add(options);
    const auto kernel = process.spin(*process.queues[0], 185'000);
    const auto begin = card.in({});
    std::vector<driver::QueueTicket> last(65);
    for (std::size_t q = 0; q < 65; ++q) {
      card.submit(*process.queues[q], kernel);
      card.submit(*process.queues[q], entries::timestamp(process.host->bus() + q * 16));
      for (int i = 0; i < 9; ++i) card.submit(*process.queues[q], kernel);
      last[q] =
          card.submit(*process.queues[q], entries::timestamp(process.host->bus() + q * 16 + 8));
    }
    for (std::size_t q = 0; q < 65; ++q) EXPECT_TRUE(card.wait(*process.queues[q], last[q]));
    std::uint64_t first = UINT64_MAX, latest_first = 0;
    for (std::size_t q = 0; q < 65; ++q) {
      first = std::min(first, process.host->load<std::uint64_t>(q * 16));
      latest_first = std::max(latest_first, process.host->load<std::uint64_t>(q * 16));
    }
    EXPECT_LT(latest_first - first, 5U * 320'000U) << "ns";
    EXPECT_LT((card.in({}) - begin), 65 * 10 * 105_us / 13) << "at least 13 of 16 slots work";
    std::uint64_t preemptions = 0;
    for (const auto& status : must(process.process->snapshot())) preemptions += status.preemptions;
    EXPECT_GT(preemptions, 65U);
  });
}

// kfdtest: KFDHWSTest.MultiProcessOversubscribed.
TEST(QueueScheduling, ThreeProcessesTimesThirteenQueuesTimesFortyLoops) {
  Machine().run([](platform::Platform& host) {
    QueueCard card(host);
    std::vector<std::unique_ptr<platform::Task>> tasks;
    tasks.reserve(3);
    for (std::uint32_t p = 0; p < 3; ++p) {
      tasks.push_back(must(host.tasks().spawn("process", [&, p] {
        QueueProcess process(card);
        for (int i = 0; i < 13; ++i) process.add();
        for (std::uint32_t loop = 0; loop < 40; ++loop) {
          std::vector<driver::QueueTicket> tickets;
          for (Bytes q = 0; q < 13; ++q) {
            const auto at = process.memory + 1_MiB + q * 4;
            tickets.push_back(
                card.submit(*process.queues[q], entries::fill(at, 4, p << 16 | loop)));
          }
          for (std::size_t q = 0; q < 13; ++q) {
            ASSERT_TRUE(card.wait(*process.queues[q], tickets[q], 1_s)) << q << " loop " << loop;
          }
        }
        EXPECT_EQ(process.read(*process.queues[0], process.memory + 1_MiB, 52),
                  std::vector<std::uint32_t>(13, p << 16 | 39));
      })));
    }
    for (auto& task : tasks) task->join();
    EXPECT_EQ(queue_statistics(*card.device).timeouts, 0U);
  });
}

// kfdtest: AllQueues. All 4096 of the card: eight processes with 511 queues and one with the rest.
TEST(QueueScheduling, AllQueuesOfTheCardAtOnceWriteTheirWords) {
  Machine().on<QueueCard>([](QueueCard& card) {
    std::vector<std::unique_ptr<QueueProcess>> processes;
    driver::QueueOptions options;
    options.ring.log2_entries = 2;
    for (const int count : {511, 511, 511, 511, 511, 511, 511, 511, 8}) {
      processes.push_back(std::make_unique<QueueProcess>(card));
      for (int i = 0; i < count; ++i) processes.back()->add(options);
    }
    std::vector<std::vector<driver::QueueTicket>> tickets;
    for (auto& process : processes) {
      tickets.emplace_back();
      for (std::uint32_t q = 0; q < process->queues.size(); ++q) {
        const auto at = process->memory + 1_MiB + Bytes{q} * 4;
        tickets.back().push_back(card.submit(*process->queues[q], entries::fill(at, 4, q + 7)));
      }
    }
    EXPECT_EQ(queue_statistics(*card.device).queue_ids, abi::kMaxQueues);
    for (std::size_t p = 0; p < processes.size(); ++p) {
      auto& process = *processes[p];
      for (std::size_t q = 0; q < process.queues.size(); ++q) {
        EXPECT_TRUE(card.wait(*process.queues[q], tickets[p][q]));
      }
      const auto bytes = process.queues.size() * 4;
      const auto words = process.read(*process.queues[0], process.memory + 1_MiB, bytes);
      for (std::uint32_t q = 0; q < words.size(); ++q) EXPECT_EQ(words[q], q + 7);
    }
  });
}

// Equal work on the same cores: kfdtest's QueuePriority tests, 1 and 13 queues of each.
void high_is_never_later(std::size_t pairs) {
  on_queue_card([&](QueueCard& card, QueueProcess& process) {
    driver::QueueOptions low, high;
    low.core_mask = high.core_mask = driver::first_cores(1);
    low.priority = 3;
    high.priority = 11;
    for (std::size_t i = 0; i < pairs; ++i) process.add(low);
    for (std::size_t i = 0; i < pairs; ++i) process.add(high);
    const auto kernel = process.spin(*process.queues[0], 20'000);
    driver::QueueTicket last;
    std::vector<driver::QueueTicket> ends;
    for (std::size_t q = 0; q < 2 * pairs; ++q) {
      for (int i = 0; i < 10; ++i) card.submit(*process.queues[q], kernel);
      ends.push_back(
          card.submit(*process.queues[q], entries::timestamp(process.host->bus() + q * 8)));
    }
    for (std::size_t q = 0; q < 2 * pairs; ++q) {
      EXPECT_TRUE(card.wait(*process.queues[q], ends[q]));
    }
    std::uint64_t earliest_low = UINT64_MAX, latest_high = 0;
    for (std::size_t q = 0; q < pairs; ++q) {
      earliest_low = std::min(earliest_low, process.host->load<std::uint64_t>(q * 8));
      latest_high = std::max(latest_high, process.host->load<std::uint64_t>((pairs + q) * 8));
    }
    EXPECT_LE(latest_high, earliest_low);
  });
}
TEST(QueueScheduling, HighPriorityIsNeverLaterThanLow) {
  high_is_never_later(1);
}
TEST(QueueScheduling, ThirteenQueuesOfHighPriorityAreNeverLaterThanThirteenOfLow) {
  high_is_never_later(13);
}

// 48 blocks of one queue on n cores take 48 / n times a block.
TEST(QueueScheduling, ACoreMaskScalesTheWork) {
  on_queue_card([](QueueCard& card, QueueProcess& process) {
    auto& queue = process.add();
    auto kernel = process.spin(queue, 100'000);
    auto payload = kernel.get<abi::LaunchPayload>();
    payload.blocks = 48;
    kernel.set(payload);
    const auto time = [&](unsigned cores) {
      driver::QueueChange change;
      change.core_mask = driver::first_cores(cores);
      EXPECT_TRUE(process.process->update(queue.id(), change));
      const auto begin = card.in({});
      EXPECT_TRUE(card.run(queue, kernel));
      return static_cast<double>((card.in({}) - begin).count());
    };
    const auto one = time(1);
    for (const unsigned cores : {2U, 3U, 4U, 8U, 16U, 24U}) {
      EXPECT_NEAR(one / (time(cores) * cores), 1.0, 0.1) << cores;
    }
  });
}

}  // namespace
}  // namespace npu::test
