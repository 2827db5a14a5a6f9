// SPDX-License-Identifier: Apache-2.0
// `npusim sweep` as its user meets it: the same table however the points were run, nothing lost and
// nothing half-written taken for complete, whatever ended it.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Eight points of tens of milliseconds each.
const char* const kSweep =
    "schema: npusim.sweep/1\nname: latency\nworkload: dma_latency\nconfiguration: 910b\n"
    "grid:\n  sizes: [64B, 4KiB]\n  directions: h2d\n  link.generation: [4, 5]\nseeds: [1, 2]\n"
    "metrics: {latency_ns: \"*.latency_ns\"}\nobjectives: {latency_ns: min, sizes: max}\n";

class Sweep : public Program {
 protected:
  Sweep() { write("s.yaml", kSweep); }

  // Of a results directory: each point's report by the name of its folder.
  std::map<std::string, std::string> reports(const std::string& results) const {
    std::map<std::string, std::string> found;
    for (const auto& folder : fs::directory_iterator(path(results + "/points"))) {
      const std::string name = folder.path().filename().string();
      const std::string report = results + "/points/" + name + "/report.json";
      if (fs::exists(path(report))) found[name] = text(report);
    }
    return found;
  }
  // Starts the sweep as $sweep and goes on with `then`.
  Result in_background(const std::string& options, const std::string& then) const {
    return shell("{ " + binary_dir() + "/bin/npusim sweep s.yaml " + options + " & sweep=$!; " +
                 then + "; }");
  }
  static std::string until_reports(int number) {
    return "until [ $(ls latency/points/*/report.json 2>/dev/null | wc -l) -ge " +
           std::to_string(number) + " ]; do sleep 0.01; done; ";
  }
  std::string name_of_point(const std::string& results, std::size_t number) const {
    return nlohmann::json::parse(text(results + "/sweep.json"))["points"][number]["name"];
  }
};

TEST_F(Sweep, HasALinePerPointInTheOrderOfTheGrid) {
  const auto result = good(npusim({"sweep", "s.yaml"}));
  EXPECT_EQ(result.out,
            "latency: 8 of 8 points done\nlatency: sweep.csv, sweep.json, sweep.html\n");
  std::istringstream table(text("latency/sweep.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "configuration,sizes,directions,link.generation,seed,status,pareto,latency_ns");
  for (const auto* size : {"64", "4096"}) {
    for (const auto* generation : {"4", "5"}) {
      for (const auto* seed : {"1", "2"}) {
        std::getline(table, line);
        const std::string begin =
            std::string("910b,") + size + ",h2d," + generation + "," + seed + ",done,";
        EXPECT_EQ(line.substr(0, begin.size()), begin);
      }
    }
  }
  EXPECT_FALSE(std::getline(table, line));
}

TEST_F(Sweep, ThePageHoldsTheResults) {
  ASSERT_EQ(npusim({"sweep", "s.yaml"}).exit_code, 0);
  const auto results = nlohmann::json::parse(text("latency/sweep.json"));
  EXPECT_EQ(results["points"].size(), 8U);
  const std::string page = text("latency/sweep.html");
  EXPECT_THAT(page, HasSubstr("npusim.sweep_results/1"));
  for (const auto& point : results["points"]) {
    EXPECT_THAT(page, HasSubstr(point["name"].get<std::string>()));
  }
}

TEST_F(Sweep, APointsReportIsThatOfTheRun) {
  ASSERT_EQ(npusim({"sweep", "s.yaml"}).exit_code, 0);
  ASSERT_EQ(npusim({"--config", "910b", "run", "dma_latency", "--set", "sizes=4KiB", "--set",
                    "directions=h2d", "--set", "link.generation=5", "--seed", "2", "--report",
                    "run.json"})
                .exit_code,
            0);
  EXPECT_EQ(text("latency/points/" + name_of_point("latency", 7) + "/report.json"),
            text("run.json"));
}

TEST_F(Sweep, TheTableIsTheSameWhoeverRunsThePointsAndInWhichOrder) {
  ASSERT_EQ(npusim({"sweep", "s.yaml", "--output", "one", "--jobs", "1"}).exit_code, 0);
  ASSERT_EQ(npusim({"sweep", "s.yaml", "--output", "two", "--jobs", "2"}).exit_code, 0);
  for (int point = 7; point >= 0; --point) {
    good(npusim({"sweep", "s.yaml", "--output", "three", "--point", std::to_string(point)}));
  }
  ASSERT_EQ(npusim({"sweep", "s.yaml", "--output", "three", "--collect"}).exit_code, 0);
  ASSERT_EQ(reports("one").size(), 8U);
  for (const auto* results : {"two", "three"}) {
    EXPECT_EQ(text(std::string(results) + "/sweep.csv"), text("one/sweep.csv"));
    EXPECT_EQ(text(std::string(results) + "/sweep.json"), text("one/sweep.json"));
    EXPECT_EQ(text(std::string(results) + "/sweep.html"), text("one/sweep.html"));
    EXPECT_EQ(reports(results), reports("one"));
  }
}

TEST_F(Sweep, GoesOnAfterItWasKilledAndKeepsWhatWasDone) {
  const auto killed = in_background(
      "--jobs 2",
      until_reports(2) +
          "runs=$(cat /proc/$sweep/task/$sweep/children); kill -9 $sweep; wait $sweep; "
          "for run in $runs; do n=0; while grep -qs 'State:.*[RSD]' /proc/$run/status; do "
          "sleep 0.01; n=$((n + 1)); [ $n -lt 1000 ] || exit 99; done; done");
  ASSERT_NE(killed.exit_code, 99) << "runs went on";
  const auto before = reports("latency");
  ASSERT_GE(before.size(), 2U);
  ASSERT_LT(before.size(), 8U) << "it was too quick to be interrupted";
  std::map<std::string, fs::file_time_type> times;
  for (const auto& [name, report] : before) {
    times[name] = fs::last_write_time(path("latency/points/" + name + "/report.json"));
  }
  good(npusim({"sweep", "s.yaml"}));
  for (const auto& [name, time] : times) {
    EXPECT_EQ(fs::last_write_time(path("latency/points/" + name + "/report.json")), time);
  }
  ASSERT_EQ(npusim({"sweep", "s.yaml", "--output", "whole"}).exit_code, 0);
  EXPECT_EQ(text("latency/sweep.csv"), text("whole/sweep.csv"));
  EXPECT_EQ(reports("latency"), reports("whole"));
  EXPECT_EQ(shell("find latency -name '.npusim-*' -o -name running.json").out, "");
}

TEST_F(Sweep, AReportThatWasCutOrSwappedIsMadeAnew) {
  ASSERT_EQ(npusim({"sweep", "s.yaml"}).exit_code, 0);
  const auto whole = reports("latency");
  const std::string first = "latency/points/" + name_of_point("latency", 0) + "/report.json";
  const std::string second = "latency/points/" + name_of_point("latency", 1) + "/report.json";
  fs::resize_file(path(first), 1000);
  fs::copy_file(path("latency/points/" + name_of_point("latency", 2) + "/report.json"),
                path(second), fs::copy_options::overwrite_existing);
  EXPECT_EQ(npusim({"sweep", "s.yaml", "--collect"}).exit_code, 1);
  EXPECT_EQ(npusim({"sweep", "s.yaml", "--print-commands"}).out.find("--point 2"),
            std::string::npos);
  ASSERT_EQ(npusim({"sweep", "s.yaml"}).exit_code, 0);
  EXPECT_EQ(reports("latency"), whole);
}

TEST_F(Sweep, ARunThatFailsIsRecordedAndTheOthersGoOn) {
  write("f.yaml",
        "schema: npusim.sweep/1\nname: f\nworkload: p2p_bandwidth\nconfiguration: "
        "system-2x910b2\ngrid: {cards: [2, 3], sizes: 64KiB, bytes: 64KiB}\n");
  const auto result = npusim({"sweep", "f.yaml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("point 1 (cards=3, sizes=64KiB, bytes=64KiB) failed, exit code 2: npusim: "
                        "p2p_bandwidth: cards=3: the machine has 2"));
  EXPECT_THAT(result.err, HasSubstr("npusim: f: 1 of 2 points failed, first point 1 ("));
  const auto point = nlohmann::json::parse(text("f/sweep.json"))["points"][1];
  EXPECT_EQ(point["status"], "failed");
  EXPECT_EQ(point["exit_code"], 2);
  EXPECT_THAT(text("f/sweep.csv"), HasSubstr("\nsystem-2x910b2,3,65536,65536,1,failed,"));
}

// The reports are those of runs that begin by themselves, and what differs is read late.
TEST_F(Sweep, PointsThatDifferInParametersAloneShareTheirBeginning) {
  write("t.yaml",
        "schema: npusim.sweep/1\nname: t\nworkload: transformer\nconfiguration: 910b2\n"
        "grid: {tokens: 16, positions: 128, functional: off, steps: [1, 2, 3]}\n");
  good(npusim({"sweep", "t.yaml", "--jobs", "2"}));
  for (int point = 0; point < 3; ++point) {
    good(npusim({"sweep", "t.yaml", "--output", "alone", "--point", std::to_string(point)}));
    const std::string folder = "t/points/" + name_of_point("t", static_cast<std::size_t>(point));
    EXPECT_THAT(text(folder + "/log"), testing::MatchesRegex("npusim: 3 runs part at [0-9.]+ .s, "
                                                             "where steps is read\n"));
  }
  ASSERT_EQ(reports("t").size(), 3U);
  EXPECT_EQ(reports("t"), reports("alone"));
}

TEST_F(Sweep, ARunThatFailsBeforeItPartsFailsAllItsPoints) {
  write("f.yaml",
        "schema: npusim.sweep/1\nname: f\nworkload: transformer\nconfiguration: 910b2\n"
        "grid: {model: llama-3-70b, positions: 256, functional: off, steps: [1, 2]}\n");
  const auto result = npusim({"sweep", "f.yaml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("npusim: f: 2 of 2 points failed, first point 0 ("));
  EXPECT_THAT(result.err, HasSubstr("failed, exit code 2: npusim: transformer: "));
}

// A run that has ended on its own cannot be stopped before it is killed; another one follows.
TEST_F(Sweep, ARunThatIsKilledIsRunAgain) {
  const auto killed = in_background(
      "--jobs 1",
      "until grep -q '^State:.Z' /proc/$sweep/status; do "
      "for child in $(cat /proc/$sweep/task/$sweep/children 2>/dev/null); do "
      "kill -STOP $child 2>/dev/null && grep -q '^State:.T' /proc/$child/status 2>/dev/null && "
      "kill -9 $child && break 2; done; done; wait $sweep");
  EXPECT_EQ(killed.exit_code, 1);
  EXPECT_THAT(killed.err, HasSubstr("failed, exit code 137: ended by signal 9: Killed"));
  EXPECT_LT(reports("latency").size(), 8U);
  EXPECT_EQ(npusim({"sweep", "s.yaml"}).exit_code, 0);
  EXPECT_EQ(reports("latency").size(), 8U);
}

TEST_F(Sweep, ThatIsToldToEndSaysHowFarItCame) {
  const auto stopped =
      in_background("--jobs 1", until_reports(1) + "kill -TERM $sweep; wait $sweep");
  EXPECT_EQ(stopped.exit_code, 143);
  EXPECT_THAT(stopped.err, HasSubstr("npusim: latency: stopped by SIGTERM with "));
  EXPECT_LT(reports("latency").size(), 8U);
  EXPECT_EQ(shell("find latency -name '.npusim-*' -o -name running.json").out, "");
  EXPECT_EQ(npusim({"sweep", "s.yaml"}).exit_code, 0);
}

TEST_F(Sweep, ASecondOneInTheSameFolderIsTold) {
  const auto result = shell("mkdir -p latency/points && flock latency " + binary_dir() +
                            "/bin/npusim sweep s.yaml");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "npusim: latency: another npusim is at work there\n");
}

TEST_F(Sweep, JobsOfOtherEnginesMakeTheSame) {
  ASSERT_EQ(npusim({"sweep", "s.yaml"}).exit_code, 0);
  const auto commands =
      good(npusim({"sweep", "s.yaml", "--output", "jobs dir", "--print-commands"}));
  EXPECT_EQ(std::count(commands.out.begin(), commands.out.end(), '\n'), 8);
  write("commands", commands.out);
  ASSERT_EQ(shell("{ cd /; tac " + path("commands") + " | sed -n 1,5p | sh; }").exit_code, 0);
  // Slurm starts the script once for each task of the array.
  const auto script = good(npusim({"sweep", "s.yaml", "--output", "jobs dir", "--slurm"}));
  EXPECT_THAT(script.out, HasSubstr("#SBATCH --array=0-2\n"));
  write("script", script.out);
  for (const auto* task : {"2", "0", "1"}) {
    ASSERT_EQ(
        shell(std::string("{ cd /; SLURM_ARRAY_TASK_ID=") + task + " sh " + path("script") + "; }")
            .exit_code,
        0);
  }
  ASSERT_EQ(npusim({"sweep", "s.yaml", "--output", "jobs dir", "--collect"}).exit_code, 0);
  EXPECT_EQ(text("jobs dir/sweep.csv"), text("latency/sweep.csv"));
  EXPECT_EQ(npusim({"sweep", "s.yaml", "--output", "jobs dir", "--slurm"}).out, "");
}

}  // namespace
}  // namespace npu::cli
