// SPDX-License-Identifier: Apache-2.0
// Blocks of programs: what a launch costs, how it ends, images, calls.
#include <algorithm>

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

// Dispatch and hardware init; software init, which the reads of header and image are part of (its
// published microsecond is all that lies between them and a kernel's first instruction, and a
// whole launch of a small kernel 2.3: hardware.md H44, kernel-times.md K2); report.
constexpr SimTime kBegin = 150 * kClock, kSoftware = 200 * kClock, kReport = 100 * kClock;
constexpr SimTime kInit = kBegin + kSoftware;

TEST(AicoreBlock, costs_the_launch_the_reads_of_its_image_and_the_report) {
  auto config = aicore_config();
  config.aicore.software_init = 150_ns;  // less than the reads take
  AicoreBench bench(config);

  const auto end = bench.run_one([](AicorePort&) { return 0; });

  // The header, then four requests at a time.
  const std::size_t chunks = bench.requests.size() - 1;
  EXPECT_EQ(bench.requests[0].address, kImage);
  EXPECT_EQ(bench.requests[0].when, kBegin);
  EXPECT_GT(chunks, 1U);
  EXPECT_EQ(end.when, kBegin + kLatency + (chunks + 3) / 4 * kLatency + kReport);
  EXPECT_EQ(end.fault, FaultCode::kNone);
}

TEST(AicoreBlock, begins_no_earlier_than_the_software_is_initialised) {
  auto config = aicore_config();
  config.aicore.software_init = 5000_ns;  // the image is there long before
  AicoreBench bench(config);

  const auto end = bench.run_one([](AicorePort&) { return 0; });

  EXPECT_EQ(bench.requests[0].when, kBegin);
  EXPECT_EQ(end.when, kBegin + 5000 * kClock + kReport);
}

TEST(AicoreBlock, reads_only_the_header_of_an_image_that_the_core_holds) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch(0, [](AicorePort&) { return 0; }); });
  std::size_t before = 0;
  const SimTime second = 1'000'000 * kClock;
  bench.at(second, [&] {
    before = bench.requests.size();
    bench.launch(0, [](AicorePort&) { return 0; });
  });

  bench.run();

  EXPECT_EQ(bench.requests.size(), before + 1);
  EXPECT_EQ(bench.ended(0).when, second + kInit + kReport);
}

TEST(AicoreBlock, that_returns_an_error_faults) {
  AicoreBench bench;
  EXPECT_EQ(bench.run_one([](AicorePort&) { return 3; }).fault, FaultCode::kKernelResult);
}

TEST(AicoreBlock, faults_where_no_program_lies) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch_image(0, kOtherImage, 0); });

  bench.run();

  EXPECT_EQ(bench.ended(0).fault, FaultCode::kInvalidImage);
  EXPECT_EQ(bench.ended(0).address, kOtherImage);
}

TEST(AicoreBlock, faults_if_its_image_is_not_mapped) {
  AicoreBench bench;
  bench.at(0, [&] { bench.launch_image(0, bench.memory.end, 0); });

  bench.run();

  EXPECT_EQ(bench.ended(0).fault, FaultCode::kTranslation);
}

TEST(AicoreBlock, runs_another_program_and_gets_its_result) {
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

TEST(AicoreBlock, that_gives_up_faults_and_says_so_in_its_window) {
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

TEST(AicoreBlock, is_stopped_in_an_endless_loop) {
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

TEST(AicoreBlock, that_is_stopped_ends_when_its_accesses_have_ended) {
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

TEST(AicoreBlock, is_forgotten_by_a_reset_and_the_core_runs_the_next_one) {
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
  const auto chunks = std::count_if(
      bench.requests.begin(), bench.requests.end(),
      [&](const SeenRequest& each) { return each.when < reset && each.address < kData; });
  const auto fetch = static_cast<SimTime>(chunks - 1 + 3) / 4 * kLatency;  // all but the header
  EXPECT_EQ(bench.ended(0).when, reset + kBegin + std::max(kSoftware, kLatency + fetch) + kReport);
  EXPECT_EQ(bench.sim.pool.in_use(), 0U);
}

// Software of each function numbers its cores from 0.
TEST(AicoreBlock, knows_its_core_by_the_number_that_its_function_gives_it) {
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
