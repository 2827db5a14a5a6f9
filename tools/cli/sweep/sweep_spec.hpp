// SPDX-License-Identifier: Apache-2.0
// What a sweep's file says, each value with its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/config/yaml_document.hpp"
#include "tools/cli/sweep/pareto.hpp"

namespace npu::sweep {

inline constexpr const char* kSweepSchema = "npusim.sweep/1";

struct PlacedText {
  std::string text;
  model::SourcePlace place;
};

// A parameter of the workload or a key of the configuration, and its value at a point.
struct Assignment {
  PlacedText key;
  PlacedText value;
};

// One of them and all values that it takes, in their order.
struct GridAxis {
  PlacedText key;
  std::vector<PlacedText> values;
};

// What of the reports goes into the table.
struct MetricChoice {
  std::string name;    // of the column; empty: each metric that fits has one of its own
  PlacedText pattern;  // of metrics' names, with * and ? as a shell's; with a name: fits just one
};

struct Objective {
  PlacedText name;  // of a column or an axis
  Goal goal = Goal::kMinimum;
};

struct SweepSpec {
  std::string file;
  std::string name;
  PlacedText workload;
  std::vector<PlacedText> configurations;
  std::vector<GridAxis> grid;
  std::vector<std::vector<Assignment>> list;  // settings that go together; every entry has all keys
  std::vector<PlacedText> seeds;              // decimal
  std::vector<MetricChoice> metrics;          // none: all
  std::vector<Objective> objectives;
};

}  // namespace npu::sweep
