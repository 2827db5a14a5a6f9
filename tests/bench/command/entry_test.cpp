// SPDX-License-Identifier: Apache-2.0
// What single entries say, without a queue.
#include <gtest/gtest.h>

#include "model/command/queue_entries.hpp"

namespace npu::test {
namespace {

using abi::QueueOpcode;

template <class Payload>
abi::QueueEntry sample_entry(QueueOpcode opcode, const Payload& payload) {
  abi::QueueEntry entry;
  entry.format = abi::kQueueEntryFormat;
  entry.opcode = static_cast<std::uint8_t>(opcode);
  entry.set(payload);
  return entry;
}

abi::LaunchPayload sample_launch(std::uint32_t blocks) {
  abi::LaunchPayload launch{};
  launch.image = abi::kImageAlignment;
  launch.arguments = abi::kQueueEntrySize;
  launch.blocks = blocks;
  return launch;
}

TEST(QueueEntry, OfAnUnknownFormatFlagOrOpcodeIsMalformed) {
  auto entry = sample_entry(QueueOpcode::kLaunchAiCore, sample_launch(1));
  EXPECT_TRUE(model::well_formed(entry));
  entry.format = abi::kQueueEntryFormat + 1;
  EXPECT_FALSE(model::well_formed(entry));
  entry = sample_entry(QueueOpcode::kLaunchAiCore, sample_launch(1));
  entry.flags = static_cast<std::uint8_t>(~abi::kEntryFlags);
  EXPECT_FALSE(model::well_formed(entry));
  entry = sample_entry(QueueOpcode::kLaunchAiCore, sample_launch(1));
  entry.opcode = 0xFF;
  EXPECT_FALSE(model::well_formed(entry));
}

TEST(QueueEntry, ALaunchHasBlocksAndAlignedAddresses) {
  EXPECT_FALSE(model::well_formed(sample_entry(QueueOpcode::kLaunchAicpu, sample_launch(0))));
  auto launch = sample_launch(1);
  launch.image += 1;
  EXPECT_FALSE(model::well_formed(sample_entry(QueueOpcode::kLaunchAicpu, launch)));
  launch = sample_launch(1);
  launch.arguments += 4;
  EXPECT_FALSE(model::well_formed(sample_entry(QueueOpcode::kLaunchAicpu, launch)));
}

TEST(QueueEntry, OnlyATimestampMayNameAHostAddress) {
  auto entry = sample_entry(QueueOpcode::kTimestamp, abi::TimestampPayload{});
  entry.flags = abi::kEntryHostAddress;
  EXPECT_TRUE(model::well_formed(entry));
  entry = sample_entry(QueueOpcode::kLaunchAiCore, sample_launch(1));
  entry.flags = abi::kEntryHostAddress;
  EXPECT_FALSE(model::well_formed(entry));
}

TEST(QueueEntry, BlocksAreTakenInOrderAndCountedAsOut) {
  model::QueueCommand command;
  command.entry = sample_entry(QueueOpcode::kLaunchAiCore, sample_launch(3));
  command.blocks = 3;
  command.handle = 17;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto block = model::next_block(command, 5, 1);
    EXPECT_EQ(block.block, i);
    EXPECT_EQ(block.blocks, 3U);
    EXPECT_EQ(block.context, 17U);
    EXPECT_EQ(block.vmid, 5U);
    EXPECT_EQ(command.blocks_out, i + 1);
  }
}

}  // namespace
}  // namespace npu::test
