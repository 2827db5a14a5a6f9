// SPDX-License-Identifier: Apache-2.0
// npusim smi and npusim metrics: of a configuration, and of a running server.
#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"
#include "tests/system/cli/prometheus_parser.hpp"

namespace npu::cli {
namespace {

using test::PrometheusText;

class Smi : public Program {
 protected:
  // What `command` says while a server of `config` runs, whose socket is m.sock.
  Result beside_server(const std::string& config, const std::string& command) {
    const std::string program = binary_dir() + "/bin/npusim";
    return shell("{ " + program + " --config " + config +
                 " serve --management m.sock >server.txt & server=$!; "
                 "for i in $(seq 100); do [ -S m.sock ] && break; sleep 0.1; done; " +
                 command + "; code=$?; kill $server; wait $server; exit $code; }");
  }
  static std::string smi(const std::string& words) {
    return binary_dir() + "/bin/npusim " + words + " --socket m.sock";
  }
  static PrometheusText parse(const Result& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    PrometheusText text(result.out);
    EXPECT_EQ(text.error(), "");
    return text;
  }
};

TEST_F(Smi, ShowsTheCardsOfAConfiguration) {
  const auto result = good(npusim({"--config", "system-2x910b2", "smi"}));
  EXPECT_NE(result.out.find("| 0   | 910B2            | OK "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("| 1   | 910B2            | OK "), std::string::npos) << result.out;
}

TEST_F(Smi, ShowsTheCardsOfARunningServer) {
  const auto result = beside_server("910b2", smi("smi info"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("910B2"), std::string::npos) << result.out;
  EXPECT_FALSE(std::filesystem::exists(path("m.sock"))) << "removed at the end";
}

TEST_F(Smi, TellsDetailsByKind) {
  const auto of = [&](const std::string& kind) {
    const auto result = good(npusim({"--config", "910b2", "smi", "info", "-t", kind}));
    return result.out;
  };
  EXPECT_NE(of("usages").find("Aicpu Usage Rate(%)                : 0\n"), std::string::npos);
  EXPECT_NE(of("memory").find("HBM Capacity(KB)                   : 64225280\n"),
            std::string::npos);
  EXPECT_NE(of("ecc").find("HBM Double Bit Isolated Pages      : 0\n"), std::string::npos);
  EXPECT_NE(of("pcie").find("Link Generation                    : 4\n"), std::string::npos);
  EXPECT_NE(of("info-vnpu").find("Free AI Cores                      : 24\n"), std::string::npos);
}

TEST_F(Smi, HasTheSameAsJson) {
  const auto result = good(npusim({"--config", "910b2", "smi", "--json"}));
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["schema"], "npusim.smi/1");
  ASSERT_EQ(json["cards"].size(), 1U);
  const auto& card = json["cards"][0];
  EXPECT_EQ(card["name"], "910B2");
  EXPECT_EQ(card["hbm"]["size_kb"], 64'225'280);
  EXPECT_EQ(card["use_percent"]["cores"].size(), 24U);
  EXPECT_EQ(card["use_percent"]["vector_cores"].size(), 48U);
  EXPECT_FALSE(card.contains("temperature_c")) << "nothing models it";
}

TEST_F(Smi, WatchesAServerAsOftenAsItIsTold) {
  const auto result = beside_server("910b", smi("smi watch --count 2"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::size_t looks = 0;
  for (auto at = result.out.find("Bus-Id"); at != std::string::npos;
       at = result.out.find("Bus-Id", at + 1)) {
    ++looks;
  }
  EXPECT_EQ(looks, 2U);
}

TEST_F(Smi, MakesVirtualDevicesOfAConfigurationsCard) {
  const auto templates = good(npusim({"--config", "910b2", "smi", "info", "-t", "template-info"}));
  EXPECT_NE(templates.out.find("vir12_4c_32g_m"), std::string::npos) << templates.out;
  const auto created =
      good(npusim({"--config", "910b2", "smi", "create-vnpu", "-f", "vir06_1c_16g"}));
  EXPECT_EQ(created.out, "vNPU 100 at 01:02.0\n");
  const auto unknown = npusim({"--config", "910b2", "smi", "create-vnpu", "-f", "vir1"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.err.rfind("npusim: smi create-vnpu: card 0 has no template 'vir1'; it has "
                              "vir06_1c_16g, vir06_2c_16g, ",
                              0),
            0U)
      << unknown.err;
  const auto none = npusim({"--config", "910b2", "smi", "destroy-vnpu", "--vnpu", "100"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, "npusim: smi destroy-vnpu: there is none of that name or number\n");
}

TEST_F(Smi, MakesAndEndsVirtualDevicesOfARunningServer) {
  const auto result = beside_server(
      "910b2", smi("smi create-vnpu -f vir06_1c_16g") + " && " +
                   smi("smi create-vnpu -f vir12_3c_32g --vnpu 103") + " && " +
                   smi("smi info -t info-vnpu") + " && " + smi("smi destroy-vnpu --vnpu 100") +
                   " && " + smi("smi info -t info-vnpu") + " && " +
                   smi("smi destroy-vnpu --vnpu 65535") + " && " + smi("smi info -t info-vnpu"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.rfind("vNPU 100 at 01:02.0\nvNPU 103 at 01:02.3\n", 0), 0U) << result.out;
  for (const auto* cores : {"6", "12", "24"}) {
    const auto line = std::string("Free AI Cores                      : ") + cores + "\n";
    EXPECT_NE(result.out.find(line), std::string::npos) << cores << result.out;
  }
  EXPECT_NE(result.out.find("vNPU 100 is gone\n"), std::string::npos) << result.out;
}

TEST_F(Smi, SaysWhyARunningServerMakesNoVirtualDevice) {
  const auto no_template = beside_server("910b2", smi("smi create-vnpu -f vir99"));
  EXPECT_EQ(no_template.exit_code, 2);
  EXPECT_EQ(no_template.err,
            "npusim: smi create-vnpu: card 0 has no template 'vir99'; see smi info -t "
            "template-info of its configuration\n");
  const auto none = beside_server("910b2", smi("smi destroy-vnpu --vnpu 100"));
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err, "npusim: smi destroy-vnpu: there is none of that name or number\n");
  const auto full = beside_server("910b2", smi("smi create-vnpu -f vir12_3c_32g") + " && " +
                                               smi("smi create-vnpu -f vir12_3c_32g") + " && " +
                                               smi("smi create-vnpu -f vir12_3c_32g"));
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.err, "npusim: smi create-vnpu: the card has not enough left\n");
}

TEST_F(Smi, RefusesWhatMakesNoSense) {
  expect_refused({"--config", "910b", "smi", "look"},
                 "smi: unknown 'look'; known: info, watch, create-vnpu, destroy-vnpu");
  expect_refused({"--config", "910b", "smi", "-t", "fan"},
                 "-t: found 'fan'; allowed: usages, memory, ecc, pcie, template-info, info-vnpu");
  expect_refused({"--config", "910b", "smi", "-i", "1"}, "-i 1: there is 1 card");
  expect_refused({"--config", "910b", "smi", "-i", "x"}, "-i: found 'x'; allowed: 0..4294967295");
  expect_refused({"--config", "910b", "smi", "watch"},
                 "smi watch: give --socket PATH, of a running npusim serve");
  expect_refused({"--config", "910b", "smi", "create-vnpu"},
                 "smi create-vnpu: give -f TEMPLATE, a name of at most 15 characters");
  expect_refused({"--config", "910b", "smi", "--socket", "x"},
                 "smi: give --socket or --config, not both");
  expect_refused({"smi", "--socket", "none.sock"},
                 "smi: --socket 'none.sock': No such file or directory");
  expect_refused({"--config", "910b", "metrics", "all"}, "metrics: unexpected 'all'");
}

TEST_F(Smi, MetricsPassAStrictParser) {
  const auto text = parse(npusim({"--config", "system-2x910b2", "metrics"}));
  EXPECT_EQ(text.samples().at("machine_npu_nums"), 2);
  const std::string labels = R"({id="1",model_name="910B2",pcie_bus_info="0000:)";
  bool found = false;
  for (const auto& [key, value] : text.samples()) {
    found = found || key.rfind("npu_chip_info_hbm_total_memory" + labels, 0) == 0;
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(text.types().count("npu_chip_info_temperature"), 0U) << "nothing models it";
  EXPECT_EQ(text.types().at("npusim_pcie_bytes_total"), "counter");
}

TEST_F(Smi, MetricsBeginWithThePrefixThatIsGiven) {
  const std::vector<std::string> command = {"--config", "910b2", "metrics", "--metrics-prefix"};
  const auto with = [&](const std::string& prefix) {
    auto words = command;
    words.push_back(prefix);
    return words;
  };
  const auto own = npusim({"--config", "910b2", "metrics"}).out;
  auto others = npusim(with("xpushare_npu")).out;
  EXPECT_EQ(others.find("npusim_"), std::string::npos);
  for (std::size_t at = 0; (at = others.find("xpushare_npu_", at)) != std::string::npos;) {
    others.replace(at, 13, "npusim_");
  }
  EXPECT_EQ(others, own);
  for (const auto* const bad : {"", "9x", "a b", "a-b", "a{"}) {
    expect_refused(with(bad), std::string("--metrics-prefix ") + bad +
                                  ": expected letters, digits, '_' and ':', no digit first");
  }
}

TEST_F(Smi, MetricsOfAServerAreThoseOfItsCards) {
  const auto text = parse(beside_server("910b2", smi("metrics")));
  EXPECT_EQ(text.samples().at("machine_npu_nums"), 1);
  std::size_t cores = 0;
  for (const auto& [key, value] : text.samples()) {
    cores += key.rfind("npusim_core_utilization_ratio", 0) == 0 ? 1U : 0U;
  }
  EXPECT_EQ(cores, 72U);
}

TEST_F(Smi, MetricsPassPromtool) {
  if (shell("command -v promtool").exit_code != 0) GTEST_SKIP() << "promtool is not installed";
  const auto result =
      shell(binary_dir() + "/bin/npusim --config 910b2 metrics | promtool check metrics");
  EXPECT_EQ(result.err.find("error"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace npu::cli
