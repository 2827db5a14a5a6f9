// SPDX-License-Identifier: Apache-2.0
// Each row of a card's counters is where it says that it is: in the JSON of `npusim smi`, on a page
// of its text, among the metrics.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/folders.hpp"
#include "tests/system/cli/prometheus_parser.hpp"
#include "tools/cli/smi/card_counters.hpp"
#include "tools/cli/smi/smi_text.hpp"

namespace npu::cli {
namespace {

// A card of which everything is known; no two numbers are equal.
CardFacts known_card() {
  CardFacts card;
  card.health = 2;
  card.error_codes = {0x80E01800};
  for (std::size_t i = 0; i < card.uses.size(); ++i) card.uses[i] = 10 + static_cast<unsigned>(i);
  card.cores = {61};
  card.vector_cores = {62};
  card.core_clock = dsmi_aicore_info_stru{1850, 1800};
  card.aicpus = dsmi_aicpu_info_stru{2000, 1900, 1, {63}};
  card.memory = dsmi_hbm_info_stru{65'536'000, 1600, 1'024'000, 0, 0};
  card.ecc = dsmi_ecc_info_stru{1, 101, 102};
  card.pages = dsmi_ecc_pages_stru{103, 104, 105, 106};
  card.link = dsmi_pcie_info_para{0, 4, 16, {}};
  card.traffic = npu_dsmi_traffic{3'000'000'000, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210};
  card.traffic_before = npu_dsmi_traffic{1'000'000'000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  card.temperature = -3;
  card.power = 1234;
  card.processes = {{4711, 1 << 20}};
  return card;
}

std::string page_of(Page page) {
  if (page == Page::kMemory) return "memory";
  if (page == Page::kEcc) return "ecc";
  return page == Page::kMemoryUse || page == Page::kCoreUse ? "usages" : "pcie";
}

// What a row's metric is called with its labels.
std::string sample_name(const card_counters::Metric& metric) {
  std::string labels = R"(id="0",model_name="",pcie_bus_info="0000:00:00.0")";
  for (const auto& [name, value] : metric.labels) {
    if (name != nullptr) labels += fmt::format(R"(,{}="{}")", name, value);
  }
  return fmt::format("{}{{{}}}", metric.name, labels);
}

TEST(CardCounters, AreInTheJsonWhereTheirRowsSay) {
  const auto card = known_card();
  const auto all = nlohmann::json::parse(cards_json({card}))["cards"][0];
  const std::set<std::string> outermost{"health", "state"};
  for (const auto& row : kCardCounters) {
    if (*row.json.name == '\0') continue;
    const std::string object = row.json.object;
    const auto path = (outermost.count(object) != 0 ? "" : "/" + object) + "/" + row.json.name;
    EXPECT_EQ(all.at(nlohmann::json::json_pointer(path)), *row.of(card)) << path;
  }
}

TEST(CardCounters, TellErrorsAndDirectionsApart) {
  const auto all = nlohmann::json::parse(cards_json({known_card()}))["cards"][0];
  EXPECT_EQ(all["ecc"], nlohmann::json::parse(R"({"single_bit": 101, "double_bit": 102,
      "recorded_single_bit": 103, "recorded_double_bit": 104,
      "isolated_pages_single_bit": 105, "isolated_pages_double_bit": 106})"));
  EXPECT_EQ(all["pcie"], nlohmann::json::parse(R"({"generation": 4, "lanes": 16,
      "received_bytes": {"posted": 204, "non_posted": 205, "completion": 206},
      "sent_bytes": {"posted": 207, "non_posted": 208, "completion": 209}})"));
  const auto metrics = metrics_text({known_card()});
  for (const auto* end :
       {R"(,kind="corrected"} 103)", R"(,kind="uncorrected"} 104)", R"(,direction="read"} 201)",
        R"(,direction="written"} 202)", R"(,direction="sent",kind="posted"} 207)"}) {
    EXPECT_NE(metrics.find(std::string(end) + "\n"), std::string::npos) << end;
  }
}

TEST(CardCounters, AreLinesOfTheirPages) {
  const auto card = known_card();
  for (const auto& row : kCardCounters) {
    if (row.line.page == Page::kNone) continue;
    const auto line = fmt::format("\t{:<34} : {}\n", row.line.name, *row.of(card) / row.line.by);
    EXPECT_NE(detail_text({card}, page_of(row.line.page)).find(line), std::string::npos) << line;
  }
}

TEST(CardCounters, AreSamplesOfTheirMetrics) {
  const auto card = known_card();
  const test::PrometheusText text(metrics_text({card}));
  ASSERT_EQ(text.error(), "");
  constexpr double kMoved = 200, kSeconds = 2;
  for (const auto& row : kCardCounters) {
    for (const auto& metric : row.metrics) {
      if (metric.name == nullptr) continue;
      const auto name = sample_name(metric);
      const double value = static_cast<double>(*row.of(card)) * metric.times / metric.by;
      ASSERT_EQ(text.samples().count(name), 1U) << name;
      EXPECT_DOUBLE_EQ(text.samples().at(name),
                       metric.place == Place::kRate ? kMoved / kSeconds / 1e6 : value)
          << name;
    }
  }
}

TEST(CardCounters, OfAnUnknownCardHaveNoValue) {
  const auto json = nlohmann::json::parse(cards_json({CardFacts()}))["cards"][0];
  EXPECT_EQ(test::PrometheusText(metrics_text({CardFacts()})).samples().size(), 1U)
      << "cards alone";
  for (const auto* object : {"use_percent", "ecc", "pcie"}) EXPECT_TRUE(json[object].empty());
  for (const auto& row : kCardCounters) EXPECT_FALSE(row.of(CardFacts()));
}

TEST(CardCounters, ShareNoNames) {
  std::set<std::string> names;
  for (const auto& row : kCardCounters) {
    std::vector<std::string> own;
    if (*row.json.name != '\0') own.push_back(fmt::format("{}/{}", row.json.object, row.json.name));
    if (row.line.page != Page::kNone) own.push_back(page_of(row.line.page) + row.line.name);
    for (const auto& metric : row.metrics) {
      if (metric.name != nullptr) own.push_back(sample_name(metric));
    }
    EXPECT_FALSE(own.empty()) << "a row that nobody shows";
    for (const auto& name : own) EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(CardMetrics, AreTheTableOfTheirPage) {
  std::istringstream text(metrics_text({known_card()}));
  std::string rows = "| metric | what |\n|---|---|\n";
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("# HELP ", 0) != 0) continue;
    const auto name = line.substr(7, line.find(' ', 7) - 7);
    rows += fmt::format("| `{}` | {} |\n", name, line.substr(8 + name.size()));
  }
  std::ostringstream page;
  page << std::ifstream(source_dir() + "/docs/device-management.md").rdbuf();
  EXPECT_NE((page.str() + "\n").find(rows + "\n"), std::string::npos) << rows;
}

}  // namespace
}  // namespace npu::cli
