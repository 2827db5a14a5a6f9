// SPDX-License-Identifier: Apache-2.0
// Flags, barriers and queues: what runs beside what.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

using platform::CrossScope;

constexpr std::uint64_t kToScalar = 90;  // clocks

// Of `clocks` clocks into an empty pipe: 6 to fill it.
Mmad product_of(std::uint64_t clocks) {
  Mmad product;
  product.m = product.n = 16;
  product.k = static_cast<std::uint32_t>(16 * (clocks - 6));
  return product;
}

// 100 repeats at 1 clock and 20 beside them.
Vector vector_of_120() {
  Vector vector;
  vector.op = VectorOp::kAdds;
  vector.count = 6400;
  vector.a = 64 * 1024;
  return vector;
}

// 64 requests of 64 clocks at the rate of the path.
CopyIn long_copy(std::uint32_t offset) {
  CopyIn copy;
  copy.to = {LocalBuffer::kUb, offset};
  copy.from = kData;
  copy.row_bytes = 64 * 1024;
  return copy;
}

TEST(AicoreFlags, LetPipesRunBesideEachOtherUnlessOneWaits) {
  AicoreBench bench;
  std::uint64_t beside = 0, behind = 0;
  bench.run_one([&](AicorePort& port) {
    auto begin = clocks(port);
    port.issue(product_of(100));
    port.issue(vector_of_120());
    port.pipe_barrier(Pipe::kAll);
    beside = clocks(port) - begin - kRegister;
    begin = clocks(port);
    port.issue(product_of(100));
    port.set_flag(Pipe::kCube, Pipe::kVector, 3);
    port.wait_flag(Pipe::kCube, Pipe::kVector, 3);
    port.issue(vector_of_120());
    port.pipe_barrier(Pipe::kAll);
    behind = clocks(port) - begin - kRegister;
    return 0;
  });
  EXPECT_EQ(beside, 2 * kHandOver + 120);
  EXPECT_EQ(behind, kHandOver + 100 + 120);
}

TEST(AicoreFlags, TakeTheRoundTripBetweenAPipeAndTheScalarUnit) {
  AicoreBench bench;
  std::uint64_t there = 0, back = 0;
  bench.run_one([&](AicorePort& port) {
    auto begin = clocks(port);
    port.issue(product_of(100));
    port.set_flag(Pipe::kCube, Pipe::kScalar, 0);
    port.wait_flag(Pipe::kCube, Pipe::kScalar, 0);
    there = clocks(port) - begin - kRegister;
    begin = clocks(port);
    port.set_flag(Pipe::kScalar, Pipe::kCube, 0);
    port.wait_flag(Pipe::kScalar, Pipe::kCube, 0);
    port.issue(product_of(100));
    port.pipe_barrier(Pipe::kAll);
    back = clocks(port) - begin - kRegister;
    return 0;
  });
  EXPECT_EQ(there, kHandOver + 100 + kToScalar);
  EXPECT_EQ(back, kHandOver + kToScalar + 100);
}

TEST(AicoreFlags, CountRaisesInOrder) {
  AicoreBench bench;
  std::uint64_t taken = 0;
  bench.run_one([&](AicorePort& port) {
    const auto begin = clocks(port);
    for (int i = 0; i < 3; ++i) {
      port.issue(product_of(100));
      port.set_flag(Pipe::kCube, Pipe::kScalar, 0);
    }
    port.wait_flag(Pipe::kCube, Pipe::kScalar, 0);
    port.wait_flag(Pipe::kCube, Pipe::kScalar, 0);
    taken = clocks(port) - begin - kRegister;
    port.wait_flag(Pipe::kCube, Pipe::kScalar, 0);
    return 0;
  });
  EXPECT_EQ(taken, kHandOver + 100 + 94 + kToScalar);
}

// Tile i + 1 is loaded while tile i is computed: with two buffers the longer of the two counts,
// with one their sum.
TEST(AicoreFlags, HideComputingBehindLoadsWithTwoBuffersOnly) {
  constexpr unsigned kTiles = 6;
  const auto run = [](AicorePort& port, unsigned buffers) {
    const auto begin = clocks(port);
    for (unsigned i = 0; i < buffers; ++i) port.set_flag(Pipe::kVector, Pipe::kMte2, i);
    for (unsigned i = 0; i < kTiles; ++i) {
      port.wait_flag(Pipe::kVector, Pipe::kMte2, i % buffers);
      port.issue(long_copy(i % buffers * 64 * 1024));
      port.set_flag(Pipe::kMte2, Pipe::kVector, i % buffers);
      port.wait_flag(Pipe::kMte2, Pipe::kVector, i % buffers);
      port.issue(vector_of_120());
      port.set_flag(Pipe::kVector, Pipe::kMte2, i % buffers);
    }
    port.pipe_barrier(Pipe::kAll);
    return clocks(port) - begin - kRegister;
  };
  auto config = aicore_config();
  config.core.queue_depth = 64;
  AicoreBench bench(config);
  bench.latency = 64 * kClock;  // the last answer comes when the rate's share of it is over
  std::uint64_t one = 0, two = 0;
  bench.run_one([&](AicorePort& port) {
    one = run(port, 1);
    two = run(port, 2);
    return 0;
  });
  constexpr std::uint64_t kLoad = 1024, kCompute = 120, kFirst = 3, kCall = 10;
  EXPECT_EQ(one, kFirst + kTiles * (kCall + kLoad + kCompute));
  // A load takes the pipe over while the last request's share of the rate runs.
  EXPECT_EQ(two, kFirst + 1 + kCall + kTiles * kLoad + kCompute);
}

TEST(AicoreFlags, StallTheScalarUnitWhenAQueueIsFull) {
  auto config = aicore_config();
  config.core.queue_depth = 4;
  AicoreBench bench(config);
  std::uint64_t taken = 0;
  bench.run_one([&](AicorePort& port) {
    const auto begin = clocks(port);
    // The first begins at once; four wait. The sixth has room when the second begins.
    for (int i = 0; i < 6; ++i) port.issue(product_of(100));
    taken = clocks(port) - begin - kRegister;
    return 0;
  });
  EXPECT_EQ(taken, kHandOver + 100 + kHandOver);
  EXPECT_EQ(bench.cores.statistics(0).queue_full, (100 - 4 * kHandOver) * kClock);
}

TEST(AicoreFlags, ThatNothingRaisesAreAFault) {
  AicoreBench bench;
  const auto end = bench.run_one([&](AicorePort& port) {
    port.wait_flag(Pipe::kCube, Pipe::kScalar, 5);
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kFlagDeadlock);
  const auto where = abi::InstructionFault::unpack(end.address);
  EXPECT_EQ(where.field, abi::FaultyField::kFlag);
  EXPECT_EQ(where.pipe, static_cast<std::uint8_t>(Pipe::kCube));
  EXPECT_EQ(where.offset, 5U);
}

TEST(AicoreFlags, ThatNothingRaisesForAPipeAreAFaultAtTheEnd) {
  AicoreBench bench;
  const auto end = bench.run_one([&](AicorePort& port) {
    port.wait_flag(Pipe::kCube, Pipe::kVector, 0);
    port.issue(vector_of_120());
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kFlagDeadlock);
}

TEST(AicoreFlags, AreNoDeadlockWhileACopyIsInFlight) {
  AicoreBench bench;
  bench.latency = 100'000 * kClock;
  const auto end = bench.run_one([&](AicorePort& port) {
    port.issue(long_copy(0));
    port.set_flag(Pipe::kMte2, Pipe::kScalar, 0);
    port.wait_flag(Pipe::kMte2, Pipe::kScalar, 0);
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

// Cluster 1: cube core 1, vector cores 4 and 5.
TEST(AicoreFlags, OfAClusterReachBothVectorCoresAndComeFromBoth) {
  AicoreBench bench(aicore_config(model::ProgramCoreKind::kSplit));
  std::map<unsigned, std::uint64_t> raised, waited;
  const auto raise = [&](AicorePort& port, unsigned flag) {
    port.set_cross_flag(Pipe::kScalar, CrossScope::kCluster, flag);
    raised[port.physical_core()] = clocks(port);
  };
  const auto wait = [&](AicorePort& port, unsigned flag) {
    port.wait_cross_flag(Pipe::kScalar, CrossScope::kCluster, flag);
    waited[port.physical_core()] = clocks(port);
  };
  const auto body = bench.keep([&](AicorePort& port) {
    const unsigned core = port.physical_core();
    if (core == 1) {
      port.scalar(5000);
      raise(port, 1);
      wait(port, 2);
    } else {
      wait(port, 1);
      port.scalar(1000 * core);
      raise(port, 2);
    }
    return 0;
  });
  bench.at(0, [&] {
    for (const unsigned core : {4U, 1U, 5U}) bench.launch_image(core, kImage, body);
  });
  bench.run();
  // The flag takes 50 clocks; the time is read behind each.
  EXPECT_EQ(waited[4], raised[1] + 50);
  EXPECT_EQ(waited[5], raised[1] + 50);
  EXPECT_EQ(waited[1], raised[5] + 50);
}

TEST(AicoreFlags, OfALaunchWaitForEveryOtherBlock) {
  AicoreBench bench;
  std::map<unsigned, std::uint64_t> reached, passed;
  const auto body = bench.keep([&](AicorePort& port) {
    const unsigned block = port.call().block;
    port.scalar(7000 * block);
    reached[block] = clocks(port);
    port.set_cross_flag(Pipe::kVector, CrossScope::kSameType, 0);
    port.wait_cross_flag(Pipe::kScalar, CrossScope::kSameType, 0);
    passed[block] = clocks(port);
    return 0;
  });
  bench.at(0, [&] {
    for (unsigned i = 0; i < 2; ++i) bench.launch_image(i, kImage, body, 1, i, 2);
  });
  bench.run();
  EXPECT_EQ(passed[0], reached[1] + kHandOver + 50 + kRegister);
  // Raised long ago: no wait.
  EXPECT_EQ(passed[1], reached[1] + 2 * kHandOver + kRegister);
}

TEST(AicoreFlags, WaitForOtherCoresUntilTheLaunchIsStopped) {
  AicoreBench bench;
  bench.at(0, [&] {
    bench.launch_image(0, kImage, bench.keep([&](AicorePort& port) {
      port.wait_cross_flag(Pipe::kVector, CrossScope::kSameType, 0);
      port.pipe_barrier(Pipe::kAll);
      return 0;
    }),
                       9, 0, 2);
  });
  bench.at(50'000 * kClock, [&] { bench.cores.stop(9); });
  bench.run();
  EXPECT_EQ(bench.ended(0).when, 50'100 * kClock);
  EXPECT_EQ(bench.ended(0).fault, FaultCode::kNone);
}

TEST(AicoreFlags, ThatACallerWaitsForAreThoseOfItsOwnCall) {
  AicoreBench bench;
  int result = 0;
  const auto callee = bench.keep([](AicorePort&) { return 5; });
  const auto body = bench.keep([&](AicorePort& port) {
    if (port.call().block == 0) {
      port.scalar(30'000);
      port.set_cross_flag(Pipe::kScalar, CrossScope::kSameType, 1);
      return 0;
    }
    port.wait_cross_flag(Pipe::kVector, CrossScope::kSameType, 1);  // queued
    result = port.invoke({kImage, callee, 1, 2, 0});
    return 0;
  });
  bench.at(0, [&] {
    for (unsigned i = 0; i < 2; ++i) bench.launch_image(i, kImage, body, 1, i, 2);
  });
  bench.run();
  ASSERT_TRUE(bench.has_ended(1)) << "it waits in the group of the one it has called";
  EXPECT_EQ(bench.ended(1).fault, FaultCode::kNone);
  EXPECT_EQ(result, 5);
}

// Raises flag 3 as block 0, waits for it as block 1.
std::uint64_t raise_or_wait(AicoreBench& bench) {
  return bench.keep([](AicorePort& port) {
    if (port.call().block == 0) {
      port.set_cross_flag(Pipe::kScalar, CrossScope::kSameType, 3);
    } else {
      port.wait_cross_flag(Pipe::kScalar, CrossScope::kSameType, 3);
    }
    return 0;
  });
}

TEST(AicoreFlags, ReachABlockThatGetsACoreWhenTheOneThatRaisedThemIsOver) {
  AicoreBench bench;
  const auto body = raise_or_wait(bench);
  bench.at(0, [&] { bench.launch_image(0, kImage, body, 7, 0, 2); });
  bench.at(50'000 * kClock, [&] { bench.launch_image(0, kImage, body, 7, 1, 2); });
  bench.run();
  ASSERT_TRUE(bench.has_ended(0)) << "it waits for a core that is over";
  EXPECT_GT(bench.ended(0).when, 50'000 * kClock);
}

TEST(AicoreFlags, OfALaunchThatWasGivenUpAreNotThoseOfTheNext) {
  AicoreBench bench;
  const auto body = raise_or_wait(bench);
  bench.at(0, [&] { bench.launch_image(0, kImage, body, 7, 0, 2); });  // and no block 1
  bench.at(50'000 * kClock, [&] {
    bench.launch_image(0, kImage, bench.keep([](AicorePort&) { return 0; }), 7, 0, 2);
  });
  bench.at(100'000 * kClock, [&] { bench.launch_image(0, kImage, body, 7, 1, 2); });
  bench.run();
  EXPECT_FALSE(bench.has_ended(0)) << "block 0 of this launch has raised nothing";
}

// A mixed block whose vector core has nothing to do: it leaves before the first raise.
TEST(AicoreFlags, OfAClusterAreForgottenWithTheLastToLeave) {
  model::CrossFlags flags;
  const auto member = [](unsigned place) {
    model::CrossFlags::Member one;
    one.scope = platform::CrossScope::kCluster;
    one.place = place;
    one.members = 3;
    return one;
  };
  for (unsigned run = 0; run < 2; ++run) {
    flags.left(member(2), true);
    flags.raise(member(0), 1, 100 + run);
    EXPECT_EQ(flags.lower(member(1), 1), SimTime{100 + run});
    flags.left(member(0), false);
    EXPECT_FALSE(flags.empty());
    flags.left(member(1), true);
    EXPECT_TRUE(flags.empty());
  }
}

}  // namespace
}  // namespace npu::test
