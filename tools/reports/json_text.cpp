// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/json_text.hpp"

#include <nlohmann/json.hpp>

namespace npu::reports {

std::string json_string(const std::string& text) {
  return nlohmann::ordered_json(text).dump(-1, ' ', true,
                                           nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace npu::reports
