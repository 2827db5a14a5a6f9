// SPDX-License-Identifier: Apache-2.0
// A run that is ended from outside, or fails: what is known by then is written, and says so.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

const std::string kProgram = binary_dir() + "/bin/npusim ";
// Takes minutes if nobody ends it.
const std::string kLong =
    kProgram + "--config 910b2 run ring_pressure --set commands=100000000 --set cell=64 ";

class Interrupt : public Program {
 protected:
  // Sends `signal` a `delay` after the run has begun, which c.yaml tells; the exit code is the
  // run's.
  Result end_by(const std::string& command, const std::string& signal,
                const std::string& delay) const {
    std::filesystem::remove(path("c.yaml"));
    return shell("{ env --default-signal " + command +
                 " --config-out c.yaml & run=$!; while [ ! -e c.yaml ] && kill -0 $run; do sleep "
                 "0.01; done; sleep " +
                 delay + "; kill -" + signal + " $run 2>/dev/null; wait $run; }");
  }
  void expect_partial(const std::string& file, const std::string& out) const {
    EXPECT_EQ(nlohmann::json::parse(text(file))["outcome"], "interrupted");
    EXPECT_NE(out.find("\nnot complete: interrupted\n"), std::string::npos) << out;
    const auto again = good(npusim({"report", file}));
    EXPECT_EQ(again.out, out);
  }
};

TEST_F(Interrupt, GivesAPartialReportAndTheExitCodeOfItsSignal) {
  for (const auto& [signal, code] : {std::pair{"INT", 130}, {"TERM", 143}, {"HUP", 129}}) {
    const auto result = end_by(kLong + "--report r.json", signal, "0.5");
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(result.err.rfind(
                  fmt::format("npusim: ring_pressure: interrupted by SIG{} after ", signal), 0),
              0U)
        << result.err;
    expect_partial("r.json", result.out);
    EXPECT_GT(nlohmann::json::parse(text("r.json"))["simulated_ps"], 0);
    std::filesystem::remove(path("r.json"));
  }
}

TEST_F(Interrupt, AllFilesHoldWhatIsKnown) {
  const auto result =
      end_by(kLong +
                 "--report r.json --html r.html --trace t.json --vcd t.vcd --trace-window "
                 "0us..100us",
             "INT", "1");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  expect_partial("r.json", result.out);
  EXPECT_NE(text("r.html").find("interrupted"), std::string::npos);
  const auto trace = nlohmann::json::parse(text("t.json"));
  EXPECT_EQ(trace["otherData"]["outcome"], "interrupted");
  EXPECT_FALSE(trace["traceEvents"].empty());
  EXPECT_NE(text("t.vcd").find("$comment not complete: interrupted $end"), std::string::npos);
  EXPECT_NE(text("t.vcd").find("$enddefinitions"), std::string::npos);
}

TEST_F(Interrupt, EndsAnOperatorsCompilerAndLeavesNothingOfIt) {
  write("compiler",
        "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho $$ > p; mv p pid; exec sleep 100000\n");
  const auto result = shell(
      "chmod +x compiler && mkdir tmp && { TMPDIR=$PWD/tmp NPUSIM_JIT_CACHE_DIR=$PWD/cache "
      "NPUSIM_JIT_CXX=$PWD/compiler env --default-signal " +
      kProgram +
      "--config 910b2 run operator --set cache=folder --report r.json & run=$!; while [ ! -e pid ] "
      "&& kill -0 $run; do sleep 0.01; done; kill -INT $run; wait $run; code=$?; kill -0 $(cat "
      "pid) "
      "2>/dev/null && exit 1; [ -z \"$(find cache tmp -type f)$(ls tmp)\" ] || exit 2; exit $code; "
      "}");
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(result.err.rfind("npusim: operator: interrupted by SIGINT after ", 0), 0U)
      << result.err;
  expect_partial("r.json", result.out);
}

TEST_F(Interrupt, ThatTheCallerIgnoresIsIgnored) {
  good(shell("{ trap '' INT; " + kProgram +
             "--config 910b2 run dma_latency --report r.json & run=$!; sleep 0.1; "
             "kill -INT $run; wait $run; }"));
  EXPECT_EQ(nlohmann::json::parse(text("r.json"))["outcome"], "complete");
}

TEST_F(Interrupt, OfAnyWorkloadAtAnyMomentLeavesAReportThatCanBeRead) {
  std::mt19937 random(7);  // when it hits is not the same anyway
  std::istringstream names(npusim({"list", "--names"}).out);
  for (std::string name; std::getline(names, name);) {
    const auto delay = fmt::format("0.{:03}", random() % 700);
    const bool pair = name == "p2p_bandwidth" || name == "collective" || name == "moe_exchange";
    const std::string machine = pair ? "system-2x910b2 " : "910b2 ";
    const std::string model = name == "network"
                                  ? " --set model=/usr/share/libonnx-testdata/data/node/"
                                    "test_gemm_all_attributes/model.onnx"
                                  : "";
    const auto result = end_by(
        kProgram + "--config " + machine + "run " + name + model + " --profile --report r.json",
        "INT", delay);
    SCOPED_TRACE(name + " after " + delay);
    ASSERT_TRUE(result.exit_code == 130 || result.exit_code == 0) << result.err;
    if (result.exit_code == 130) expect_partial("r.json", result.out);
    std::filesystem::remove(path("r.json"));
  }
}

TEST_F(Interrupt, ARunThatFailsTellsWhatItKnows) {
  const auto result =
      npusim({"--config", "910b2", "run", "matmul_kernel", "--set", "m=64", "--set", "n=64",
              "--set", "k=64", "--set", "core.l1_kib=1", "--report", "r.json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto report = nlohmann::json::parse(text("r.json"));
  const std::string line = result.err.substr(8, result.err.size() - 9);  // behind "npusim: "
  EXPECT_EQ(report["outcome"], "failed: " + line);
  EXPECT_FALSE(report["counters"].empty());
  EXPECT_EQ(npusim({"report", "r.json"}).out, result.out);
}

TEST_F(Interrupt, WhatIsRefusedLeavesNoReport) {
  const auto result = npusim(
      {"--config", "910b2", "run", "vmm_map", "--set", "sizes=128GiB", "--report", "r.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("r.json")));
}

TEST_F(Interrupt, WatchingNeedsATerminal) {
  expect_refused({"--config", "910b2", "run", "enumerate", "--watch"},
                 "--watch: standard error is no terminal");
}

}  // namespace
}  // namespace npu::cli
