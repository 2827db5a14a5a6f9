// SPDX-License-Identifier: Apache-2.0
// The file of a timeline: same bytes every time, packed or not, complete or not there.
#include "tests/system/timeline/traced_run.hpp"

namespace npu::cli {
namespace {

using TraceFile = TracedRun;

TEST_F(TraceFile, IsTheSameEveryTimePackedOrNot) {
  for (const char* name : {"a.json", "b.json", "c.json.gz", "d.json.gz"}) {
    run("910b2", "graph", {}, {"--trace", name});
  }
  EXPECT_EQ(shell("cmp a.json b.json && cmp c.json.gz d.json.gz").exit_code, 0);
  EXPECT_EQ(shell("gunzip c.json.gz && mv c.json c && cmp a.json c").exit_code, 0);
  EXPECT_GT(text("a.json").size(), 10'000U);
}

TEST_F(TraceFile, OnAFullDiskEndsInOneLine) {
  for (const char* name : {"/dev/full", "full.json.gz"}) {
    shell("ln -s /dev/full full.json.gz");
    const auto result =
        npusim({"--config", "910b2", "run", "dma_latency", "--set", "sizes=64", "--trace", name});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, std::string("npusim: --trace ") + name +
                              ": cannot be written: No space left on device\n");
  }
}

TEST_F(TraceFile, OnAFullDiskDoesNotCostTheReport) {
  const auto result = npusim({"--config", "910b2", "run", "enumerate", "--trace", "/dev/full",
                              "--report", "r.json", "--html", "r.html"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out.rfind("enumerate on 910b2", 0), 0U) << result.out;
  EXPECT_EQ(npusim({"report", "r.json"}).out, result.out);
  EXPECT_NE(text("r.html"), "");
}

TEST_F(TraceFile, InNoFolderCostsNoRun) {
  expect_refused({"--config", "910b2", "run", "enumerate", "--trace", "no/such/folder.json"},
                 "--trace no/such/folder.json: cannot be written: No such file or directory");
}

// What stands there before is whole until the new one is.
TEST_F(TraceFile, LeavesTheOldOneWhenTheRunFails) {
  write("t.json", "old");
  const auto result =
      npusim({"--config", "910b2", "run", "matmul", "--set", "m=99999999999", "--trace", "t.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(text("t.json"), "old");
}

TEST_F(TraceFile, HasNoFilterThatIsNone) {
  const std::string allowed_window =
      "; allowed: FROM..TO, FROM.. or ..TO with FROM before TO, such as 10us..2.5ms; units ps, ns, "
      "us, ms, s";
  for (const std::string window : {"..", "5us", "2us..1us", "1us..1us", "1h..", "-1us..", "1..2"}) {
    expect_refused(
        {"--config", "910b2", "run", "enumerate", "--trace", "t.json", "--trace-window", window},
        "--trace-window: found '" + window + "'" + allowed_window);
  }
  expect_refused(
      {"--config", "910b2", "run", "enumerate", "--trace", "t.json", "--trace-window", ""},
      "--trace-window: no times");
  expect_refused({"--config", "910b2", "run", "enumerate", "--trace", "t.json", "--trace-unit",
                  "dma", "--trace-unit", ""},
                 "--trace-unit: no name");
  for (const std::string cause : {"dma0", "dma:1", "queue0:1", "task0.1", "5", "dma0:-1"}) {
    expect_refused(
        {"--config", "910b2", "run", "enumerate", "--trace", "t.json", "--trace-cause", cause},
        "--trace-cause: found '" + cause + "'; allowed: dma0:17, queue0.3:5, task0.2:9");
  }
}

// A run that is refused has not begun; of one that failed there is a timeline.
TEST_F(TraceFile, OfWhatIsRefusedIsNotThere) {
  const auto result = npusim({"--config", "910b2", "run", "p2p_bandwidth", "--trace", "t.json",
                              "--vcd", "t.vcd", "--report", "r.json"});
  EXPECT_EQ(result.exit_code, 2);
  for (const char* name : {"t.json", "t.vcd", "r.json"}) {
    EXPECT_FALSE(std::filesystem::exists(path(name))) << name;
  }
}

TEST_F(TraceFile, IsWhatFiltersAreOf) {
  expect_refused({"--config", "910b2", "run", "enumerate", "--trace-unit", "dma"},
                 "--trace-unit says what of --trace or --vcd");
}

}  // namespace
}  // namespace npu::cli
