// SPDX-License-Identifier: Apache-2.0
// The channel controllers against three DRAM simulators, on their own parameters and policies, as
// configs/hbm/replay has them: Ramulator and DRAMSys within 1 % of bandwidth and 2 % of latency in
// every cell of the reference measurements, DRAMsim3 within 10 % (here 1 % and 5 %).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/folders.hpp"
#include "workloads/replay/pattern_replay.hpp"

namespace npu::model {
namespace {

using npu::replay::AccessPattern;
using npu::replay::PatternKind;

const std::string kFolder = source_dir() + "/configs/hbm/replay/";

struct Cell {
  std::string tool, pattern;
  std::uint64_t outstanding = 0, requests = 0, request_bytes = 0, clocks = 0;
  double latency_ns = 0;
};

std::ostream& operator<<(std::ostream& out, const Cell& cell) {
  return out << cell.tool << " " << cell.pattern << " " << cell.outstanding;
}

std::vector<Cell> read_cells() {
  std::ifstream file(kFolder + "reference.csv");
  std::vector<Cell> cells;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#' || line.rfind("tool,", 0) == 0) continue;
    for (char& c : line) c = c == ',' ? ' ' : c;
    Cell cell;
    std::string printed_fraction;
    std::istringstream fields(line);
    fields >> cell.tool >> cell.pattern >> cell.outstanding >> cell.requests >>
        cell.request_bytes >> cell.clocks >> printed_fraction >> cell.latency_ns;
    cells.push_back(cell);
  }
  return cells;
}

AccessPattern pattern_of(const Cell& cell) {
  AccessPattern pattern;
  pattern.request = cell.request_bytes;
  if (cell.pattern == "rand_rd") pattern.kind = PatternKind::kRandom;
  if (cell.pattern == "stride4k") pattern.kind = PatternKind::kStride;
  if (cell.pattern == "streams16_r64") pattern.kind = PatternKind::kStreams;
  return pattern;
}

replay::ReplayResult replayed(const replay::ReplayConfig& config, const AccessPattern& pattern,
                              std::uint64_t requests, std::uint64_t outstanding) {
  const auto accesses = replay::make_accesses(pattern, requests);
  return replay::replay(config, accesses, pattern.request, outstanding);
}

class HbmReference : public testing::TestWithParam<Cell> {};

TEST_P(HbmReference, BandwidthAndLatencyAgree) {
  const Cell& cell = GetParam();
  const auto config = replay::load_replay(kFolder + cell.tool + ".yaml", {});
  ASSERT_TRUE(config) << config.error().message();

  const auto result = replayed(*config, pattern_of(cell), cell.requests, cell.outstanding);

  const auto published = static_cast<double>(cell.clocks);
  const double latency_limit = cell.tool == "dramsim3" ? 0.05 : 0.02;
  EXPECT_NEAR(static_cast<double>(result.clocks), published, 0.01 * published);
  EXPECT_NEAR(result.latency_clocks(), cell.latency_ns, latency_limit * cell.latency_ns);
  EXPECT_EQ(result.requests(), cell.requests);
}

std::string cell_name(const testing::TestParamInfo<Cell>& cell) {
  return cell.param.tool + "_" + cell.param.pattern + "_" +
         (cell.param.outstanding == 0 ? "sat" : std::to_string(cell.param.outstanding));
}

INSTANTIATE_TEST_SUITE_P(Cells, HbmReference, testing::ValuesIn(read_cells()), cell_name);

TEST(HbmReplay, ReferenceHasACellPerToolPatternAndDepth) {
  EXPECT_EQ(read_cells().size(), 3U * 4 * 2);
}

class HbmReplayOf : public testing::TestWithParam<const char*> {};

TEST_P(HbmReplayOf, MixedTrafficReturnsEveryRequestAndRepeats) {
  const auto config = replay::load_replay(kFolder + GetParam() + ".yaml", {});
  ASSERT_TRUE(config) << config.error().message();
  for (const auto kind : {PatternKind::kSequential, PatternKind::kRandom, PatternKind::kStreams}) {
    AccessPattern pattern;
    pattern.kind = kind;
    pattern.request = 128;
    pattern.reads = 2;
    pattern.writes = 1;
    for (const std::uint64_t outstanding : {0, 1, 7, 256}) {
      const auto first = replayed(*config, pattern, 3000, outstanding);
      const auto second = replayed(*config, pattern, 3000, outstanding);
      EXPECT_EQ(first.reads.requests, 2000U);
      EXPECT_EQ(first.writes.requests, 1000U);
      EXPECT_EQ(first.clocks, second.clocks);
      EXPECT_EQ(first.reads.clocks, second.reads.clocks);
      EXPECT_EQ(first.writes.clocks, second.writes.clocks);
    }
  }
}

// README of the reference data: sequential reads are bound by refresh alone, a stride of 4 KiB
// moves a burst of one channel per tCCD_L, one of 2 MiB (a new row each) a burst per tRC.
TEST_P(HbmReplayOf, StridesAreBoundByTheirClosedForms) {
  const auto config = replay::load_replay(kFolder + GetParam() + ".yaml", {});
  ASSERT_TRUE(config) << config.error().message();
  const HbmTimings& t = config->hbm.timings;
  AccessPattern pattern;
  pattern.kind = PatternKind::kStride;
  pattern.request = t.burst;
  pattern.stride = Bytes{2} << 20;

  const auto result = replayed(*config, pattern, 5000, 0);

  const double clocks_per_request = static_cast<double>(result.clocks) / 5000;
  const double refresh = 1 - static_cast<double>(t.trfc) / t.trefi;
  EXPECT_GE(clocks_per_request, t.trc / t.stacks);
  EXPECT_LE(clocks_per_request, 1.25 * t.trc / refresh);
}

std::string tool_name(const testing::TestParamInfo<const char*>& tool) {
  return tool.param;
}

INSTANTIATE_TEST_SUITE_P(Tools, HbmReplayOf, testing::Values("dramsim3", "ramulator", "dramsys"),
                         tool_name);

}  // namespace
}  // namespace npu::model
