// SPDX-License-Identifier: Apache-2.0
// What a card and its driver can do for who shares them, found by trying: each entry is an
// experiment whose outcome is looked at, and none asks the card or the configuration what it says
// of itself. The keys are those of XPUShare's probe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/framework/context.hpp"

namespace npu::workloads {

struct Capability {
  std::string key;
  bool is_time = false;
  bool there = false;                  // if it is no time
  std::optional<double> milliseconds;  // if it is; nothing: it cannot be measured
  std::string reason;                  // why not; empty: it is there
};

// In an order that is always the same. `context.parameters` are those of capability_parameters().
std::vector<Capability> probe_capabilities(Context& context);
std::vector<ParameterSpec> capability_parameters();

}  // namespace npu::workloads
