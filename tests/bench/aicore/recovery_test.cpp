// SPDX-License-Identifier: Apache-2.0
// A core after a block that went wrong: the next block finds nothing of it.
#include <stdexcept>

#include "npu/abi/kernel_image.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

constexpr SimTime kLater = 1'000'000 * kClock;

// Launches `body` on core 0, much later `next` on the same core, and returns how that ended.
AicoreBench::Ended run_after(AicoreBench& bench, const Body& body, const Body& next) {
  bench.at(0, [&bench, body] { bench.launch(0, body, 1); });
  bench.at(kLater, [&bench, next] { bench.launch(0, next, 2); });
  bench.run();
  if (bench.has_ended(0)) return bench.ended(0);
  ADD_FAILURE() << "the second block hangs";
  return {};
}

int nothing(AicorePort&) {
  return 0;
}

using AicoreRecovery = OnBench<AicoreBench>;

TEST_F(AicoreRecovery, FromALoadOfWhatIsNotMapped) {
  const auto end = run_after(
      bench, [this](AicorePort& port) { return static_cast<int>(port.load(bench.memory.end, 8)); },
      nothing);
  EXPECT_EQ(end.fault, FaultCode::kNone);
  EXPECT_GT(end.when, kLater);
}

TEST_F(AicoreRecovery, FromAStopDuringALoad) {
  bench.latency = 10'000 * kClock;
  bench.at(45'000 * kClock, [&] { bench.cores.stop(1); });
  const auto end = run_after(
      bench,
      [](AicorePort& port) {
        for (std::uint64_t line = kData;; line += 64) port.load(line, 8);
        return 0;
      },
      nothing);
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

TEST_F(AicoreRecovery, FromAResetDuringWriteBacks) {
  bench.latency = 10'000 * kClock;
  bench.at(500'000 * kClock, [&] { bench.cores.function_reset(0); });
  const auto end = run_after(
      bench,
      [](AicorePort& port) {
        for (std::uint64_t line = kData;; line += 64) {
          port.store(line, 4, 7);
          port.clean_invalidate(line);
        }
        return 0;
      },
      [](AicorePort& port) {
        port.store(kData, 4, 7);
        port.clean_invalidate(kData);
        port.memory_barrier();
        return 0;
      });
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

TEST_F(AicoreRecovery, FromAResetLeavesNothingOfTheLastTenant) {
  std::uint32_t before = 0, after = 1;
  std::size_t cold = 0;
  bench.at(kLater / 2, [&] {
    cold = bench.requests.size();
    bench.cores.function_reset(0);
  });
  run_after(
      bench,
      [&before](AicorePort& port) {
        port.store_ub(64, 0x5EC2E7);
        before = port.load_ub(64);
        return 0;
      },
      [&after](AicorePort& port) {
        after = port.load_ub(64);
        return 0;
      });
  EXPECT_EQ(before, 0x5EC2E7U);
  EXPECT_EQ(after, 0U);
  ASSERT_EQ(cold, 1U);
  ASSERT_EQ(bench.requests.size(), 2U);
  EXPECT_EQ(bench.requests[1].length, bench.config.core.instruction_line)
      << "the program is read from memory again, not its header alone";
}

TEST_F(AicoreRecovery, FromAnImageThatCouldNotBeRead) {
  const std::uint64_t whole = bench.memory.end;
  bench.memory.end = kImage + 2 * 4096;  // in the object
  bench.at(kLater / 2, [&] { bench.memory.end = whole; });
  run_after(bench, nothing, nothing);
  bench.at(2 * kLater, [&] { bench.launch(0, nothing, 3); });
  bench.run();
  ASSERT_EQ(bench.requests.size(), 3U);
  EXPECT_EQ(bench.requests[1].length, bench.config.core.instruction_line)
      << "the core had not got it";
  EXPECT_EQ(bench.requests[2].length, sizeof(abi::ImageHeader)) << "it is known now";
}

TEST_F(AicoreRecovery, FromAnExceptionOfTheProgramItself) {
  bench.at(0, [&] {
    bench.launch(
        0, [](AicorePort&) -> int { throw std::out_of_range("a kernel's own"); }, 1);
  });
  bench.run();
  ASSERT_TRUE(bench.has_ended(0));
  EXPECT_EQ(bench.ended(0).fault, FaultCode::kKernelTrap);
}

TEST(AicoreBlock, EndsWhenWhatItWroteBackIsInMemory) {
  AicoreBench bench;
  const auto end = bench.run_one([](AicorePort& port) {
    port.store(kData, 4, 7);
    port.clean_invalidate(kData);
    return 0;
  });
  ASSERT_TRUE(bench.has_ended(0)) << "it hangs";
  EXPECT_EQ(end.fault, FaultCode::kNone);
  EXPECT_GE(end.when, bench.requests.back().when + bench.latency);
}

TEST(AicoreBlock, MayBeStoppedBeforeItRuns) {
  AicoreBench bench;
  bool ran = false;
  bench.at(0, [&] {
    bench.launch(
        0,
        [&ran](AicorePort&) {
          ran = true;
          return 0;
        },
        1);
    bench.cores.stop(1);
  });
  bench.run();
  EXPECT_TRUE(bench.has_ended(0));
  EXPECT_FALSE(ran);
}

TEST(AicorePoll, WithALookAtTheCounterLeavesAtItsOwnTimeOut) {
  auto config = aicore_config();
  config.core.counter_hz = 50'000'000;  // many rounds to a tick
  AicoreBench bench(config);
  const auto end = bench.run_one([](AicorePort& port) {
    const std::uint64_t until = port.system_counter() + 100;
    while (port.system_counter() < until) port.poll_again(~std::uint64_t{0});
    return 0;
  });
  ASSERT_TRUE(bench.has_ended(0)) << "it sleeps for ever";
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

TEST(AicoreCheck, SizesThatOverflowAreFaults) {
  AicoreBench bench;
  const auto end = bench.run_one([](AicorePort& port) {
    platform::Vector vector;
    vector.op = platform::VectorOp::kMuls;
    vector.count = vector.rows = std::uint32_t{1} << 31;
    port.issue(vector);
    port.pipe_barrier(platform::Pipe::kAll);
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kLocalBuffer);
}

}  // namespace
}  // namespace npu::test
