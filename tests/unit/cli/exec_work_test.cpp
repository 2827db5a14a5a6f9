// SPDX-License-Identifier: Apache-2.0
// The time of what programs do between their calls.
#include "tools/cli/exec_work.hpp"

#include <gtest/gtest.h>

namespace npu::cli {
namespace {

model::SystemConfig config_of(model::ProgramWork work, unsigned percent) {
  model::SystemConfig config;
  config.programs = {work, percent};
  config.cpu.clock_hz = 2'000'000'000;
  config.cpu.ipc_percent = 250;
  return config;
}

TEST(ExecWork, WallTimeIsScaled) {
  EXPECT_EQ(time_of_work(config_of(model::ProgramWork::kWall, 100), 1'000), 1_us);
  EXPECT_EQ(time_of_work(config_of(model::ProgramWork::kWall, 1'000'000), 3), 30_us);
  EXPECT_EQ(time_of_work(config_of(model::ProgramWork::kWall, 1), 1'000), 10_ns);
}

// 5 in a nanosecond.
TEST(ExecWork, InstructionsTakeTheTimeOfTheHostsCores) {
  EXPECT_EQ(time_of_work(config_of(model::ProgramWork::kInstructions, 100), 5'000), 1_us);
  EXPECT_EQ(time_of_work(config_of(model::ProgramWork::kInstructions, 300), 5), 3_ns);
}

TEST(ExecWork, AProgramMaySayAnything) {
  for (const auto work : {model::ProgramWork::kWall, model::ProgramWork::kInstructions}) {
    const auto most = time_of_work(config_of(work, 1'000'000), ~std::uint64_t{0});
    EXPECT_EQ(most, 60'000'000_us);
  }
}

TEST(ExecWork, ProgramsAreToldWhatToMeasure) {
  EXPECT_EQ(work_variable(config_of(model::ProgramWork::kFree, 100)), nullptr);
  EXPECT_STREQ(work_variable(config_of(model::ProgramWork::kWall, 100)), "wall");
  EXPECT_STREQ(work_variable(config_of(model::ProgramWork::kInstructions, 100)), "instructions");
}

}  // namespace
}  // namespace npu::cli
