// SPDX-License-Identifier: Apache-2.0
// The channel controllers against two cycle-accurate DRAM simulators, on their own parameters:
// bandwidth within 1 % and latency within 2 % (shared data, hbm_reference.csv).
#include <gtest/gtest.h>

#include <string>

#include "model/hbm/pattern_replay.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model {
namespace {

using hbm::Pattern;

struct Cell {
  const char* tool;
  const char* pattern_name;
  Pattern pattern;
  std::uint64_t outstanding;  // 0: saturated
  std::uint64_t requests;     // as published: the share of start-up and refresh depends on it
  double latency_ns;
  std::uint64_t clocks;
};

std::ostream& operator<<(std::ostream& out, const Cell& cell) {
  return out << cell.tool << " " << cell.pattern_name << " " << cell.outstanding;
}

const Cell kCells[] = {
    {"Ramulator", "seq_rd", Pattern::kSequential, 0, 300000, 83.3, 41627},
    {"Ramulator", "rand_rd", Pattern::kRandom, 0, 300000, 153.0, 127597},
    {"Ramulator", "stride4k", Pattern::kStride4K, 0, 30000, 299.7, 132595},
    {"Ramulator", "streams16_r64", Pattern::kStreams16, 0, 300000, 208.6, 115048},
    {"Ramulator", "seq_rd", Pattern::kSequential, 1, 10000, 26.0, 260354},
    {"Ramulator", "rand_rd", Pattern::kRandom, 1, 10000, 37.8, 377632},
    {"Ramulator", "stride4k", Pattern::kStride4K, 1, 10000, 20.3, 203449},
    {"Ramulator", "streams16_r64", Pattern::kStreams16, 1, 10000, 37.5, 374826},
    {"DRAMSys", "seq_rd", Pattern::kSequential, 0, 300000, 90.7, 42863},
    {"DRAMSys", "rand_rd", Pattern::kRandom, 0, 300000, 147.8, 126561},
    {"DRAMSys", "stride4k", Pattern::kStride4K, 0, 30000, 157.8, 64222},
    {"DRAMSys", "streams16_r64", Pattern::kStreams16, 0, 300000, 175.6, 106566},
    {"DRAMSys", "seq_rd", Pattern::kSequential, 1, 10000, 30.6, 306450},
    {"DRAMSys", "rand_rd", Pattern::kRandom, 1, 10000, 39.3, 392807},
    {"DRAMSys", "stride4k", Pattern::kStride4K, 1, 10000, 23.6, 235746},
    {"DRAMSys", "streams16_r64", Pattern::kStreams16, 1, 10000, 39.6, 396252},
};

class HbmReference : public testing::TestWithParam<Cell> {};

TEST_P(HbmReference, bandwidth_and_latency_agree) {
  const Cell& cell = GetParam();
  const HbmConfig config = cell.tool == std::string("Ramulator")
                               ? test::split_config(test::ramulator_timings())
                               : test::shared_config(test::dramsys_timings());

  const auto addresses = hbm::make_pattern(cell.pattern, cell.requests, 32);
  const auto result = hbm::replay_reads(config, addresses, cell.outstanding);

  const auto published = static_cast<double>(cell.clocks);
  EXPECT_NEAR(static_cast<double>(result.clocks), published, 0.01 * published);
  EXPECT_NEAR(result.latency_clocks, cell.latency_ns, 0.02 * cell.latency_ns);
  EXPECT_EQ(result.requests, cell.requests);
}

std::string cell_name(const testing::TestParamInfo<Cell>& cell) {
  return std::string(cell.param.tool) + "_" + cell.param.pattern_name + "_" +
         (cell.param.outstanding == 0 ? "sat" : "1");
}

INSTANTIATE_TEST_SUITE_P(Cells, HbmReference, testing::ValuesIn(kCells), cell_name);

}  // namespace
}  // namespace npu::model
