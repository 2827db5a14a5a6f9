// SPDX-License-Identifier: Apache-2.0
// What is said about a rule between keys that a configuration breaks: at the key that its user has
// set, with values of that key that would do.
#pragma once

#include <string>
#include <vector>

#include "model/config/checks.hpp"
#include "model/config/reader.hpp"

namespace npu::model {

// Of the rule's keys the one that stands nearest to the user: in --set, else in `file`, which was
// given, else in a file outside of `shipped` folders, else the rule's first.
ConfigError explain(const BrokenRule& rule, const SystemConfig& system, const SourceMap& sources,
                    const std::string& file, const std::vector<std::string>& shipped);

}  // namespace npu::model
