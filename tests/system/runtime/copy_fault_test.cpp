// SPDX-License-Identifier: Apache-2.0
// A copy that fails is that copy's error, and nobody else's.

#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

constexpr DeviceAddress kUnmapped{0x3FFF'0000'0000};

void expect_copies_work(RuntimeCard& card) {
  const std::vector<std::byte> in(1 << 20, std::byte{0x5A});
  std::vector<std::byte> out(in.size());
  const auto at = must(card.context->allocate(in.size()));
  EXPECT_THAT(card.context->copy_to_device(at, {in.data(), in.size()}), IsOk());
  EXPECT_THAT(card.context->copy_from_device({out.data(), out.size()}, at), IsOk());
  EXPECT_TRUE(in == out);
  EXPECT_THAT(card.context->free(at), IsOk());
}

TEST(RuntimeCopies, ABadAddressIsTheErrorOfItsCopyAlone) {
  Machine().on<RuntimeCard>([](RuntimeCard& card) {
    std::vector<std::byte> bytes(4096);
    for (int round = 0; round < 3; ++round) {
      EXPECT_THAT(card.context->copy_to_device(kUnmapped, {bytes.data(), bytes.size()}),
                  FailsWith(ErrorCode::kDeviceFault));
      expect_copies_work(card);
      EXPECT_THAT(card.context->copy_from_device({bytes.data(), bytes.size()}, kUnmapped),
                  FailsWith(ErrorCode::kDeviceFault));
      card.expect_next_run_succeeds();
    }
    EXPECT_THAT(card.context->finalize(), IsOk());
  });
}

TEST(RuntimeCopies, TimeoutAndWatchdogMayBeAsLongAsTimeIs) {
  Machine().on<RuntimeCard>([](RuntimeCard& card) {
    card.options.timeout = card.options.watchdog = Picoseconds::max();
    card.expect_next_run_succeeds();
    card.options.timeout = Picoseconds(-1);
    EXPECT_THAT(card.run({}), FailsWith(ErrorCode::kTimeout));
  });
}

TEST(RuntimeCopies, OptionsThatThereAreNotAreRefused) {
  Machine().on<RuntimeCard>([](RuntimeCard& card) {
    TaskGraph graph;
    card.add(graph, KernelMode::kStore);
    card.options.wait = static_cast<driver::WaitPolicy>(7);
    EXPECT_THAT(card.run(graph), FailsWith(ErrorCode::kInvalidArgument, "wait is 7"));
    card.options.wait = driver::WaitPolicy::kPolling;
    card.options.handshake = static_cast<abi::HandshakeKind>(9);
    EXPECT_THAT(card.run(graph), FailsWith(ErrorCode::kInvalidArgument, "handshake is 9"));
    EXPECT_THAT(graph.add(kTestKernel, static_cast<TaskShape>(9), {}),
                FailsWith(ErrorCode::kInvalidArgument, "task 1: shape is 9"));
    EXPECT_THAT(
        graph.add(kTestKernel, TaskShape::kAiv, {{0, static_cast<driver::ArgumentKind>(9), 0}}),
        FailsWith(ErrorCode::kInvalidArgument, "task 1: kind is 9"));
  });
}

}  // namespace
}  // namespace npu::test
