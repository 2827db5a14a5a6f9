// SPDX-License-Identifier: Apache-2.0
// Blocks of programs: what a launch costs, how it ends, images, calls.
#include <algorithm>

#include "npu/abi/kernel_image.hpp"
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

// Dispatch and hardware init; software init, which the read of the program's begin is part of;
// report.
constexpr SimTime kBegin = 150 * kClock, kSoftware = 200 * kClock, kReport = 100 * kClock;
constexpr SimTime kInit = kBegin + kSoftware;

TEST(AicoreBlock, CostsTheLaunchTheReadOfItsProgramsBeginAndTheReport) {
  auto config = aicore_config();
  config.aicore.software_init = 50_ns;  // less than the read takes
  AicoreBench bench(config);

  const auto end = bench.run_one([](AicorePort&) { return 0; });

  ASSERT_EQ(bench.requests.size(), 1U);
  EXPECT_EQ(bench.requests[0].address, kImage);
  EXPECT_EQ(bench.requests[0].when, kBegin);
  EXPECT_EQ(bench.requests[0].length, config.core.instruction_line);
  EXPECT_EQ(end.when, kBegin + kLatency + kReport);
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

TEST(AicoreBlock, BeginsNoEarlierThanTheSoftwareIsInitialised) {
  auto config = aicore_config();
  config.aicore.software_init = 5000_ns;  // the image is there long before
  AicoreBench bench(config);

  const auto end = bench.run_one([](AicorePort&) { return 0; });

  EXPECT_EQ(bench.requests[0].when, kBegin);
  EXPECT_EQ(end.when, kBegin + 5000 * kClock + kReport);
}

TEST(AicoreBlock, ReadsOnlyTheHeaderOfAProgramThatTheCoreHolds) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch(0, [](AicorePort&) { return 0; }); });
  std::size_t before = 0;
  const SimTime second = 1'000'000 * kClock;
  bench.at(second, [&] {
    before = bench.requests.size();
    bench.launch(0, [](AicorePort&) { return 0; });
  });

  bench.run();

  ASSERT_EQ(bench.requests.size(), before + 1);
  EXPECT_EQ(bench.requests[before].length, sizeof(abi::ImageHeader));
  EXPECT_EQ(bench.ended(0).when, second + kInit + kReport);
}

TEST(AicoreBlock, ThatReturnsAnErrorFaults) {
  AicoreBench bench;
  EXPECT_EQ(bench.run_one([](AicorePort&) { return 3; }).fault, FaultCode::kKernelResult);
}

TEST(AicoreBlock, FaultsWhereNoProgramLies) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch_image(0, kOtherImage, 0); });

  bench.run();

  EXPECT_EQ(bench.ended(0).fault, FaultCode::kInvalidImage);
  EXPECT_EQ(bench.ended(0).address, kOtherImage);
}

TEST(AicoreBlock, FaultsIfItsImageIsNotMapped) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch_image(0, bench.memory.end, 0); });

  bench.run();

  EXPECT_EQ(bench.ended(0).fault, FaultCode::kTranslation);
}

TEST(AicoreBlock, RunsAnotherProgramAndGetsItsResult) {
  AicoreBench bench;
  int result = 0;
  const auto kernel = bench.keep([](AicorePort& port) {
    return static_cast<int>(port.call().block + 10 * port.call().blocks);
  });

  const auto end = bench.run_one([&](AicorePort& port) {
    result = port.invoke({kImage, kernel, 2, 3, 0});
    return port.call().block == 0 ? 0 : 1;
  });

  EXPECT_EQ(result, 32);
  EXPECT_EQ(end.fault, FaultCode::kNone);
  EXPECT_EQ(bench.cores.statistics(0).kernels, 1U);
}

TEST(AicoreBlock, ThatGivesUpFaultsAndSaysSoInItsWindow) {
  AicoreBench bench;
  bench.cores.write(0, abi::FastPathEnable::kOffset, abi::FastPathEnable::kOpen);

  const auto end = bench.run_one([](AicorePort& port) {
    port.trap(7);
    return 0;
  });

  EXPECT_EQ(end.fault, FaultCode::kKernelTrap);
  EXPECT_EQ(bench.cores.read(0, abi::CoreStatus::kOffset),
            static_cast<std::uint32_t>(FaultCode::kKernelTrap));
}

TEST(AicoreBlock, IsStoppedInAnEndlessLoop) {
  AicoreBench bench;
  const SimTime stop = 5'000 * kClock;
  bench.at(0, [&] {
    bench.launch(0, [](AicorePort& port) -> int {
      for (;;) port.scalar(1000);
    });
  });
  bench.at(stop, [&] { bench.cores.stop(1); });

  bench.run();

  EXPECT_EQ(bench.ended(0).when, stop + kReport);
  EXPECT_EQ(bench.ended(0).fault, FaultCode::kNone);
}

// A body of 100 scalar instructions of 1,000 clocks each.
int scalar_work(AicorePort& port) {
  for (int i = 0; i < 100; ++i) port.scalar(1000);
  return 0;
}

TEST(AicoreHungCore, GoesOnAsMuchLater) {
  constexpr SimTime kHung = 30'000 * kClock;
  AicoreBench bench;
  bench.at(0, [&] {
    bench.launch(0, scalar_work);
    bench.launch(1, scalar_work, 2);
  });
  bench.at(20'000 * kClock, [&] { bench.cores.set_hung(0, true); });
  bench.at(20'000 * kClock + kHung, [&] { bench.cores.set_hung(0, false); });

  bench.run();

  // Its local time runs ahead of the simulation's by 10,000 clocks at most.
  const SimTime usual = bench.ended(1).when;
  EXPECT_GE(bench.ended(0).when, usual + kHung - 10'000 * kClock);
  EXPECT_LE(bench.ended(0).when, usual + kHung);
}

TEST(AicoreHungCore, EndsNoBlockButCanBeStopped) {
  AicoreBench bench;
  bench.at(0, [&] {
    bench.cores.set_hung(0, true);
    bench.launch(0, scalar_work);
    bench.launch(1, scalar_work, 2);
  });
  bench.at(500'000 * kClock, [&] {
    EXPECT_FALSE(bench.has_ended(0));
    EXPECT_TRUE(bench.has_ended(1)) << "others work";
    bench.cores.stop(1);
  });
  bench.run();
  EXPECT_EQ(bench.ended(0).when, 500'000 * kClock + kReport);
}

// Cores of higher numbers go on at the same times as the one that hangs would.
TEST(AicoreHungCore, HoldsUpNoneOfThoseThatGoOnAtItsTime) {
  AicoreBench bench(aicore_config(), false);
  bench.at(0, [&] {
    bench.launch(0, scalar_work);
    bench.launch(1, scalar_work, 2);
    bench.cores.set_hung(0, true);
  });
  bench.at(500'000 * kClock, [&] { bench.cores.stop(1); });
  bench.run();
  EXPECT_LT(bench.ended(1).when, 200'000 * kClock);
}

TEST(AicoreHungCore, WorksAgainAfterAReset) {
  AicoreBench bench;
  bench.at(0, [&] {
    bench.cores.set_hung(0, true);
    bench.launch(0, scalar_work);
  });
  bench.at(500'000 * kClock, [&] { bench.cores.function_reset(0); });
  bench.at(600'000 * kClock, [&] { bench.launch(0, scalar_work); });
  bench.run();
  EXPECT_GT(bench.ended(0).when, 600'000 * kClock);
  EXPECT_EQ(bench.ended(0).fault, FaultCode::kNone);
}

TEST(AicoreBlock, ThatIsStoppedEndsWhenItsAccessesHaveEnded) {
  AicoreBench bench;
  bench.latency = 10'000 * kClock;
  bench.at(0, [&] {
    bench.launch(0, [](AicorePort& port) {
      port.load(kData, 4);
      return 0;
    });
  });
  SimTime asked = 0;
  bench.at(25'000 * kClock, [&] {
    asked = bench.requests.back().when;
    bench.cores.stop(1);
  });

  bench.run();

  EXPECT_GT(asked, 0U);
  EXPECT_EQ(bench.ended(0).when, asked + bench.latency + kReport);
}

TEST(AicoreBlock, IsForgottenByAResetAndTheCoreRunsTheNextOne) {
  AicoreBench bench;
  bench.at(0, [&] {
    bench.launch(0, [](AicorePort& port) -> int {
      for (;;) port.load(kData, 8), port.clean_invalidate(kData);
    });
  });
  const SimTime reset = 2'050 * kClock;
  bench.at(reset, [&] {
    bench.cores.function_reset(0);
    EXPECT_FALSE(bench.has_ended(0));
    bench.launch(0, [](AicorePort&) { return 0; });
  });

  bench.run();

  // After a reset the instruction cache is empty, too.
  const auto& begin = *std::find_if(bench.requests.begin(), bench.requests.end(),
                                    [&](const SeenRequest& each) { return each.when > reset; });
  EXPECT_EQ(begin.length, bench.config.core.instruction_line);
  EXPECT_EQ(bench.ended(0).when, reset + kInit + kReport);
  EXPECT_EQ(bench.sim.pool.in_use(), 0U);
}

// Software of each function numbers its cores from 0.
TEST(AicoreBlock, KnowsItsCoreByTheNumberThatItsFunctionGivesIt) {
  constexpr SimTime kLater = 100'000 * kClock;
  auto config = aicore_config(model::ProgramCoreKind::kSplit);
  model::Partition share;
  for (unsigned i = 0; i < 2; ++i) {
    share.first_cluster = i;
    share.clusters = 1;
    config.partitions.push_back(share);
  }
  AicoreBench bench(config);
  std::vector<unsigned> seen;
  // Cube cores 0 and 1, then two vector cores of each cluster.
  SimTime when = 0;
  for (const unsigned core : {0U, 2U, 3U, 1U, 4U, 5U}) {
    const unsigned function = when < 3 * kLater ? 0 : 1;
    bench.at(when, [&bench, &seen, core, function] {
      bench.vmid = model::space_of(function, 0);
      bench.launch(core, [&seen](AicorePort& port) {
        seen.push_back(port.physical_core());
        return 0;
      });
    });
    when += kLater;
  }
  bench.run();
  EXPECT_EQ(seen, (std::vector<unsigned>{0, 1, 2, 0, 1, 2}));
}

}  // namespace
}  // namespace npu::test
