// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/channel.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace npu::exec {
namespace {

struct Ends {
  std::unique_ptr<Channel> server;
  compat::Slot* program = nullptr;
};

Ends make_ends() {
  auto memory = SharedMemory::make(compat::kChannelBytes);
  void* const mapped =
      ::mmap(nullptr, compat::kChannelBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file(), 0);
  return {std::make_unique<Channel>(FileDescriptor(), std::move(*memory)),
          static_cast<compat::Slot*>(mapped)};
}

TEST(Channel, TakesACallAndAnswersIt) {
  auto ends = make_ends();
  EXPECT_FALSE(ends.server->has_posted());
  ends.program->call = static_cast<std::uint32_t>(compat::Call::kMalloc);
  ends.program->words = compat::words_of(compat::wire::Allocation{64});
  ends.program->posted = 1;
  ASSERT_TRUE(ends.server->has_posted());
  auto call = ends.server->take();
  EXPECT_EQ(call.call, compat::Call::kMalloc);
  EXPECT_EQ(compat::message_of<compat::wire::Allocation>(call.words).bytes, 64U);
  EXPECT_FALSE(ends.server->has_posted());
  call.words = compat::words_of(compat::wire::Address{4096});
  ends.server->answer(5, call);
  EXPECT_EQ(ends.program->answered.load(), 1U);
  EXPECT_EQ(ends.program->status, 5);
  EXPECT_EQ(compat::message_of<compat::wire::Address>(ends.program->words).address, 4096U);
}

TEST(Channel, CutsWhatIsTooLarge) {
  auto ends = make_ends();
  ends.program->call = UINT32_MAX;
  ends.program->bytes = UINT32_MAX;
  ends.program->posted = 77;
  const auto call = ends.server->take();
  EXPECT_EQ(call.call, compat::Call::kCount);
  EXPECT_EQ(call.bytes, compat::kWindow);
  EXPECT_EQ(call.window.size, compat::kWindow);
}

TEST(Channel, TakesNoCallOfMoreBytesThanTheWindowHas) {
  auto ends = make_ends();
  ends.program->call = static_cast<std::uint32_t>(compat::Call::kCopyIn);
  ends.program->bytes = compat::kWindow;
  ends.program->posted = 1;
  EXPECT_EQ(ends.server->take().call, compat::Call::kCopyIn);
  ends.program->bytes = compat::kWindow + 1;
  ends.program->posted = 2;
  EXPECT_EQ(ends.server->take().call, compat::Call::kCount);
}

TEST(Channel, KnowsTheLastCall) {
  auto ends = make_ends();
  ends.program->call = static_cast<std::uint32_t>(compat::Call::kEnd);
  EXPECT_FALSE(ends.server->posts_the_end());
  ends.program->posted = 1;
  EXPECT_TRUE(ends.server->posts_the_end());
}

// A thread may have started others since its last call but one.
TEST(Channel, TellsWhatThePostedCallSaysOfItsProgram) {
  auto ends = make_ends();
  ends.program->single_threaded = 1;
  ends.program->posted = 1;
  EXPECT_TRUE(ends.server->single_threaded());
  EXPECT_FALSE(ends.server->had_children());
  auto call = ends.server->take();
  ends.server->answer(0, call);
  EXPECT_TRUE(ends.server->single_threaded());
  ends.program->single_threaded = 0;
  ends.program->has_children = 1;
  ends.program->posted = 2;
  EXPECT_FALSE(ends.server->single_threaded());
  EXPECT_TRUE(ends.server->had_children());
}

TEST(SharedMemory, CannotBeMadeShorter) {
  const auto memory = SharedMemory::make(10'000);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->bytes().size, 12'288U);
  EXPECT_NE(::ftruncate(memory->file(), 0), 0);
  EXPECT_NE(::ftruncate(memory->file(), 1 << 20), 0);
}

}  // namespace
}  // namespace npu::exec
