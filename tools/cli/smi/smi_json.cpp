// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tools/cli/smi/card_counters.hpp"
#include "tools/cli/smi/smi_text.hpp"

namespace npu::cli {
namespace {

using Json = nlohmann::ordered_json;

// What the rows call members of `object`.
Json members(const CardFacts& card, const std::string& object) {
  Json all = Json::object();
  for (const auto& row : kCardCounters) {
    const auto value = row.json.object == object ? row.of(card) : std::nullopt;
    if (value) all[Json::json_pointer(std::string("/") + row.json.name)] = *value;
  }
  return all;
}

Json json_of(const CardFacts& card) {
  Json object = {{"id", card.id},
                 {"name", card.name()},
                 {"bus_id", card.bus_address()},
                 {"vendor", card.pci.venderid},
                 {"device", card.pci.deviceid}};
  object.update(members(card, "health"));
  object["error_codes"] = card.error_codes;
  object.update(members(card, "state"));
  for (const char* const name : {"ai_core_mhz", "hbm"}) {
    if (auto known = members(card, name); !known.empty()) object[name] = std::move(known);
  }
  auto& use = object["use_percent"] = members(card, "use_percent");
  if (!card.cores.empty()) use["cores"] = card.cores;
  if (!card.vector_cores.empty()) use["vector_cores"] = card.vector_cores;
  for (const char* const name : {"ecc", "pcie"}) object[name] = members(card, name);
  if (!card.processes) return object;
  object["processes"] = Json::array();
  for (const auto& process : *card.processes) {
    Json one = {{"pid", process.pid}};
    if (process.memory) one["hbm_bytes"] = *process.memory;
    object["processes"].push_back(one);
  }
  return object;
}

}  // namespace

std::string cards_json(const std::vector<CardFacts>& cards) {
  Json all = {{"schema", "npusim.smi/1"}, {"cards", Json::array()}};
  for (const auto& card : cards) all["cards"].push_back(json_of(card));
  return all.dump(2) + "\n";
}

}  // namespace npu::cli
