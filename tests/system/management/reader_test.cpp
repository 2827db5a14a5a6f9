// SPDX-License-Identifier: Apache-2.0
// Ten who watch a card while a workload runs on it.
#include <array>
#include <atomic>
#include <memory>

#include "tests/system/management/managed_card.hpp"
#include "tests/system/support/child_process.hpp"
#include "tools/cli/management/probed_card.hpp"
#include "tools/reports/report_json.hpp"

namespace npu::test {
namespace {

constexpr unsigned kReaders = 10;
constexpr unsigned kAnswers = 10;  // of read_all()

// Everything that a reader may ask.
unsigned read_all(driver::Management& card) {
  unsigned answers = 0;
  const auto count = [&](const auto& result) { answers += result.has_value() ? 1U : 0U; };
  count(card.identity());
  count(card.clocks());
  count(card.core_use(driver::CoreKind::kAll));
  count(card.core_uses(driver::CoreKind::kCube));
  count(card.aicpu_uses());
  count(card.hbm_bandwidth_use());
  count(card.memory_use());
  count(card.link_use());
  count(card.memory_errors());
  count(card.events_since(0));
  return answers;
}

std::string report_of(Machine& machine) {
  return reports::to_json(machine.workload("matmul", {"m=256", "n=256", "k=256"}));
}

TEST(DsmiReaders, TenFromOutsideDoNotChangeAReport) {
  const std::string alone = text_of_process([] {
    Machine machine;
    return report_of(machine);
  });
  Machine machine;
  std::vector<std::unique_ptr<cli::ProbedCard>> cards;
  std::vector<std::unique_ptr<driver::Management>> readers;
  for (unsigned i = 0; i < kReaders; ++i) {
    cards.push_back(std::make_unique<cli::ProbedCard>(machine.system, 0));
    readers.push_back(std::make_unique<driver::Management>(*cards.back()));
  }
  const std::atomic<bool> always{true};
  std::uint64_t looks = 0;
  unsigned answers = 0;
  machine.system.attend(always, [&] {
    if (++looks % 256 != 0) return false;
    for (auto& reader : readers) answers += read_all(*reader);
    return false;
  });
  EXPECT_EQ(report_of(machine), alone);
  EXPECT_GE(answers, 10 * kAnswers * kReaders);
}

TEST(DsmiReaders, TenInTheMachineReadWhatTheyAskForWhileKernelsRun) {
  Machine().run([](platform::Platform& host) {
    SupervisedCard managed(host);
    auto& queue = managed.process.add();
    const auto kernel =
        managed.process.launch(queue, "spin", 64, std::array{std::uint64_t{1'850'000}});
    std::vector<std::unique_ptr<platform::Task>> readers;
    std::array<unsigned, kReaders> answers{};
    const auto access = driver::manage(*managed.card.device);
    readers.reserve(kReaders);
    for (auto& own : answers) {
      readers.push_back(must(host.tasks().spawn("reader", [&] {
        driver::Management card(*access);
        own = read_all(card);
      })));
    }
    EXPECT_TRUE(managed.card.run(queue, kernel));
    for (auto& reader : readers) reader->join();
    for (const auto own : answers) EXPECT_EQ(own, kAnswers);
  });
}

}  // namespace
}  // namespace npu::test
