// SPDX-License-Identifier: Apache-2.0
// What must hold between keys. Ranges of single keys are in the tables; everything that takes two
// values to judge is here and nowhere else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/config/system_config.hpp"

namespace npu::model {

struct BrokenRule {
  std::string key;  // full dotted path
  std::string text;
  // What else the rule takes: one of these is pointed at if it is the one that was set
  // (broken_rule.hpp).
  std::vector<std::string> others = {};
};
using CheckResult = std::optional<BrokenRule>;

// The same rule with keys that begin so.
BrokenRule with_prefix(const std::string& prefix, BrokenRule rule);

CheckResult check_chip(const ChipConfig& chip);  // keys as in the chip's file
CheckResult check_hbm(const HbmConfig& hbm);     // keys begin with "hbm."
CheckResult check_timings(const HbmTimings& timings);
CheckResult check_topology(const SystemConfig& system);
// All of the above; keys of a chip begin with "cards.N.".
CheckResult check_system(const SystemConfig& system);

}  // namespace npu::model
