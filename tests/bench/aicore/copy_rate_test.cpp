// SPDX-License-Identifier: Apache-2.0
// What part of a path's rate small and unaligned copies get (kernel-times.md K10).
#include <cmath>

#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

// Two bytes per clock, half of it with 256 B, 80 % of it off 512 B; blocks of 30 clocks.
model::ChipConfig slow_path() {
  auto config = aicore_config();
  config.core.gm_to_ub = {2, 0, 0, 30, 50, 80};
  config.core.outstanding = 1_MiB;
  return config;
}

CopyIn copy(std::uint64_t offset, std::uint32_t bytes) {
  CopyIn result;
  result.to = {LocalBuffer::kUb, 0};
  result.from = kData + offset;
  result.row_bytes = result.to_pitch = bytes;
  return result;
}

// Clocks that the path is taken by each of `copies`, from the requests of markers between them.
std::vector<SimTime> port_times(const std::vector<CopyIn>& copies) {
  constexpr std::uint64_t kMarkers = 0x1'0000;
  constexpr std::uint32_t kMarker = 512;  // bytes, 256 clocks
  AicoreBench bench(slow_path());
  const auto end = bench.run_one([&](AicorePort& port) {
    for (std::uint32_t i = 0; i <= copies.size(); ++i) {
      port.issue(copy(kMarkers + i * kMarker, kMarker));
      if (i < copies.size()) port.issue(copies[i]);
    }
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
  std::vector<SimTime> markers, result;
  for (const auto& request : bench.data_requests()) {
    if (request.address >= kData + kMarkers) markers.push_back(request.when / kClock);
  }
  for (std::size_t i = 0; i + 1 < markers.size(); ++i) {
    result.push_back(markers[i + 1] - markers[i] - kMarker / 2);
  }
  return result;
}

using Times = std::vector<SimTime>;

TEST(AicoreCopyRate, IsWholeForACopyFrom512BytesOn) {
  EXPECT_EQ(port_times({copy(0, 512), copy(512, 520), copy(0, 8192)}), (Times{256, 260, 4096}));
}

// Half of the rate, a quarter of it, and half way between the rates of 512 and 256 bytes.
TEST(AicoreCopyRate, FallsWithEachHalvingBelow512Bytes) {
  EXPECT_EQ(port_times({copy(0, 256), copy(0, 128), copy(0, 384)}), (Times{256, 256, 256}));
}

// To its end, though the later requests of a long one begin at 4 KiB; together with the length.
TEST(AicoreCopyRate, IsSmallerForACopyThatBeginsOff512Bytes) {
  EXPECT_EQ(port_times({copy(32, 512), copy(32, 8192), copy(32, 256)}), (Times{320, 5120, 320}));
}

TEST(AicoreCopyRate, ChargesBlocksForRowsOff32BytesThatDoNotFollowOneAnotherOnly) {
  auto together = copy(0, 512);
  together.rows = 4;
  together.from_pitch = 512;
  auto apart = together;
  apart.from_pitch = 1024;
  auto off = together;
  off.from_pitch = 1024 + 16;
  EXPECT_EQ(port_times({together, apart, off}), (Times{1024, 1024, 1280 + 4 * 30}));
}

TEST(AicoreCopyRate, SeesRowsThatFollowOneAnotherAsOne) {
  auto rows = copy(0, 64);
  rows.rows = 8;
  rows.from_pitch = 64;
  EXPECT_EQ(port_times({rows}), (Times{256}));
}

// (c / 512)^0.34 but for straight lines between halvings, 1.2 %, and whole percents, 1 %.
TEST(AicoreCopyRate, FollowsTheMeasuredPowerOfTheLength) {
  auto config = slow_path();
  config.core.gm_to_ub.half_row_percent = 79;
  const model::CoreClock clock(config.aicore.clock_hz);
  const model::InstructionTimes times(config.core, clock);
  for (std::uint32_t bytes = 512; bytes >= 32; bytes -= 32) {
    const auto taken = times.of(config.core.gm_to_ub, {kData, bytes, bytes, 0, 0});
    const double part = static_cast<double>(bytes * kClock) / 2 / static_cast<double>(taken);
    EXPECT_NEAR(part, std::pow(bytes / 512.0, 0.34), 0.022) << bytes;
  }
}

}  // namespace
}  // namespace npu::test
