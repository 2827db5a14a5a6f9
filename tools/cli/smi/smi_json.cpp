// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tools/cli/smi/card_counters.hpp"
#include "tools/cli/smi/smi_text.hpp"

namespace npu::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
void put(Json& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}

Json use_of(const CardFacts& card) {
  Json use = Json::object();
  put(use, "ai_core", card.ai_core);
  put(use, "vector", card.vector);
  put(use, "cube", card.cube);
  put(use, "overall", card.overall);
  put(use, "aicpu", card.aicpu);
  put(use, "hbm", card.hbm);
  put(use, "hbm_bandwidth", card.hbm_bandwidth);
  if (!card.cores.empty()) use["cores"] = card.cores;
  if (!card.vector_cores.empty()) use["vector_cores"] = card.vector_cores;
  return use;
}

Json link_of(const CardFacts& card) {
  Json link = Json::object();
  if (card.link) {
    link["generation"] = card.link->rate_mode;
    link["lanes"] = card.link->lane_num;
  }
  if (!card.traffic) return link;
  for (const auto& row : kLinkCounters) {
    link[std::string(row.direction) + "_bytes"][row.kind] = (*card.traffic).*row.bytes;
  }
  return link;
}

Json errors_of(const CardFacts& card) {
  Json errors = Json::object();
  const auto add = [&errors](const auto& counts, const auto& rows) {
    if (!counts) return;
    for (const auto& row : rows) errors[row.json] = (*counts).*row.count;
  };
  add(card.ecc, kErrorsSinceReset);
  add(card.pages, kErrorsOnRecord);
  return errors;
}

Json json_of(const CardFacts& card) {
  Json object = {{"id", card.id},
                 {"name", card.name()},
                 {"bus_id", card.bus_address()},
                 {"vendor", card.pci.venderid},
                 {"device", card.pci.deviceid}};
  put(object, "health", card.health);
  object["error_codes"] = card.error_codes;
  put(object, "temperature_c", card.temperature);
  put(object, "power_deciwatt", card.power);
  if (card.core_clock) {
    object["ai_core_mhz"] = {{"rated", card.core_clock->freq}, {"now", card.core_clock->curfreq}};
  }
  if (card.memory) {
    object["hbm"] = {{"size_kb", card.memory->memory_size},
                     {"used_kb", card.memory->memory_usage},
                     {"mhz", card.memory->freq}};
  }
  object["use_percent"] = use_of(card);
  object["ecc"] = errors_of(card);
  object["pcie"] = link_of(card);
  if (!card.processes) return object;
  object["processes"] = Json::array();
  for (const auto& process : *card.processes) {
    Json one = {{"pid", process.pid}};
    put(one, "hbm_bytes", process.memory);
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
