// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/hccl/rank_table.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/compat/hccl/outcome.hpp"
#include "apps/compat/protocol/collective_messages.hpp"

namespace npu::compat::hccl {
namespace {

using Json = nlohmann::json;

// A number that may be written as a text. -1: it is none.
std::int64_t number_of(const Json& object, const char* key) {
  constexpr std::int64_t kMost = 1'000'000;
  const auto found = object.find(key);
  if (found == object.end()) return -1;
  if (found->is_number_unsigned()) {
    const auto number = found->get<std::uint64_t>();
    return number > kMost ? -1 : static_cast<std::int64_t>(number);
  }
  if (!found->is_string()) return -1;
  const auto& text = found->get_ref<const std::string&>();
  const bool digits = !text.empty() && text.size() <= 6 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::stoll(text) : -1;
}

// Null: there is no such list.
const Json* list_of(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || !found->is_array() ? nullptr : &*found;
}

HcclResult read_devices(const char* file, const Json& server, RankTable* table) {
  const Json* const devices = list_of(server, "device");
  if (devices == nullptr || devices->empty() || devices->size() > wire::kMostRanks) {
    return refuse(HCCL_E_PARA, "%s: the server has no list \"device\"", file);
  }
  table->devices.assign(devices->size(), -1);
  for (const auto& device : *devices) {
    if (!device.is_object()) return refuse(HCCL_E_PARA, "%s: a device is no object", file);
    const auto rank = number_of(device, "rank_id");
    const auto id = number_of(device, "device_id");
    const bool in_range = rank >= 0 && rank < static_cast<std::int64_t>(devices->size());
    if (!in_range || id < 0 || table->devices[static_cast<std::size_t>(rank)] != -1) {
      return refuse(HCCL_E_PARA, "%s: \"rank_id\" or \"device_id\" is missing, too large or twice",
                    file);
    }
    table->devices[static_cast<std::size_t>(rank)] = id;
  }
  return HCCL_SUCCESS;
}

}  // namespace

HcclResult read_rank_table(const char* file, RankTable* table) {
  std::ifstream stream(file);
  if (!stream) return refuse(HCCL_E_OPEN_FILE_FAILURE, "%s cannot be opened", file);
  const auto all = Json::parse(stream, nullptr, false);
  if (all.is_discarded()) return refuse(HCCL_E_PARA, "%s is no JSON", file);
  const Json* const servers = list_of(all, "server_list");
  if (servers == nullptr || servers->empty()) {
    return refuse(HCCL_E_PARA, "%s has no list \"server_list\"", file);
  }
  const auto status = all.find("status");
  if (status != all.end() && *status != "completed") {
    return refuse(HCCL_E_PARA, "%s: \"status\" is not \"completed\"", file);
  }
  const auto count = number_of(all, "server_count");
  if (all.contains("server_count") && count != static_cast<std::int64_t>(servers->size())) {
    return refuse(HCCL_E_PARA, "%s: \"server_count\" is not the length of \"server_list\"", file);
  }
  if (servers->size() > 1) {
    return refuse(HCCL_E_NOT_SUPPORT, "%s: several servers are not modelled", file);
  }
  const auto read = read_devices(file, servers->front(), table);
  table->key = "table ";
  for (const auto device : table->devices) table->key += std::to_string(device) + ' ';
  const auto id = servers->front().find("server_id");
  if (id != servers->front().end() && id->is_string()) table->key += id->get<std::string>();
  if (table->key.size() > wire::kLongestDomain) {
    return refuse(HCCL_E_PARA, "%s: \"server_id\" is too long", file);
  }
  return read;
}

}  // namespace npu::compat::hccl
