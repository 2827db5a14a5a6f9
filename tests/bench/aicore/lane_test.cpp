// SPDX-License-Identifier: Apache-2.0
// Blocks of mixed launches: the cores of a cluster, their flags, a fault of one of them, and what a
// vector core brings to L1 of its cube core.
#include <map>
#include <utility>

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using platform::CopyOutTarget;
using platform::CrossScope;

constexpr std::uint64_t kFromL1 = kData + 0x1'0000;
constexpr unsigned kLanes = 3;
constexpr unsigned kCores[kLanes] = {1, 4, 5};  // of the second cluster

class AicoreLanes : public testing::Test {
 protected:
  void launch(Body body, unsigned block = 0, unsigned blocks = 1) {
    const auto kept = bench_.keep(std::move(body));
    bench_.at(model::sim_now(), [=] {
      for (unsigned role = 0; role < kLanes; ++role) {
        bench_.launch_lane(kCores[role], kImage, kept, role, kLanes, 1, block, blocks);
      }
    });
    bench_.run();
    for (const unsigned core : kCores) ASSERT_TRUE(bench_.has_ended(core)) << core << " hangs";
  }
  static void await(AicorePort& port, unsigned flag) {
    port.wait_cross_flag(Pipe::kScalar, CrossScope::kCluster, flag);
  }
  static void raise(AicorePort& port, unsigned flag) {
    port.set_cross_flag(Pipe::kScalar, CrossScope::kCluster, flag);
  }
  AicoreBench bench_{aicore_config(model::ProgramCoreKind::kSplit)};
};

TEST_F(AicoreLanes, KnowTheirRolesInOneBlock) {
  std::map<unsigned, platform::KernelCall> calls;
  launch([&](AicorePort& port) { return calls[port.physical_core()] = port.call(), 0; }, 3, 8);
  for (unsigned role = 0; role < kLanes; ++role) {
    EXPECT_EQ(calls[kCores[role]].role, role);
    EXPECT_EQ(calls[kCores[role]].block, 3U);
    EXPECT_EQ(calls[kCores[role]].blocks, 8U);
  }
}

TEST_F(AicoreLanes, EndWithTheOneThatHasFailed) {
  for (unsigned bad = 0; bad < kLanes; ++bad) {
    launch([&](AicorePort& port) {
      if (port.call().role == bad) port.trap(7);
      await(port, 0);
      return 0;
    });
    for (unsigned role = 0; role < kLanes; ++role) {
      const auto expected = role == bad ? FaultCode::kKernelTrap : FaultCode::kNone;
      EXPECT_EQ(bench_.ended(kCores[role]).fault, expected) << bad << ", " << role;
    }
  }
}

TEST_F(AicoreLanes, OfALaterBlockDoNotSeeFlagsOfTheOneBefore) {
  std::uint64_t raised = 0, seen = 0;
  launch([](AicorePort& port) { return port.call().role == 0 ? raise(port, 2), 0 : 0; }, 0, 2);
  launch(
      [&](AicorePort& port) {
        if (port.call().role == 0) {
          port.scalar(20'000);
          raised = port.system_counter();
          raise(port, 2);
          return 0;
        }
        await(port, 2);
        seen = port.system_counter();
        return 0;
      },
      1, 2);
  EXPECT_GT(raised, 0U);
  EXPECT_GT(seen, raised);
}

CopyOut to_l1(std::uint64_t to) {
  CopyOut copy{to, {LocalBuffer::kUb, 0}, 2, 64, 128, 64};
  copy.target = CopyOutTarget::kL1;
  return copy;
}

// Two rows of 16 numbers, 128 B apart in L1.
TEST_F(AicoreLanes, BringRowsFromUbToL1OfTheCubeCore) {
  launch([](AicorePort& port) {
    if (port.call().role == 0) {
      port.wait_cross_flag(Pipe::kMte3, CrossScope::kCluster, 1);
      port.issue(CopyOut{kFromL1, {LocalBuffer::kL1, 256}, 2, 64, 64, 128});
      return 0;
    }
    if (port.call().role == 1) {
      Vector fill;
      fill.op = platform::VectorOp::kDuplicate;
      fill.count = 32;
      fill.scalar = 7;
      port.issue(fill);
      port.set_flag(Pipe::kVector, Pipe::kMte3, 0);
      port.wait_flag(Pipe::kVector, Pipe::kMte3, 0);
      port.issue(to_l1(256));
    }
    port.set_cross_flag(Pipe::kMte3, CrossScope::kCluster, 1);
    return 0;
  });
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(bench_.memory.load<float>(kFromL1 + 4 * i), 7) << i;
}

TEST_F(AicoreLanes, DoNotReachBeyondL1) {
  launch([](AicorePort& port) {
    if (port.call().role == 1) port.issue(to_l1(512_KiB - 64));
    return 0;
  });
  EXPECT_EQ(bench_.ended(kCores[1]).fault, FaultCode::kLocalBuffer);
}

TEST(AicoreLanesOfOldChips, HaveNoWayToL1) {
  auto config = aicore_config(model::ProgramCoreKind::kSplit);
  config.core.ub_to_l1.per_clock = 0;
  AicoreBench bench(config);
  bench.at(0, [&] { bench.launch(4, [](AicorePort& port) { return port.issue(to_l1(0)), 0; }); });
  bench.run();
  EXPECT_EQ(bench.ended(4).fault, FaultCode::kInstruction);
}

TEST(AicoreLanesOfLaunches, DoNotWriteToACubeCoreOfAnotherLaunch) {
  AicoreBench bench(aicore_config(model::ProgramCoreKind::kSplit));
  bench.at(0, [&] {
    bench.launch(
        1, [](AicorePort& port) { return port.scalar(100'000), 0; }, 8);
    bench.launch(
        4, [](AicorePort& port) { return port.issue(to_l1(0)), 0; }, 7);
  });
  bench.run();
  EXPECT_EQ(bench.ended(4).fault, FaultCode::kInstruction);
  EXPECT_EQ(bench.ended(1).fault, FaultCode::kNone);
}

}  // namespace
}  // namespace npu::test
