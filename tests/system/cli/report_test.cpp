// SPDX-License-Identifier: Apache-2.0
// npusim report and npusim compare, as a user calls them.
#include <nlohmann/json.hpp>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class Reports : public Program {
 protected:
  // Writes the report `name` and returns what the run printed.
  std::string run(const std::string& name, const std::vector<std::string>& sets = {}) const {
    std::vector<std::string> arguments{"--config", "910b",     "run",      "dma_latency",
                                       "--set",    "sizes=64", "--report", name};
    for (const auto& set : sets) arguments.insert(arguments.end(), {"--set", set});
    const auto result = good(npusim(arguments));
    return result.out;
  }
};

TEST_F(Reports, AReportPrintsAgainWhatTheRunPrinted) {
  const std::string printed = run("r.json", {"link.generation=3"});
  const auto again = good(npusim({"report", "r.json"}));
  EXPECT_EQ(again.out, printed);
  EXPECT_EQ(shell("(cat r.json | " + binary_dir() + "/bin/npusim report -)").out, printed);
}

TEST_F(Reports, ANameThatIsNoUtf8IsPrintedAgainToo) {
  ASSERT_EQ(
      shell("cp " + source_dir() + "/configs/*.yaml . && cp 910b.yaml \"$(printf 'a\\377.yaml')\"")
          .exit_code,
      0);
  const auto printed =
      good(shell(binary_dir() + "/bin/npusim --config \"$(printf 'a\\377.yaml')\" run enumerate "
                                "--report r.json"));
  EXPECT_EQ(npusim({"report", "r.json"}).out, printed.out);
}

TEST_F(Reports, AReportBecomesMarkdownOrCsvInAFile) {
  run("r.json");
  ASSERT_EQ(npusim({"report", "r.json", "--format", "markdown", "--output", "r.md"}).exit_code, 0);
  EXPECT_EQ(text("r.md").rfind("# dma_latency on 910b\n", 0), 0U);
  const auto csv = npusim({"report", "r.json", "--format", "csv"});
  EXPECT_EQ(csv.out.rfind("workload,config,seed,kind,name,value,unit\r\n", 0), 0U);
}

TEST_F(Reports, APageOfARunIsThatOfItsReport) {
  good(npusim({"--config", "910b", "run", "dma_latency", "--set", "sizes=64", "--report", "r.json",
               "--html", "r.html"}));
  const std::string page = text("r.html");
  EXPECT_NE(page.find("<body data-page=\"report\">"), std::string::npos);
  EXPECT_EQ(npusim({"report", "r.json", "--format", "html"}).out, page);
}

TEST_F(Reports, APageShowsWhatAProfileFinds) {
  run("r.json", {"dma.engines=2"});
  good(npusim({"--config", "910b", "run", "dma_latency", "--set", "sizes=64", "--report", "p.json",
               "--html", "p.html"}));
  for (const std::string section : {"utilisation", "durations", "memory_map", "critical_path"}) {
    EXPECT_NE(text("p.json").find("\"" + section + "\":"), std::string::npos) << section;
    EXPECT_EQ(text("r.json").find("\"" + section + "\":"), std::string::npos) << section;
  }
}

// Not while the last of them is on its way, which is most of the time of small ones.
TEST_F(Reports, AProfileCountsALinkAsBusyWhileItCarriesBytes) {
  good(npusim({"--config", "910b", "run", "dma_latency", "--set", "sizes=64", "--set",
               "link.propagation_ns=1000", "--profile", "--report", "p.json"}));
  const auto report = nlohmann::json::parse(text("p.json"));
  double bytes = 0, tlps = 0, busy = 0;
  for (const auto& each : report["counters"]) {
    if (each["name"] == "card0.link.down.bytes") bytes = each["value"];
    if (each["name"] == "card0.link.down.tlps") tlps = each["value"];
  }
  for (const auto& unit : report["utilisation"]["units"]) {
    if (unit["name"] != "pci.link0.down") continue;
    for (const auto& window : unit["busy_percent"]) busy += window.get<double>() / 100;
  }
  busy *= report["utilisation"]["window_ps"].get<double>();
  constexpr double kMostOfATlp = 40, kBytesPerPs = 0.0315;  // generation 4, 16 lanes
  EXPECT_GT(busy, bytes / kBytesPerPs / 2);
  EXPECT_LT(busy, (bytes + kMostOfATlp * tlps) / kBytesPerPs);
}

TEST_F(Reports, APageThatCannotBeWrittenCostsNoRun) {
  const std::vector<std::string> command{"--config", "910b", "run", "dma_latency"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    return more;
  };
  expect_refused(with({"--html", "no/such/page"}),
                 "--html no/such/page: cannot be written: No such file or directory");
  expect_refused(with({"--html", ""}), "--html: no file");
  expect_refused(with({"--html", "a", "--report", "a"}), "--report and --html name the same file");
  expect_refused({"list", "--html", "a"}, "option '--html' does not belong to 'list'");
}

TEST_F(Reports, WhatIsNoReportIsRefusedInOneLine) {
  run("r.json");
  expect_refused({"report"}, "report: give the file of a report");
  expect_refused({"report", "none.json"}, "none.json: cannot be read: No such file or directory");
  write("cut.json", text("r.json").substr(0, 500));
  expect_refused({"report", "cut.json"}, "cut.json: no JSON: it ends in the middle");
  expect_refused({"report", "r.json", "--format", "pdf"},
                 "--format: found 'pdf'; allowed: text, markdown, csv, html");
  expect_refused({"report", "r.json", "--output", "./r.json"},
                 "--output ./r.json: that is a report to be read");
  expect_refused({"report", "r.json", "--output", "no/such/folder"},
                 "--output no/such/folder: cannot be written: No such file or directory");
}

TEST_F(Reports, IdenticalRunsCompareInOneLine) {
  run("a.json");
  run("b.json");
  const auto compared = good(npusim({"compare", "a.json", "b.json"}));
  EXPECT_EQ(compared.out.rfind("dma_latency on 910b: identical, ", 0), 0U);
  EXPECT_EQ(compared.out.find('\n'), compared.out.size() - 1);
}

TEST_F(Reports, ASlowerLinkIsARegressionThatNamesThePart) {
  run("a.json");
  run("b.json", {"link.propagation_ns=500"});
  const auto compared = npusim({"compare", "a.json", "b.json", "--junit", "j.xml"});
  EXPECT_EQ(compared.exit_code, 1);
  EXPECT_NE(compared.out.find("dma.h2d.64B.latency_ns"), std::string::npos) << compared.out;
  EXPECT_NE(compared.out.find("differs: cards.0.link.propagation_ns: "), std::string::npos);
  EXPECT_NE(compared.err.find(" regressions, "), std::string::npos) << compared.err;
  EXPECT_NE(text("j.xml").find("<failure type=\"regression\""), std::string::npos);
}

TEST_F(Reports, ThresholdsDecideWhatARegressionIs) {
  run("a.json");
  run("b.json", {"link.propagation_ns=500"});
  const auto allowed = good(npusim({"compare", "a.json", "b.json", "--threshold", "*=1000%"}));
  expect_refused({"compare", "a.json", "b.json", "--threshold", "nothing=1%"},
                 "compare: --threshold nothing: neither report has a metric or counter of that "
                 "name");
  expect_refused({"compare", "a.json", "b.json", "--threshold", "x=y"},
                 "--threshold x=y: found 'y'; allowed: a number that is not negative, in the "
                 "metric's unit, or 0%..1000% with at most 3 decimals");
}

// A driver that lacks its barriers is no better one.
TEST_F(Reports, FewerBarriersAreAChangeToLookAtWithAnExitCodeOfTheirOwn) {
  run("a.json");
  auto report = nlohmann::ordered_json::parse(text("a.json"));
  for (auto& each : report["counters"]) {
    if (each["name"] == "host.write_barriers") each["value"] = 0;
  }
  write("b.json", report.dump(1));
  const auto compared = npusim({"compare", "a.json", "b.json"});
  EXPECT_EQ(compared.exit_code, 3) << compared.err;
  EXPECT_NE(compared.err.find("no regression, 1 change to look at, "), std::string::npos);
  EXPECT_NE(compared.out.find("changed: look at it"), std::string::npos) << compared.out;
  const auto with = [&](const std::string& threshold) {
    return npusim({"compare", "a.json", "b.json", "--threshold", threshold}).exit_code;
  };
  EXPECT_EQ(with("host.write_barriers=0"), 1);
  EXPECT_EQ(with("host.write_barriers=100%"), 0);
}

TEST_F(Reports, WhatCannotBeComparedIsRefused) {
  run("a.json");
  ASSERT_EQ(npusim({"--config", "910b", "run", "enumerate", "--report", "e.json"}).exit_code, 0);
  expect_refused({"compare", "a.json", "e.json"},
                 "compare: reports of different workloads: 'dma_latency' and 'enumerate'");
  expect_refused({"compare", "a.json", "a.json", "--junit", "x", "--output", "./x"},
                 "--output and --junit name the same file");
  expect_refused({"compare", "a.json"}, "compare: give two reports, BASE and NEW");
}

TEST_F(Reports, HowFastTheSimulatorWasIsToldOnStandardErrorAlone) {
  const auto quiet = npusim({"--config", "910b", "run", "enumerate"});
  const auto verbose = npusim({"--config", "910b", "run", "enumerate", "-v"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_NE(verbose.err.find(" events/s\n"), std::string::npos) << verbose.err;
  EXPECT_EQ(verbose.out, quiet.out);
}

}  // namespace
}  // namespace npu::cli
