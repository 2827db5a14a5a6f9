// SPDX-License-Identifier: Apache-2.0
// A report says what it is of: with it alone its run can be told from others and made again.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

using nlohmann::json;

class Identity : public Program {
 protected:
  json report_of(std::vector<std::string> arguments, const std::string& config = "910b2") const {
    arguments.insert(arguments.begin(), {"--config", config, "run"});
    arguments.insert(arguments.end(), {"--report", "r.json"});
    good(npusim(arguments));
    return json::parse(text("r.json"));
  }
  // The digest of a file as sha256sum prints it.
  std::string sha256sum(const std::string& file) const {
    return shell("sha256sum " + file).out.substr(0, 64);
  }
};

TEST_F(Identity, FiveGenerationsGiveFiveReportsThatSayWhich) {
  std::set<std::string> digests;
  for (int generation = 1; generation <= 5; ++generation) {
    const std::string given = "link.generation=" + std::to_string(generation);
    const auto report = report_of({"enumerate", "--set", given});
    const json expected{{{"given", given}, {"key", "link.generation"}, {"value", generation}}};
    EXPECT_EQ(report["overrides"], expected);
    digests.insert(report["config_sha256"]);
  }
  EXPECT_EQ(digests.size(), 5U);
}

TEST_F(Identity, TheTextBeginsWithTheOverrides) {
  const auto result = npusim({"--config", "910b2", "run", "enumerate", "--set", "generation=0x5",
                              "--set", "cpu.call_ns=150.50"});
  EXPECT_THAT(result.out, testing::MatchesRegex("enumerate on 910b2, seed 1, .* us simulated\n"
                                                "with link.generation=5\n"
                                                "with cpu.call_ns=150.5\n\n.*"));
}

TEST_F(Identity, OverridesAreResolvedInTheOrderTheyWereGiven) {
  const auto report = report_of({"enumerate", "--set", "pci.device_id=0xd803", "--set",
                                 "core.functional=off", "--set", "hbm.policy=shared_queue", "--set",
                                 "exhaustive=on", "--set", "cards.0.link.lanes=8"});
  const json expected{
      {{"given", "pci.device_id=0xd803"}, {"key", "pci.device_id"}, {"value", 0xd803}},
      {{"given", "core.functional=off"}, {"key", "core.functional"}, {"value", false}},
      {{"given", "hbm.policy=shared_queue"}, {"key", "hbm.policy"}, {"value", "shared_queue"}},
      {{"given", "cards.0.link.lanes=8"}, {"key", "cards.0.link.lanes"}, {"value", 8}}};
  EXPECT_EQ(report["overrides"], expected);
  EXPECT_EQ(report["parameters"]["exhaustive"], true);
}

TEST_F(Identity, ParametersAreNumbersFlagsTextsAndLists) {
  const auto report = report_of({"dma_latency", "--set", "sizes=64B,4KiB"});
  const auto& parameters = report["parameters"];
  EXPECT_EQ(parameters["sizes"], json({64, 4096}));
  EXPECT_EQ(parameters["card"], 0);
  EXPECT_EQ(parameters["policy"], "polling");
  EXPECT_TRUE(parameters["directions"].is_array());
}

TEST_F(Identity, NoNumberOfAReportIsAText) {
  for (const auto* workload : {"dma_latency", "vector_add", "hbm_replay"}) {
    const auto report = report_of({workload});
    EXPECT_FALSE(report["metrics"].empty());
    for (const auto& metric : report["metrics"]) EXPECT_TRUE(metric["value"].is_number()) << metric;
    for (const auto& limit : report["limits"]) EXPECT_TRUE(limit["percent"].is_number()) << limit;
    EXPECT_TRUE(report["seed"].is_number_unsigned());
    EXPECT_TRUE(report["simulated_ps"].is_number_unsigned());
  }
}

TEST_F(Identity, TheConfigurationIsWrittenOutUnderItsDigest) {
  const auto report = report_of({"enumerate", "--set", "l2.ways=24", "--config-out", "c.yaml"});
  EXPECT_EQ(report["config_sha256"], sha256sum("c.yaml"));
  const auto again = report_of({"enumerate"}, "c.yaml");
  EXPECT_EQ(again["config_sha256"], report["config_sha256"]);
  EXPECT_EQ(again["overrides"], json::array());
  EXPECT_EQ(again["metrics"], report["metrics"]);
}

TEST_F(Identity, EveryShippedConfigurationSurvivesBeingWrittenOut) {
  for (const auto& file : std::filesystem::directory_iterator(source_dir() + "/configs")) {
    const auto name = file.path().stem().string();
    if (file.path().extension() != ".yaml" || name.rfind("host", 0) == 0 || name == "single-card")
      continue;
    const auto report = report_of({"enumerate", "--config-out", "c.yaml"}, name);
    EXPECT_EQ(report["config_sha256"], sha256sum("c.yaml")) << name;
    EXPECT_EQ(report_of({"enumerate"}, "c.yaml")["config_sha256"], report["config_sha256"]) << name;
  }
}

TEST_F(Identity, VersionFirmwareAndKernelsAreNamed) {
  const auto report = report_of({"vector_add"});
  EXPECT_EQ(npusim({"--version"}).out, "npusim " + report["npusim"].get<std::string>() + "\n");
  ASSERT_EQ(report["programs"].size(), 3U);
  for (const auto& program : report["programs"]) {
    const auto file = binary_dir() + "/programs/" + program["name"].get<std::string>();
    EXPECT_EQ(program["sha256"], sha256sum(file + ".npu")) << program;
  }
  EXPECT_TRUE(report_of({"enumerate"})["programs"].empty());
}

TEST_F(Identity, TheReportOfAServerHasItToo) {
  good(shell("{ " + binary_dir() +
             "/bin/npusim --config 910b2 serve --socket s --set generation=3 --report r.json "
             "--config-out c.yaml & server=$!; until [ -S s ]; do sleep 0.05; done; "
             "kill -s TERM $server; wait $server; }"));
  const auto report = json::parse(text("r.json"));
  EXPECT_EQ(report["overrides"][0]["key"], "link.generation");
  EXPECT_EQ(report["config_sha256"], sha256sum("c.yaml"));
}

}  // namespace
}  // namespace npu::cli
