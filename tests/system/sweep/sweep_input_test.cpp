// SPDX-License-Identifier: Apache-2.0
// Everything that is wrong with a sweep is said before its first run, with its place.
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class SweepInput : public Program {
 protected:
  // `lines` behind a head of three; nothing may be made.
  void expect_mistake(const std::string& lines, const std::string& line) const {
    write("s.yaml", "schema: npusim.sweep/1\nname: r\nworkload: dma_latency\n" + lines);
    expect_refused({"sweep", "s.yaml"}, "s.yaml:" + line);
    EXPECT_FALSE(std::filesystem::exists(path("r"))) << lines;
  }
};

TEST_F(SweepInput, KeysAndValuesAreThoseOfRun) {
  const std::string head = "configuration: 910b\n";
  expect_mistake(
      head + "grid: {size: [64B]}\n",
      "5:8: size: neither a parameter of dma_latency nor a key of the configuration; did "
      "you mean 'sizes'?");
  expect_mistake(head + "grid: {sizes: [64B, 4KB]}\n",
                 "5:21: sizes: found '4KB'; allowed: sizes such as 512B,4KiB or 4KiB..1MiB, "
                 "1B..1GiB");
  expect_mistake(head + "grid: {directions: [h2d, up]}\n",
                 "5:26: directions=up: 'up' is none of h2d, d2h, d2d");
  expect_mistake(head + "grid: {link.generation: [4, 9]}\n",
                 "5:29: link.generation: found '9'; allowed: 1..5");
  expect_mistake(
      "configuration: [910b, 910x]\n",
      "4:23: configuration: no configuration '910x'; allowed: 910, 910a, 910b, 910b1, "
      "910b2, 910b3, 910b4, 910c, 950, 950dt, 950pr, host, host-super-node, s, single-card, "
      "system-16x910b2, system-16x910c, system-2x910b2, system-2x910c, system-384x910c, ...; did "
      "you mean '910'?");
}

TEST_F(SweepInput, AWorkloadThatIsNotThereHasItsPlace) {
  write("s.yaml", "schema: npusim.sweep/1\nname: r\nworkload: dma_latenzy\nconfiguration: 910b\n");
  expect_refused({"sweep", "s.yaml"},
                 "s.yaml:3:11: workload: no workload 'dma_latenzy'; did you mean 'dma_latency'?");
}

TEST_F(SweepInput, NoPointIsThereTwice) {
  expect_mistake("configuration: 910b\ngrid: {sizes: [4KiB, 64B, 4096]}\n",
                 "5:27: point 2 (sizes=4096): is the same run as point 0 (sizes=4KiB)");
  expect_mistake(
      "configuration: 910b\ngrid: {generation: 4}\nlist: [{link.generation: 5}]\n",
      "6:9: link.generation: is varied twice: the list's entries are combined with every "
      "point of the grid, so each key belongs to one of them");
  expect_mistake("configuration: 910b\nseeds: [1, 2, 1]\n",
                 "5:15: point 2 (seed=1): is the same run as point 0 (seed=1)");
}

TEST_F(SweepInput, AConfigurationThatIsThereByTwoNamesIsFound) {
  expect_mistake("configuration: [910b, 910b.yaml]\n",
                 "4:23: point 1 (configuration=910b.yaml): is the same run as point 0 "
                 "(configuration=910b)");
}

TEST_F(SweepInput, AnObjectiveThatIsAnAxisIsANumber) {
  expect_mistake(
      "configuration: 910b\ngrid: {directions: [h2d, d2h]}\nobjectives: {directions: min}\n",
      "6:14: objectives.directions: 'h2d' is no number");
}

TEST_F(SweepInput, AMetricIsNotGivenTheNameOfAnotherColumn) {
  for (const std::string name : {"sizes", "configuration", "seed", "status", "pareto"}) {
    const auto column = std::to_string(13 + name.size());
    expect_mistake(
        "configuration: 910b\ngrid: {sizes: [64B, 4KiB]}\nmetrics: {" + name +
            ": \"*.latency_ns\"}\n",
        "6:" + column + ": metrics." + name + ": the table has a column of that name already");
  }
}

TEST_F(SweepInput, AMetricIsAPattern) {
  const std::string line = "metrics: found ''; allowed: a pattern of names of metrics";
  expect_mistake("configuration: 910b\nmetrics: ''\n", "5:10: " + line);
  expect_mistake("configuration: 910b\nmetrics: {latency: ''}\n", "5:20: " + line);
}

TEST_F(SweepInput, ACardThatTheMachineHasNotIsFound) {
  expect_mistake("configuration: 910b\ngrid: {card: [0, 1]}\n",
                 "5:18: point 1 (card=1): card=1: the machine has cards 0..0");
}

TEST_F(SweepInput, OptionsThatDoNotGoTogetherAreRefused) {
  write("s.yaml", "schema: npusim.sweep/1\nname: r\nworkload: enumerate\nconfiguration: 910b\n");
  expect_refused({"sweep"}, "sweep: give a file; see npusim sweep --help");
  expect_refused({"sweep", "s.yaml", "t.yaml"}, "sweep: unexpected 't.yaml'");
  expect_refused({"sweep", "none.yaml"}, "none.yaml: no such file");
  expect_refused({"sweep", "s.yaml", "--jobs", "0"}, "--jobs: found '0'; allowed: 1..4096");
  expect_refused({"sweep", "s.yaml", "--point", "1"}, "--point: found '1'; allowed: 0..0");
  expect_refused({"sweep", "s.yaml", "--collect", "--slurm"},
                 "sweep: only one of --point, --print-commands, --slurm and --collect");
  expect_refused({"sweep", "s.yaml", "--collect", "--jobs", "2"},
                 "sweep: --jobs is of a sweep that runs all points itself");
  expect_refused({"sweep", "s.yaml", "--seed", "2"}, "option '--seed' does not belong to 'sweep'");
  expect_refused({"sweep", "s.yaml", "--output", "."},
                 ".: is not empty and holds no results of a sweep; --output DIR takes another");
}

TEST_F(SweepInput, MetricsThatNoReportHasAreFoundAfterTheRuns) {
  write("s.yaml",
        "schema: npusim.sweep/1\nname: r\nworkload: enumerate\nconfiguration: 910b\n"
        "metrics: [\"*.nothing\"]\n");
  const auto result = npusim({"sweep", "s.yaml"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "r: 1 of 1 points done\nr: sweep.csv, sweep.json, sweep.html\n");
  EXPECT_NE(result.err.find("npusim: s.yaml:5:11: metrics: no report has a metric '*.nothing'; "
                            "allowed: names of metrics in the reports\n"),
            std::string::npos)
      << result.err;
}

TEST_F(SweepInput, BranchesOfARunAreChecked) {
  const std::vector<std::string> run{"--config", "910b2", "run", "dma_latency", "--branches", "b"};
  const auto expect = [&](const std::string& file, const std::vector<std::string>& more,
                          const std::string& line) {
    write("b", file);
    auto words = run;
    words.insert(words.end(), more.begin(), more.end());
    expect_refused(words, line);
  };
  const std::string good = R"([{"sets": ["sizes=64"], "report": "r", "log": "l"}])";
  expect("[]", {}, "b: found an array; allowed: an array of branches");
  expect(R"([{"sets": ["sizes=x"], "report": "r", "log": "l"}])", {},
         "--branches: --set sizes=x: sizes: found 'x'; allowed: sizes such as 512B,4KiB or "
         "4KiB..1MiB, 1B..1GiB");
  for (const std::string other : {"m=1", "link.generation=4"}) {
    expect(R"([{"sets": [")" + other + R"("], "report": "r", "log": "l"}])", {},
           "--branches: --set " + other + ": no parameter of dma_latency, and not set for the run");
  }
  expect(good, {"--report", "x"},
         "--branches: each branch writes its own report; there is no --report, --html, "
         "--config-out, --trace or --vcd");
  expect(good, {"--jobs", "0"}, "--jobs: found '0'; allowed: 1..4096");
  expect_refused({"--config", "910b2", "run", "dma_latency", "--jobs", "2"},
                 "run: --jobs is of --branches");
}

}  // namespace
}  // namespace npu::cli
