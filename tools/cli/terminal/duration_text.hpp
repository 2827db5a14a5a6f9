// SPDX-License-Identifier: Apache-2.0
// Wall time for people.
#pragma once

#include <chrono>
#include <string>

namespace npu::cli {

// "119 s", "90 min", "2 h 30 min"
std::string duration_text(std::chrono::seconds time);

}  // namespace npu::cli
