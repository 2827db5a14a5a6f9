// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/json_writer.hpp"

#include <nlohmann/json.hpp>

namespace npu::timeline {

void JsonWriter::string(std::string_view text) {
  using nlohmann::json;
  raw(json(std::string(text)).dump(-1, ' ', true, json::error_handler_t::replace));
}

}  // namespace npu::timeline
