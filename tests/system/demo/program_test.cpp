// SPDX-License-Identifier: Apache-2.0
// npudemo as a program: what it needs, and what it says to bad command lines.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "apps/demo/options.hpp"
#include "apps/demo/steps.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/programs/programs.hpp"

namespace npu::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Output {
  int status = -1;
  std::string text;
};

Output run(const std::string& command) {
  Output output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
    output.text += buffer.data();
  }
  output.status = WEXITSTATUS(pclose(pipe));
  return output;
}

Result<demo::Options> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "npudemo");
  return demo::parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(NpudemoProgram, IsLinkedToTheDriverAndNotToTheSimulator) {
  const auto output = run("readelf -d '" + binary_dir() + "/bin/npudemo'");
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.text, HasSubstr("libnpudrv.so"));
  EXPECT_THAT(output.text, Not(HasSubstr("libnpusim")));
  EXPECT_THAT(output.text, Not(HasSubstr("systemc")));
}

TEST(NpudemoProgram, WithoutASimulatorSaysSo) {
  const auto output =
      run("'" + binary_dir() + "/bin/npudemo' --backend sim --simulator /nonexistent/libnpusim.so");
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.text, HasSubstr("npudemo: unsupported: no simulator here"));
}

TEST(NpudemoProgram, LinesThatCannotBeWrittenAreAFailure) {
  const std::string line = "npudemo: standard output: cannot be written: ";
  const auto full = run("{ '" + binary_dir() + "/bin/npudemo' --help >/dev/full; }");
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.text, line + "No space left on device\n");
  const auto closed =
      run("{ '" + binary_dir() + "/bin/npudemo' --backend sim --steps identity >&-; }");
  EXPECT_EQ(closed.status, 1);
  EXPECT_EQ(closed.text, line + "Bad file descriptor\n");
}

TEST(NpudemoProgram, ABadConfigurationIsTheSimulatorsMessage) {
  const auto output = run("'" + binary_dir() + "/bin/npudemo' --backend sim --config nonexistent");
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.text, HasSubstr("nonexistent"));
}

TEST(NpudemoProgram, AFailedStepIsExitStatusOne) {
  const auto output =
      run("'" + binary_dir() + "/bin/npudemo' --backend sim --bdf 05:00.0 --steps identity");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, HasSubstr("FAILED open: not found"));
  EXPECT_THAT(output.text, HasSubstr("1 steps: 0 ok, 1 failed"));
}

TEST(NpudemoProgram, ListsItsSteps) {
  const auto output = run("'" + binary_dir() + "/bin/npudemo' --list");
  EXPECT_EQ(output.status, 0);
  for (const auto& step : demo::steps()) EXPECT_THAT(output.text, HasSubstr(step.name));
}

TEST(NpudemoProgram, HasAWorkloadAndParametersForEachStep) {
  for (const auto& step : demo::steps()) {
    const auto workload = must(workloads::card_workloads().find(step.workload));
    workloads::ParameterSet parameters(workload->parameters);
    for (const auto& setting : step.settings) {
      EXPECT_THAT(parameters.assign(setting), IsOk()) << step.name;
    }
  }
}

TEST(NpudemoOptions, BdfsInAllTheirForms) {
  EXPECT_EQ(*platform::parse_bdf("1:0.0"), (platform::Bdf{1, 0, 0}));
  EXPECT_EQ(*platform::parse_bdf("0000:af:1f.7"), (platform::Bdf{0xAF, 31, 7}));
  EXPECT_EQ(*platform::parse_bdf("0002:af:1f.7"), (platform::Bdf{0x2AF, 31, 7}));
  EXPECT_EQ(to_string(platform::Bdf{0x2AF, 31, 7}), "0002:af:1f.7");
  EXPECT_EQ(to_string(platform::Bdf{0xAF, 31, 7}), "af:1f.7");
  for (const char* text : {"", "1", "1:0", "01:20.0", "01:00.8", "01:00.0x", "0100:01:00.0"}) {
    EXPECT_FALSE(platform::parse_bdf(text)) << text;
    EXPECT_THAT(parse({"--bdf", text}), FailsWith(ErrorCode::kInvalidArgument)) << text;
  }
}

TEST(NpudemoOptions, WrongOnesAreRefused) {
  const std::vector<const char*> wrong[] = {
      {"--steps", "nonsense"}, {"--steps", "removal"},
      {"--backend", "fake"},   {"--patience", "0"},
      {"--max-bytes", "4095"}, {"--ring", "moon"},
      {"--max-bytes", "-1"},   {"--bdf", "x"},
      {"--unknown"},           {"--device-removed", "--device-error"}};
  for (const auto& arguments : wrong) {
    EXPECT_THAT(parse(arguments), FailsWith(ErrorCode::kInvalidArgument)) << arguments[0];
  }
}

TEST(NpudemoOptions, AreTakenOver) {
  const auto options =
      must(parse({"--backend", "sim", "--config", "x.yaml", "--set", "a=1", "--set", "b=2",
                  "--steps", "dma,ring", "--ring", "host", "--patience", "7", "--device-removed"}));
  EXPECT_TRUE(options.on_simulator);
  EXPECT_EQ(options.simulator.config, "x.yaml");
  EXPECT_THAT(options.simulator.overrides, testing::ElementsAre("a=1", "b=2"));
  EXPECT_THAT(options.request.steps, testing::ElementsAre("dma", "ring"));
  EXPECT_EQ(options.request.ending, demo::kRemoval);
  EXPECT_EQ(options.request.ring, "host");
  EXPECT_EQ(options.request.patience, 7_s);
}

}  // namespace
}  // namespace npu::test
