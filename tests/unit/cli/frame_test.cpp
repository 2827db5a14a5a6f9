// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/watch/frame.hpp"

#include <gmock/gmock.h>

namespace npu::cli {
namespace {

WatchFrame some_frame() {
  WatchFrame frame;
  frame.title = "matmul on 910b2";
  frame.elapsed = WallTime(3250);
  frame.simulated = Picoseconds(1'234'000'000);
  frame.simulated_rate = Picoseconds(2'000'000'000);
  frame.events = 12'345'678;
  frame.event_rate = 1'500'000;
  frame.progress = "h2d, 50 %";
  frame.done = 0.5;
  for (unsigned i = 0; i < 200; ++i) {
    frame.units.push_back({"card0.unit" + std::to_string(i), 1.0 / (i + 1), 0.25});
  }
  frame.faults = 2;
  frame.commands = {1234, 1000};
  return frame;
}

TEST(WatchFrame, SaysWhatTheMachineDoes) {
  const auto lines = lines_of(some_frame(), {24, 80});
  EXPECT_EQ(lines[0].rfind("matmul on 910b2 ", 0), 0U);
  EXPECT_EQ(lines[0].substr(75), "3.2 s");
  EXPECT_EQ(lines[1], "simulated 1.234 ms, 2.000 ms/s");
  EXPECT_EQ(lines[2], "events    12,345,678, 1.50 M/s");
  EXPECT_EQ(lines[3], "[#############.............] h2d, 50 %");
  EXPECT_EQ(lines[4], "queues 0, slots in use 0, blocks ended 0, faults 2");
  EXPECT_EQ(lines[5], "DMA commands  1,000 ended, 234 waiting");
  EXPECT_THAT(lines[9], testing::StartsWith("card0.unit0    100.0 %  25.0 % [####"));
  EXPECT_THAT(lines[10], testing::StartsWith("card0.unit1     50.0 %  25.0 % [####"));
}

TEST(WatchFrame, FitsEveryTerminal) {
  for (const auto rows : {2U, 3U, 8U, 10U, 24U, 50U, 300U}) {
    for (const auto columns : {2U, 10U, 30U, 80U, 140U}) {
      const auto lines = lines_of(some_frame(), {rows, columns});
      EXPECT_LE(lines.size(), rows);
      for (const auto& line : lines) EXPECT_LE(line.size(), columns);
      EXPECT_THAT(lines.back(), testing::StartsWith("Ct"));
    }
  }
}

TEST(WatchFrame, OfANarrowTerminalLeavesOutBarsBeforeWords) {
  auto frame = some_frame();
  frame.progress = "submitting, 7 %, 16 s left";
  EXPECT_EQ(lines_of(frame, {24, 40})[3], "[######.....] submitting, 7 %, 16 s left");
  EXPECT_EQ(lines_of(frame, {24, 30})[3], frame.progress);
}

TEST(WatchFrame, UsesTheRoomThatThereIs) {
  EXPECT_EQ(lines_of(some_frame(), {50, 140}).size(), 50U);
  EXPECT_EQ(lines_of(some_frame(), {50, 140})[9].size(), 140U);
}

}  // namespace
}  // namespace npu::cli
