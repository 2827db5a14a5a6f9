// SPDX-License-Identifier: Apache-2.0
// What the machine does at most, by its configuration: the ceilings of a report's plots.
#pragma once

#include <string>

#include "model/config/system_config.hpp"

namespace npu::workloads {

// A JSON array of {"name", "kind", "value", "unit"}: of every card its link and its HBM (GB/s) and
// its cube units by type ("compute": TFLOP/s, TOP/s of int8).
std::string ceilings_json(const model::SystemConfig& config);

}  // namespace npu::workloads
