// SPDX-License-Identifier: Apache-2.0
// The scheduler program on the modelled AICPUs, with cores of a fixed speed.
#include "tests/bench/aicpu/scripted_cores.hpp"

namespace npu::test {
namespace {

using abi::HandshakeKind;
using abi::RunStatus;
using abi::TaskShape;

void expect_in_order(const std::vector<GraphTask>& tasks) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_NE(tasks[i].ended, 0U) << i;
    for (const auto p : tasks[i].producers) ASSERT_LE(tasks[p].ended, tasks[i].begun) << i;
  }
}

// QK on a cube core, softmax on a vector core, PV on a cube core, update on a vector core; the
// updates of one sequence follow each other.
std::vector<GraphTask> paged_attention(std::uint32_t batch, std::uint32_t blocks) {
  std::vector<GraphTask> tasks;
  for (std::uint32_t b = 0; b < batch; ++b) {
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const auto qk = static_cast<std::uint32_t>(tasks.size());
      tasks.push_back({TaskShape::kAic, {}});
      tasks.push_back({TaskShape::kAiv, {qk}});
      tasks.push_back({TaskShape::kAic, {qk + 1}});
      tasks.push_back({TaskShape::kAiv, {qk + 2}});
      if (i > 0) tasks.back().producers.push_back(qk - 1);
    }
  }
  return tasks;
}

class Scheduler : public testing::TestWithParam<std::pair<unsigned, HandshakeKind>> {};

TEST_P(Scheduler, RunsAGraphInOrder) {
  const auto [threads, kind] = GetParam();
  AicpuBench bench(aicpu_config(), 12);
  ScriptedCores cores(bench, kind);
  auto tasks = paged_attention(8, 8);
  const auto result = cores.run(tasks, threads, 2000 * kNs);
  EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kOk);
  EXPECT_EQ(result.completed, 256U);
  EXPECT_EQ(result.dispatched_blocks, 256U);
  EXPECT_TRUE(result.started < result.handshaken && result.handshaken < result.wired &&
              result.wired <= result.finished && result.finished < result.ended);
  expect_in_order(tasks);
}

// Cores at work for long, so that most rounds of the scheduler are passed over.
TEST_P(Scheduler, DoesTheSameWithAndWithoutSkippedRounds) {
  const auto [threads, kind] = GetParam();
  AicpuBench naive(aicpu_config(), 6, 4, "naive"), skipping(aicpu_config(), 6, 4, "skipping");
  naive.programs.poll_naively(true);
  ScriptedCores slow(naive, kind), quick(skipping, kind);
  auto first = paged_attention(3, 4), second = first;
  const auto a = slow.run(first, threads, 30'001'237), b = quick.run(second, threads, 30'001'237);
  EXPECT_EQ(a.polls, b.polls);
  EXPECT_EQ(a.finished - a.started, b.finished - b.started);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].begun - first[0].begun, second[i].begun - second[0].begun) << i;
  }
  EXPECT_EQ(naive.programs.statistics().rounds, skipping.programs.statistics().rounds);
  EXPECT_GT(skipping.programs.statistics().rounds_skipped, 500U);
}

INSTANTIATE_TEST_SUITE_P(threads_and_handshakes, Scheduler,
                         testing::Values(std::pair{1U, HandshakeKind::kRegister},
                                         std::pair{3U, HandshakeKind::kRegister},
                                         std::pair{4U, HandshakeKind::kRegister},
                                         std::pair{1U, HandshakeKind::kMemory},
                                         std::pair{4U, HandshakeKind::kMemory}));

TEST(BigGraph, PagedAttentionOf65536Tasks) {
  AicpuBench bench(aicpu_config(), 72, 4, "bench", 64_MiB);
  bench.memory.keep_record = false;
  ScriptedCores cores(bench, HandshakeKind::kRegister);
  auto tasks = paged_attention(256, 64);
  const auto result = cores.run(tasks, 4, 5000 * kNs);
  EXPECT_EQ(static_cast<RunStatus>(result.status), RunStatus::kOk);
  EXPECT_EQ(result.completed, 65'536U);
  expect_in_order(tasks);
}

}  // namespace
}  // namespace npu::test
