// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "firmware/aicpu/cooperative_blocks.hpp"

#include "tests/unit/firmware/part_fixture.hpp"

namespace npu::test {
namespace {

namespace scratch = firmware::scratch;
using firmware::ReadyClass;

// Thread 0 of two, with one cluster of two; the task wants both cube cores.
class TogetherOfTwo : public Part {
 protected:
  TogetherOfTwo() {
    graph.add(Node{TaskShape::kAic, {}, 2, abi::kTaskCooperative});
    graph.header.threads = 2;
    place();
    std::vector<std::uint32_t> words;
    for (std::uint32_t i = 0; i < graph.machine.cores.size(); ++i) {
      words.push_back(i | static_cast<std::uint32_t>(graph.machine.cores[i].type) << 24);
    }
    port.write(run->control(scratch::kWorkers), words.data(), words.size() * 4);
    link = firmware::make_core_link(*run);
    cores.deal(*run, 0, *link);
    const firmware::TaskKind kind(TaskShape::kAic, true, false, 2);
    run->store32(run->task(0, offsetof(firmware::TaskState, kind)), kind.word());
    queues = std::make_unique<firmware::ReadyQueues>(*run);
    queues->push(0, kind, 1);
    placement = std::make_unique<firmware::Placement>(*run, cores, *link);
    together = std::make_unique<firmware::CooperativeBlocks>(*run, cores, *queues, *placement);
  }

  std::unique_ptr<firmware::CoreLink> link;
  firmware::Cores cores;
  std::unique_ptr<firmware::ReadyQueues> queues;
  std::unique_ptr<firmware::Placement> placement;
  std::unique_ptr<firmware::CooperativeBlocks> together;
};

TEST_F(TogetherOfTwo, IdleCoresOfTheShapeAreKeptUntilAllBlocksAreClaimed) {
  EXPECT_TRUE(together->dispatch());  // opens
  EXPECT_TRUE(together->dispatch());  // claims what it has a core for
  EXPECT_TRUE(together->is_open());
  EXPECT_TRUE(together->holds_back(TaskShape::kAic));
  EXPECT_FALSE(together->holds_back(TaskShape::kAiv));
  set_control(scratch::kCooperative, std::uint64_t{1} << 32 | 2);  // thread 1 has the other
  EXPECT_FALSE(together->dispatch());
  EXPECT_FALSE(together->holds_back(TaskShape::kAic));
}

TEST_F(TogetherOfTwo, NoBlockBeginsBeforeAllArePlaced) {
  together->dispatch();
  together->dispatch();
  EXPECT_EQ(control<std::uint32_t>(scratch::kCooperativePlaced), 1U);
  set_control(scratch::kCooperative, std::uint64_t{1} << 32 | 2);
  EXPECT_FALSE(together->dispatch());
  EXPECT_EQ(placement->rung(), 0U);
  set_control(scratch::kCooperativePlaced, std::uint32_t{2});
  EXPECT_TRUE(together->dispatch());
  EXPECT_EQ(placement->rung(), 1U);
}

TEST_F(TogetherOfTwo, TheLastThreadThatHasRungClosesTheTask) {
  together->dispatch();
  together->dispatch();
  set_control(scratch::kCooperative, std::uint64_t{1} << 32 | 2);
  set_control(scratch::kCooperativePlaced, std::uint32_t{2});
  set_control(scratch::kCooperativeRung, std::uint32_t{1});
  EXPECT_TRUE(together->dispatch());
  EXPECT_EQ(control<std::uint64_t>(scratch::kCooperative), 0U);
  EXPECT_EQ(control<std::uint32_t>(scratch::kCooperativeLock), 0U);
}

}  // namespace
}  // namespace npu::test
