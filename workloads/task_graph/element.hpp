// SPDX-License-Identifier: Apache-2.0
// Elements of tensors in host memory: little endian, rounded to nearest even.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "npu/platform/aicore_port.hpp"

namespace npu::workloads {

using platform::DataType;

double load_element(const std::byte* from, DataType type);
// Integers are saturated; beyond the largest fp16 and bf16 follows infinity.
void store_element(std::byte* to, DataType type, double value);

// "fp16", "bf16", "fp32", "int8", "int32".
std::string_view to_string(DataType type);
std::optional<DataType> data_type(std::string_view name);
std::vector<std::string> data_type_names();

}  // namespace npu::workloads
