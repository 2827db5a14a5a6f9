// SPDX-License-Identifier: Apache-2.0
// npusim serve as a program; what it serves is tests/contract's.
#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class Serve : public Program {
 protected:
  // Serves until it is told to end, once it listens on `card.sock` in the test's folder.
  Result until_told(const std::string& options, const std::string& signal) {
    return shell("{ " + binary_dir() + "/bin/npusim --config 910b serve --socket card.sock " +
                 options +
                 " & server=$!; for i in $(seq 100); do [ -S card.sock ] && break; sleep 0.1; done;"
                 "kill -s " +
                 signal + " $server; wait $server; }");
  }
};

TEST_F(Serve, EndsWithAReportWhenItIsToldTo) {
  for (const auto* signal : {"INT", "TERM"}) {
    const auto result = until_told("--report r.json", signal);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("serving 01:00.0 on card.sock\n"), std::string::npos);
    const auto report = nlohmann::json::parse(text("r.json"));
    EXPECT_EQ(report["schema"], "npusim.report/3");
    EXPECT_EQ(report["workload"], "serve");
    EXPECT_FALSE(std::filesystem::exists(path("card.sock")));
  }
}

TEST_F(Serve, RecordsWhatTheMachineDoes) {
  const auto result = until_told(
      "--report r.json --profile --trace t.json --vcd v.vcd --trace-unit hbm --trace-unit nobody",
      "TERM");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto trace = nlohmann::json::parse(text("t.json"));
  EXPECT_EQ(trace["otherData"]["workload"], "serve");
  EXPECT_TRUE(nlohmann::json::parse(text("r.json")).contains("utilisation"));
  EXPECT_FALSE(text("v.vcd").empty());
  EXPECT_EQ(result.err, "npusim: --trace-unit nobody: nothing of that name has done anything\n");
}

TEST_F(Serve, SimulatedTimeStandsStillWhileNobodyAsksForAnything) {
  const auto first = until_told("--report r.json", "TERM");
  const auto one = nlohmann::json::parse(text("r.json"))["simulated_ps"];
  until_told("--report r.json", "TERM");
  EXPECT_EQ(one, nlohmann::json::parse(text("r.json"))["simulated_ps"]);
}

TEST_F(Serve, RefusesWhatItCannotServe) {
  expect_refused({"--config", "910b", "serve"},
                 "serve: give --socket PATH, --ecam PATH, --management PATH or --metrics SOCKET");
  expect_refused({"--config", "910b", "serve", "--socket", "a", "--socket", "b"},
                 "--socket b: the machine has 1 card");
  expect_refused({"--config", "910b", "serve", "--socket", "a=1:2:3"},
                 "--socket a=1:2:3: '1:2:3' is no function; give BB:DD.F");
  expect_refused({"--config", "910b", "serve", "--socket", "a=05:00.0"},
                 "--socket a: not found: no function at 05:00.0");
  expect_refused({"--config", "910b2", "serve", "--socket", "a=01:02.0"},
                 "--socket a: 01:02.0 is a virtual function that nobody has made; see "
                 "--virtual-functions");
  expect_refused({"--config", "910b2", "serve", "--socket", "a=01:02"},
                 "--socket a=01:02: '01:02' is no function; give BB:DD.F");
  const auto same =
      npusim({"--config", "910b2", "serve", "--virtual-functions", "vir06_1c_16g", "--socket",
              path("a") + "=01:02.0", "--socket", path("b") + "=01:02.0"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_NE(same.err.find("01:02.0 has a socket already"), std::string::npos) << same.err;
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  expect_refused({"--config", "910b", "serve", "--socket", "a", "--ecam", "b"},
                 "serve: --ecam gives all functions away; not together with --socket");
  const auto twice = npusim(
      {"--config", "910b", "serve", "--socket", path("a"), "--socket", path("b") + "=01:00.0"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("01:00.0 has a socket already"), std::string::npos) << twice.err;
  expect_refused({"--config", "910b", "serve", "--socket", "a", "--pace", "slow"},
                 "--pace: found 'slow'; allowed: fast, wall");
}

TEST_F(Serve, LeavesAFileThatIsNoSocketAlone) {
  write("card.sock", "mine");
  const auto result = npusim({"--config", "910b", "serve", "--socket", path("card.sock")});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_EQ(text("card.sock"), "mine");
}

}  // namespace
}  // namespace npu::cli
