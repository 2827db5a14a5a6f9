// SPDX-License-Identifier: Apache-2.0
// Parts of a core that have no time: the calls of a block, requests in
// flight, the system counter. No simulation.
#include <gtest/gtest.h>

#include <vector>

#include "model/aicore/call_stack.hpp"
#include "model/aicore/request_port.hpp"
#include "model/aicore/system_counter.hpp"

namespace npu::test {
namespace {

using model::CallStack;
using model::KernelBlock;
using model::RequestPort;

KernelBlock block_of(std::uint64_t context, std::uint32_t number) {
  KernelBlock block;
  block.image = 0x1000;
  block.arguments = 0x2000;
  block.block = number;
  block.blocks = 4;
  block.context = context;
  return block;
}

platform::KernelCall mixed(std::uint32_t block, std::uint32_t role) {
  return {0x8000, 0x9000, block, 2, role};
}

TEST(CallStack, ReturnsToTheCallerAndItsInstructions) {
  CallStack calls;
  calls.launch(block_of(1, 3));
  calls.count_instruction();
  const auto caller = calls.enter(mixed(0, 0));
  EXPECT_EQ(calls.call().image, 0x8000U);
  EXPECT_EQ(calls.issued(), 0U);
  calls.count_instruction();
  calls.count_instruction();
  calls.leave(caller);
  EXPECT_EQ(calls.call().image, 0x1000U);
  EXPECT_EQ(calls.call().block, 3U);
  EXPECT_EQ(calls.issued(), 1U);
}

TEST(CallStack, IsFullBelowTheMostCalls) {
  CallStack calls;
  calls.launch(block_of(1, 0));
  for (unsigned i = 0; i < CallStack::kMostCalls; ++i) {
    EXPECT_FALSE(calls.full());
    calls.enter(mixed(0, 0));
  }
  EXPECT_TRUE(calls.full());
  calls.launch(block_of(2, 0));
  EXPECT_FALSE(calls.full());
}

TEST(CallStack, WhatWasScheduledForABlockIsVoidWithTheNextOne) {
  CallStack calls;
  calls.launch(block_of(1, 0));
  const auto first = calls.generation();
  calls.abandon();
  EXPECT_NE(calls.generation(), first);
  const auto abandoned = calls.generation();
  calls.launch(block_of(1, 0));
  EXPECT_NE(calls.generation(), abandoned);
}

TEST(CallStack, BlocksOfOneLaunchShareItWhateverTheirNumbers) {
  CallStack cube, vector;
  cube.launch(block_of(7, 0));
  vector.launch(block_of(7, 3));
  EXPECT_TRUE(cube.shares_block_with(vector, 1));
  vector.launch(block_of(8, 0));
  EXPECT_FALSE(cube.shares_block_with(vector, 1));
}

TEST(CallStack, UnderAnExecutorOnlyTheSameMixedBlockIsShared) {
  CallStack cube, vector;
  cube.launch(block_of(7, 0));
  vector.launch(block_of(7, 1));
  cube.enter(mixed(1, 0));
  EXPECT_FALSE(cube.shares_block_with(vector, 2)) << "it is in no call";
  const auto executor = vector.enter(mixed(1, 2));
  EXPECT_TRUE(cube.shares_block_with(vector, 2));
  EXPECT_FALSE(cube.shares_block_with(vector, 1)) << "it has another role";
  vector.leave(executor);
  vector.enter(mixed(0, 2));
  EXPECT_FALSE(cube.shares_block_with(vector, 2)) << "it has another block";
}

TEST(SystemCounter, ShowsACountFromItsTimeOn) {
  const model::SystemCounter counter(3'000'000);  // a count lasts a third of a microsecond
  for (const std::uint64_t count : {1U, 2U, 3U, 1000U, 1'000'001U}) {
    const auto when = counter.time_of(count);
    EXPECT_EQ(counter.at(when), count);
    EXPECT_EQ(counter.at(when - 1), count - 1);
  }
  EXPECT_EQ(counter.time_of(UINT64_MAX), UINT64_MAX);
}

struct Sent : RequestPort::Carrier {
  void send(unsigned core, const model::MemoryRequest& request, const KernelBlock&) override {
    cores.push_back(core);
    requests.push_back(request);
  }
  std::vector<unsigned> cores;
  std::vector<model::MemoryRequest> requests;
};

TEST(RequestPort, ASlotComesBackAsThePipeAndPlaceItWasSentWith) {
  Sent sent;
  CallStack calls;
  model::ProgramCoreStatistics statistics;
  RequestPort port(sent, 5, calls, statistics);
  port.send(platform::Pipe::kMte3, {true, 0x40, 1, 64, 0, 0x123});
  ASSERT_EQ(sent.requests.size(), 1U);
  EXPECT_EQ(sent.cores[0], 5U);
  const auto slot = RequestPort::unpack(sent.requests[0].slot);
  EXPECT_EQ(slot.pipe, platform::Pipe::kMte3);
  EXPECT_EQ(slot.place, 0x123U);
  EXPECT_EQ(statistics.requests, 1U);
}

TEST(RequestPort, IsIdleWhenEverythingAnnouncedIsAnswered) {
  Sent sent;
  CallStack calls;
  model::ProgramCoreStatistics statistics;
  RequestPort port(sent, 0, calls, statistics);
  port.announce();
  EXPECT_FALSE(port.idle());
  EXPECT_TRUE(sent.requests.empty());
  port.send_announced({true, 0x40, 1, 64, 0, 2});
  EXPECT_FALSE(port.idle());
  port.answered();
  EXPECT_TRUE(port.idle());
}

}  // namespace
}  // namespace npu::test
