// SPDX-License-Identifier: Apache-2.0
// A point of a sweep after everything about it has been checked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/sweep/run_identity.hpp"

namespace npu::sweep {

// A column of the table: what was varied, or could have been.
struct Axis {
  std::string name;  // "configuration", a parameter, a dotted key, "seed"
  std::string kind;  // "configuration", "parameter", "key", "seed"
  std::string unit;  // empty: none
};

// A value of an axis.
struct Cell {
  std::string text;    // for people: "4KiB"
  std::string number;  // "4096"; empty: it is no number

  const std::string& plain() const { return number.empty() ? text : number; }
  bool operator<(const Cell& other) const { return text < other.text; }
};

struct PlannedPoint {
  std::size_t number = 0;
  std::string label;                   // "sizes=64B, link.generation=5"
  std::vector<Cell> cells;             // one per axis
  std::vector<std::string> arguments;  // of npusim, without --report and --set
  std::vector<std::string> sets;       // "key=value", of --set
  std::string machine;                 // points for which this is equal differ in parameters alone
  RunIdentity identity;
};

}  // namespace npu::sweep
