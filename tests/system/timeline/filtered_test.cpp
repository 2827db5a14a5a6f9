// SPDX-License-Identifier: Apache-2.0
// Filters of a timeline: what is left is what was asked for, and well-formed.
#include <nlohmann/json.hpp>

#include "tests/system/timeline/traced_run.hpp"

namespace npu::cli {
namespace {

using nlohmann::json;

class Filtered : public TracedRun {
 protected:
  // The slices of a run whose timeline has that filter.
  std::vector<json> slices(const std::vector<std::string>& filter) const {
    std::vector<std::string> arguments{"--trace", "t.json"};
    arguments.insert(arguments.end(), filter.begin(), filter.end());
    run("910b2", "dma_latency", {"sizes=64", "iterations=2"}, arguments);
    expect_well_formed("t.json");
    std::vector<json> found;
    const auto trace = json::parse(text("t.json"), nullptr, false);
    EXPECT_FALSE(trace.is_discarded());
    if (trace.is_discarded()) return found;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") found.push_back(event);
    }
    EXPECT_FALSE(found.empty());
    return found;
  }
};

TEST_F(Filtered, ByWindowHasWhatReachesIntoIt) {
  for (const auto& slice : slices({"--trace-window", "102.1us..103us"})) {
    const double begin = slice.at("ts"), duration = slice.at("dur");
    EXPECT_LT(begin, 103) << slice;
    EXPECT_GE(begin + duration, 102.1 - 1e-9) << slice;
  }
}

TEST_F(Filtered, ByUnitHasThatUnitAlone) {
  for (const auto& slice : slices({"--trace-unit", "mmio_*", "--trace-unit", "dma"})) {
    const std::string name = slice.at("name");
    EXPECT_TRUE(name.rfind("mmio_", 0) == 0 || slice.at("cat") == "dma") << slice;
  }
}

TEST_F(Filtered, ByCauseHasThatRequestAlone) {
  for (const auto& slice : slices({"--trace-cause", "dma0:1"})) {
    EXPECT_EQ(slice.at("args").at("cause"), "dma0:1");
  }
}

TEST_F(Filtered, ByAllOfThemHasWhatPassesEach) {
  std::vector<std::string> filter{"--trace-cause", "dma0:1",       "--trace-cause",
                                  "dma0:0",        "--trace-unit", "dma"};
  const auto all = slices(filter);
  double middle = 0;
  for (const auto& slice : all) middle += slice.at("ts").get<double>();
  middle /= static_cast<double>(all.size());
  filter.insert(filter.end(), {"--trace-window", ".." + std::to_string(middle) + "us"});
  const auto some = slices(filter);
  EXPECT_LT(some.size(), all.size());
  for (const auto& slice : some) {
    EXPECT_EQ(slice.at("cat"), "dma");
    EXPECT_LT(slice.at("ts").get<double>(), middle);
  }
}

// What is fine is left out of slices unless it is asked for by name.
TEST_F(Filtered, ByUnitShowsTheMemory) {
  for (const auto& slice : slices({"--trace-unit", "hbm"})) {
    EXPECT_EQ(slice.at("cat"), "hbm");
  }
}

TEST_F(Filtered, ByWhatDidNotHappenSaysSo) {
  for (const std::vector<std::string>& filter :
       {std::vector<std::string>{"--trace-window", "5s.."},
        {"--trace-cause", "dma7:1"},
        {"--trace-unit", "hccs_transfer"},
        {"--trace-unit", "dma", "--trace-window", "..1ns"}}) {
    for (const std::string file : {"--trace", "--vcd"}) {
      std::vector<std::string> arguments{"--config", "910b2", "run", "enumerate", file, "t"};
      arguments.insert(arguments.end(), filter.begin(), filter.end());
      const auto result = good(npusim(arguments));
      EXPECT_EQ(result.err, "npusim: the timeline is empty: nothing passes its filters\n");
    }
  }
}

TEST_F(Filtered, ByWhatThereIsNotIsEmptyAndWellFormed) {
  run("910b2", "enumerate", {}, {"--trace", "t.json", "--trace-unit", "no such unit"});
  expect_well_formed("t.json");
  EXPECT_EQ(json::parse(text("t.json")).at("traceEvents").size(), 0U);
}

}  // namespace
}  // namespace npu::cli
