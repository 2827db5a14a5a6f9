// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace npu::reports {

std::string json_string(const std::string& text) {
  // Most text stands as it is: the library takes a hundred times as long to find that out.
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (plain) return '"' + text + '"';
  return nlohmann::ordered_json(text).dump(-1, ' ', true,
                                           nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace npu::reports
