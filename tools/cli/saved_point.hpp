// SPDX-License-Identifier: Apache-2.0
// What `npusim run --save` writes: which run it is of, and what it had come to at an instant.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::cli {

struct SavedPoint {
  std::string version, build;  // of npusim; SHA-256 of its programs
  std::string workload;
  std::string config;               // as --config named it
  std::string config_sha256;        // of the resolved configuration
  std::vector<std::string> sets;    // --set, in order
  std::vector<std::string> faults;  // --fault, in order
  std::uint64_t seed = 1;
  std::vector<std::pair<std::string, std::string>> inputs;  // other files that are read: SHA-256
  Picoseconds until;                                        // as it was asked for
  Picoseconds reached;       // the first time of the models that is not before `until`
  std::uint64_t events = 0;  // that the models had served
  std::string state;         // SHA-256 of the report of a run that ends there
};

// JSON, schema npusim.point/1.
std::string point_text(const SavedPoint& point);
// kInvalidArgument: not such a text; the context says what is missing.
Result<SavedPoint> parse_point(const std::string& text);

}  // namespace npu::cli
