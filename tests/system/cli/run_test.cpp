// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using RunCommand = Program;

const std::vector<std::string> kShortRun{"--config", "910b",       "run",    "dma_latency",
                                         "--set",    "sizes=4KiB", "--seed", "7"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(RunCommand, WritesAReportForPeopleAndOneForMachines) {
  const auto result = good(npusim(with(kShortRun, {"--report", "r.json"})));
  EXPECT_NE(result.out.find("dma_latency on 910b"), std::string::npos);
  const auto report = nlohmann::json::parse(text("r.json"));
  EXPECT_EQ(report["schema"], "npusim.report/3");
  EXPECT_EQ(report["workload"], "dma_latency");
  EXPECT_EQ(report["config"], "910b");
  EXPECT_EQ(report["seed"], 7);
  EXPECT_GT(report["simulated_ps"], 0);
}

// Also when the last that was measured is the last that happened.
TEST_F(RunCommand, NoTimeOfAReportIsLongerThanTheRun) {
  ASSERT_EQ(npusim({"--config", "910b2", "run", "enumerate", "--report", "r.json"}).exit_code, 0);
  const auto report = nlohmann::json::parse(text("r.json"));
  for (const auto& metric : report["metrics"]) {
    if (metric["name"] != "enumerate.time_us") continue;
    const auto ps = std::llround(metric["value"].get<double>() * 1e6);
    EXPECT_LE(ps, report["simulated_ps"].get<std::int64_t>());
    return;
  }
  FAIL() << "no enumerate.time_us";
}

TEST_F(RunCommand, TheSameRunTwiceGivesTheSameBytes) {
  ASSERT_EQ(npusim(with(kShortRun, {"--report", "a.json"})).exit_code, 0);
  ASSERT_EQ(npusim(with(kShortRun, {"--report", "b.json"})).exit_code, 0);
  EXPECT_EQ(text("a.json"), text("b.json"));
  EXPECT_FALSE(text("a.json").empty());
}

TEST_F(RunCommand, FaultsOfConfigurationAndCommandLineAreListedAndHappen) {
  good(npusim(with(kShortRun, {"--set", "faults=bad_tlp,at=1us;link_retrained,lanes=2,at=2us",
                               "--fault", "memory_error,address=0x1000,bits=1,at=3us", "--report",
                               "slow.json", "--trace", "slow.trace"})));
  good(npusim(with(kShortRun, {"--report", "usual.json"})));
  const auto slow = nlohmann::json::parse(text("slow.json"));
  const auto usual = nlohmann::json::parse(text("usual.json"));
  EXPECT_GT(slow["simulated_ps"], usual["simulated_ps"]);
  for (const auto* const name : {"bad_tlp", "link_retrained", "memory_error"}) {
    EXPECT_NE(text("slow.json").find(name), std::string::npos);
    EXPECT_NE(text("slow.trace").find(std::string("injected.") + name), std::string::npos);
  }
}

// The workload waits for its own faults alone.
TEST_F(RunCommand, AFaultThatNeverHappensDoesNotHoldUpTheFaultsWorkload) {
  const auto result = good(npusim({"--config", "910b2", "run", "faults", "--set", "kinds=bad_tlp",
                                   "--set", "instants=2", "--fault", "lost_interrupt,vector=31"}));
  EXPECT_NE(result.out.find("1 of the faults had not happened"), std::string::npos) << result.out;
}

TEST_F(RunCommand, CoresOfAHotCardTakeLonger) {
  const auto duration = [this](const std::vector<std::string>& fault) {
    std::vector<std::string> words{"--config",       "910b2", "run",      "matmul_kernel", "--set",
                                   "functional=off", "--set", "m=512",    "--set",         "n=512",
                                   "--set",          "k=512", "--report", "hot.json"};
    words.insert(words.end(), fault.begin(), fault.end());
    good(npusim(words));
    const auto report = nlohmann::json::parse(text("hot.json"));
    for (const auto& metric : report["metrics"]) {
      if (metric["name"] == "matmul_kernel.duration_us") return metric["value"].get<double>();
    }
    ADD_FAILURE() << "no matmul_kernel.duration_us";
    return 0.0;
  };
  const auto usual = duration({});
  const auto hot = duration({"--fault", "thermal_throttling,clock=25"});
  // What does not go by the cores' clock, as memory and set-up, takes what it took.
  EXPECT_GT(hot, 1.5 * usual);
  EXPECT_LT(hot, 4 * usual);
}

TEST_F(RunCommand, FirmwareThatHangsIsMetAtADeadlineOrDelaysTheRun) {
  const auto run = [this](const std::string& workload, const std::string& fault) {
    auto words =
        std::vector<std::string>{"--config", "910b2", "run", workload, "--report", "r.json"};
    if (!fault.empty()) words.insert(words.end(), {"--fault", fault});
    return npusim(words);
  };
  const auto ended = [this] {
    return nlohmann::json::parse(text("r.json"))["simulated_ps"].get<std::uint64_t>();
  };
  for (const auto& [workload, kind, waiter] :
       {std::array{"graph", "hung_aicpu", "timeout: queue 1"},
        std::array{"svm_fault", "hung_control_processor",
                   "timeout: the pager takes no messages"}}) {
    good(run(workload, ""));
    const auto usual = ended();
    good(run(workload, std::string(kind) + ",for=3ms"));
    EXPECT_GT(ended(), usual) << workload;
    const auto failed = run(workload, kind);
    EXPECT_EQ(failed.exit_code, 1) << workload;
    EXPECT_NE(failed.err.find(waiter), std::string::npos) << failed.err;
  }
}

TEST_F(RunCommand, ShowsNoProgressWhereNoTerminalIs) {
  EXPECT_EQ(npusim(kShortRun).err, "");
}

// Task, argument, stage and the one value of all elements of each copy.
std::vector<std::string> copies(const std::string& index, const std::string& data) {
  std::vector<std::string> found;
  const auto parsed = nlohmann::json::parse(index);
  for (const auto& copy : parsed["tensors"]) {
    const auto begin = data.begin() + copy["offset"].get<std::ptrdiff_t>();
    std::vector<float> values(copy["elements"].get<std::size_t>());
    EXPECT_EQ(copy["bytes"], values.size() * sizeof(float));
    EXPECT_EQ(copy["type"], "fp32");
    std::copy_n(begin, values.size() * sizeof(float), reinterpret_cast<char*>(values.data()));
    EXPECT_EQ(values, std::vector<float>(128 * 128, values.at(0))) << copy;
    found.push_back(copy["name"].get<std::string>() + " " + copy["tensor"].get<std::string>() +
                    " " + copy["stage"].get<std::string>() + " " +
                    std::to_string(std::lround(values[0])));
  }
  return found;
}

TEST_F(RunCommand, WritesWhatEachTaskOfAGraphReadsAndWrites) {
  const auto result =
      good(npusim({"--config", "910b2", "run", "graph", "--set", "dump_tensors=t.json"}));
  EXPECT_EQ(nlohmann::json::parse(text("t.json"))["data"], "t.json.bin");
  EXPECT_THAT(copies(text("t.json"), text("t.json.bin")),
              testing::ElementsAre("sum a before_dispatch 2", "sum b before_dispatch 3",
                                   "sum c after_completion 5", "left c before_dispatch 5",
                                   "left d after_completion 6", "right c before_dispatch 5",
                                   "right e after_completion 7", "product d before_dispatch 6",
                                   "product e before_dispatch 7", "product f after_completion 42"));
  EXPECT_NE(result.out.find("10 copies of tensors in t.json"), std::string::npos) << result.out;
}

double metric(const std::string& text, const std::string& name) {
  const auto report = nlohmann::json::parse(text);
  for (const auto& each : report["metrics"]) {
    if (each["name"] == name) return each["value"].get<double>();
  }
  ADD_FAILURE() << "no metric " << name;
  return 0;
}

// Tiles of 16 x 64 fp16, in an L1 that has room for half of one.
TEST_F(RunCommand, AKernelAtFaultIsNamedWithBlockCoreInstructionAndOperand) {
  const auto run = npusim({"--config", "910b2", "run", "matmul_kernel", "--set", "m=64", "--set",
                           "n=64", "--set", "k=64", "--set", "core.l1_kib=1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err,
            "npusim: matmul_kernel: device fault: kernel matmul: entry 1: access beyond a local "
            "buffer, block 0, core 0, MTE2 instruction 1, to: offset 0x0 in L1, 2048 bytes\n");
}

TEST_F(RunCommand, TheReferenceCostsOfTheMissionComeOut) {
  ASSERT_EQ(npusim(with(kShortRun, {"--report", "r.json"})).exit_code, 0);
  for (const auto* copy : {"h2d", "d2h", "d2d"}) {
    const std::string prefix = std::string("dma.") + copy + ".4KiB.breakdown.";
    EXPECT_NEAR(metric(text("r.json"), prefix + "entry_store_ns"), 150.0, 1.5);
    EXPECT_NEAR(metric(text("r.json"), prefix + "doorbell_ns"), 30.0, 0.3);
    EXPECT_NEAR(metric(text("r.json"), prefix + "engine_start_ns"), 200.0, 2.0);
  }
}

TEST_F(RunCommand, ALongerLinkMovesTheEntryStoreByJustThat) {
  ASSERT_EQ(npusim(with(kShortRun, {"--report", "a.json"})).exit_code, 0);
  ASSERT_EQ(
      npusim(with(kShortRun, {"--set", "link.propagation_ns=180", "--report", "b.json"})).exit_code,
      0);
  const std::string name = "dma.h2d.4KiB.breakdown.entry_store_ns";
  // 80 ns is what 910b.yaml has.
  EXPECT_NEAR(metric(text("b.json"), name) - metric(text("a.json"), name), 100.0, 0.001);
}

}  // namespace
}  // namespace npu::cli
