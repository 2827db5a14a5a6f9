// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/smi/card_facts.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace npu::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

// The value that the call puts behind these arguments, if it knows it.
template <class T, class Call, class... Arguments>
std::optional<T> ask(Call call, Arguments... arguments) {
  T value{};
  if (call(arguments..., &value) != DSMI_OK) return std::nullopt;
  return value;
}

std::optional<unsigned> use(int id, int type) {
  return ask<unsigned>(dsmi_get_device_utilization_rate, id, type);
}

std::vector<unsigned> core_uses(int id, unsigned sub) {
  TS_UTILIZATION_BLOCK block{};
  block.array_len = CORE_UTIL_ARR_MAX_LEN;
  unsigned size = sizeof block;
  const auto card = static_cast<unsigned>(id);
  if (dsmi_get_device_info(card, DSMI_MAIN_CMD_TS, sub, &block, &size) != DSMI_OK) return {};
  std::vector<unsigned> uses;
  for (unsigned i = 0; i < block.valid_core_num; ++i) {
    const auto& record = block.core_util_array[i / TS_UTILIZATION_UNIT_NUM];
    uses.push_back(record.single_core[i % TS_UTILIZATION_UNIT_NUM]);
  }
  return uses;
}

template <class T>
std::optional<T> device_info(int id, DSMI_MAIN_CMD main, unsigned sub) {
  return ask<T>([&](T* value) {
    unsigned size = sizeof(T);
    return dsmi_get_device_info(static_cast<unsigned>(id), main, sub, value, &size);
  });
}

std::optional<unsigned long long> memory_of(int id, int pid) {
  unsigned long long bytes = 0;
  dsmi_resource_para para{};
  para.owner_type = DSMI_PROCESS_RESOURCE;
  para.owner_id = static_cast<unsigned>(pid);
  para.resource_type = DSMI_DEV_PROCESS_MEM;
  dsmi_resource_info info{};
  info.buf_len = sizeof bytes;
  info.buf = &bytes;
  if (dsmi_get_resource_info(static_cast<unsigned>(id), &para, &info) != DSMI_OK) return {};
  return bytes;
}

std::optional<std::vector<CardProcessFact>> processes_of(int id) {
  constexpr std::size_t kMost = 1024;
  std::vector<int> pids(kMost);
  dsmi_resource_para para{};
  para.resource_type = DSMI_DEV_PROCESS_PID;
  dsmi_resource_info info{};
  info.buf_len = static_cast<unsigned>(pids.size() * sizeof(int));
  info.buf = pids.data();
  if (dsmi_get_resource_info(static_cast<unsigned>(id), &para, &info) != DSMI_OK) return {};
  std::vector<CardProcessFact> all;
  for (std::size_t i = 0; i < info.buf_len / sizeof(int); ++i) {
    all.push_back({pids[i], memory_of(id, pids[i])});
  }
  return all;
}

std::vector<unsigned> error_codes_of(int id) {
  std::vector<unsigned> codes(DSMI_ERROR_CODES_MAX);
  int count = 0;
  if (dsmi_get_device_errorcode(id, &count, codes.data()) != DSMI_OK) return {};
  codes.resize(static_cast<std::size_t>(count));
  return codes;
}

void measure(CardFacts& card) {
  const int id = card.id;
  for (const auto type :
       {DSMI_UTILIZATION_CORE, DSMI_UTILIZATION_VECTOR, DSMI_UTILIZATION_CUBE,
        DSMI_UTILIZATION_OVERALL, DSMI_UTILIZATION_AICPU, DSMI_UTILIZATION_HBM_BANDWIDTH}) {
    card.uses[type] = use(id, type);
  }
  card.cores = core_uses(id, DSMI_TS_SUB_CMD_AICORE_MULTI_UTILIZATION_RATE);
  card.vector_cores = core_uses(id, DSMI_TS_SUB_CMD_VECTORCORE_MULTI_UTILIZATION_RATE);
  card.aicpus = ask<dsmi_aicpu_info_stru>(dsmi_get_aicpu_info, id);
  card.traffic_before = card.traffic;
  card.traffic = ask<npu_dsmi_traffic>(npu_dsmi_get_traffic, id);
}

// What is true at one time.
void inspect(CardFacts& card) {
  const int id = card.id;
  card.health = ask<unsigned>(dsmi_get_device_health, id);
  card.error_codes = error_codes_of(id);
  card.uses[DSMI_UTILIZATION_HBM] = use(id, DSMI_UTILIZATION_HBM);
  card.core_clock = ask<dsmi_aicore_info_stru>(dsmi_get_aicore_info, id);
  card.memory = ask<dsmi_hbm_info_stru>(dsmi_get_hbm_info, id);
  card.ecc = ask<dsmi_ecc_info_stru>(dsmi_get_ecc_info, id, DSMI_DEVICE_TYPE_HBM);
  card.pages =
      ask<dsmi_ecc_pages_stru>(dsmi_get_total_ecc_isolated_pages_info, id, DSMI_DEVICE_TYPE_HBM);
  card.link = device_info<dsmi_pcie_info_para>(id, DSMI_MAIN_CMD_PCIE, DSMI_PCIE_SUB_CMD_PCIE_INFO);
  card.temperature = ask<int>(dsmi_get_device_temperature, id);
  const auto power = ask<dsmi_power_info_stru>(dsmi_get_device_power_info, id);
  if (power) card.power = power->power;
  card.processes = processes_of(id);
  card.virtual_total = device_info<dsmi_soc_total_resource>(id, DSMI_MAIN_CMD_VDEV_MNG,
                                                            DSMI_VMNG_SUB_CMD_GET_TOTAL_RESOURCE);
  card.virtual_free = device_info<dsmi_soc_free_resource>(id, DSMI_MAIN_CMD_VDEV_MNG,
                                                          DSMI_VMNG_SUB_CMD_GET_FREE_RESOURCE);
}

}  // namespace

std::string CardFacts::bus_address() const {
  return fmt::format("0000:{:02x}:{:02x}.{:x}", pci.bdf_busid, pci.bdf_deviceid, pci.bdf_funcid);
}

std::string CardFacts::name() const {
  return reinterpret_cast<const char*>(chip.chip_name);
}

tl::expected<std::vector<CardFacts>, Failure> look_at_cards(std::optional<int> only, bool again) {
  int count = 0;
  if (dsmi_get_device_count(&count) != DSMI_OK) return failure("no cards to look at");
  if (only && (*only < 0 || *only >= count)) {
    return bad_input(fmt::format("-i {}: there {} {} card{}", *only, count == 1 ? "is" : "are",
                                 count, count == 1 ? "" : "s"));
  }
  std::vector<CardFacts> cards;
  for (int id = 0; id < count; ++id) {
    if (only && id != *only) continue;
    CardFacts card;
    card.id = id;
    const int who = dsmi_get_chip_info(id, &card.chip);
    if (who != DSMI_OK || dsmi_get_pcie_info(id, &card.pci) != DSMI_OK) {
      return failure(fmt::format("card {} does not answer", id));
    }
    cards.push_back(card);
  }
  for (auto& card : cards) measure(card);
  if (again) {
    std::this_thread::sleep_for(kBetweenLooks);
    for (auto& card : cards) measure(card);
  }
  for (auto& card : cards) inspect(card);
  return cards;
}

}  // namespace npu::cli
