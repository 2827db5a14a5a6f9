// SPDX-License-Identifier: Apache-2.0
// How busy cards are, and how fast their clocks are.
#include <algorithm>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/meters.hpp"

using namespace npu;
using namespace npu::dsmi;

namespace {

constexpr unsigned kKib = 1024;

Result<unsigned> mean_of(const Result<std::vector<driver::Percent>>& uses) {
  if (!uses) return forward_error(uses);
  if (uses->empty()) return fail(ErrorCode::kUnsupported, "the card has none");
  unsigned sum = 0;
  for (const auto use : *uses) sum += use;
  return (sum + static_cast<unsigned>(uses->size()) / 2) / static_cast<unsigned>(uses->size());
}

Result<unsigned> share_of_memory(driver::Management& card) {
  const auto use = card.memory_use();
  if (!use) return forward_error(use);
  if (use->total == 0) return fail(ErrorCode::kUnsupported, "the card has no memory");
  return use->used_percent();
}

// What the types of core mean where cube and vector cores are apart, and where they are coupled.
struct CoreUse {
  int type;
  driver::CoreKind apart, coupled;
};
constexpr CoreUse kCoreUses[] = {
    {DSMI_UTILIZATION_AICORE, driver::CoreKind::kAll, driver::CoreKind::kAll},
    {DSMI_UTILIZATION_CORE, driver::CoreKind::kCube, driver::CoreKind::kAll},
    {DSMI_UTILIZATION_VECTOR, driver::CoreKind::kVector, driver::CoreKind::kVector},
    {DSMI_UTILIZATION_OVERALL, driver::CoreKind::kAll, driver::CoreKind::kAll},
    {DSMI_UTILIZATION_CUBE, driver::CoreKind::kCube, driver::CoreKind::kCube}};

Result<unsigned> use_of(CardSession& card, int type) {
  for (const auto& use : kCoreUses) {
    if (use.type != type) continue;
    const auto who = card.management.identity();
    if (!who) return forward_error(who);
    return card.meter(meter_of_type(type))
        .core_use(who->vector_cores == 0 ? use.coupled : use.apart);
  }
  switch (type) {
    case DSMI_UTILIZATION_AICPU:
      return mean_of(card.meter(meter_of_type(type)).aicpu_uses());
    case DSMI_UTILIZATION_HBM:
      return share_of_memory(card.management);
    case DSMI_UTILIZATION_HBM_BANDWIDTH:
      return card.meter(meter_of_type(type)).hbm_bandwidth_use();
    default:
      return fail(ErrorCode::kUnsupported, "no such part");
  }
}

}  // namespace

extern "C" {

int dsmi_get_device_utilization_rate(int device_id, int device_type,
                                     unsigned int* utilization_rate) {
  if (utilization_rate == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) {
    return give(use_of(card, device_type), [&](unsigned use) { *utilization_rate = use; });
  });
}

int dsmi_get_device_frequency(int device_id, int device_type, unsigned int* frequency) {
  if (frequency == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    const auto clocks = card.management.clocks();
    if (!clocks) return code_of(clocks.error());
    switch (device_type) {
      case DSMI_FREQUENCY_HBM:
        *frequency = clocks->hbm;
        return DSMI_OK;
      case DSMI_FREQUENCY_AICORE_CURRENT:
        *frequency = clocks->cores.present;
        return DSMI_OK;
      case DSMI_FREQUENCY_AICORE_RATED:
        *frequency = clocks->cores.rated;
        return DSMI_OK;
      default:
        return DSMI_ERROR_NOT_SUPPORT;
    }
  });
}

int dsmi_get_aicore_info(int device_id, struct dsmi_aicore_info_stru* aicore_info) {
  if (aicore_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) {
    return give(card.management.clocks(), [&](const driver::CardClocks& clocks) {
      *aicore_info = {clocks.cores.rated, clocks.cores.present};
    });
  });
}

int dsmi_get_aicpu_info(int device_id, struct dsmi_aicpu_info_stru* aicpu_info) {
  if (aicpu_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    const auto clocks = card.management.clocks();
    if (!clocks) return code_of(clocks.error());
    return give(
        card.meter(kAicpuInfoMeter).aicpu_uses(), [&](const std::vector<driver::Percent>& uses) {
          *aicpu_info = {
              clocks->aicpus.rated, clocks->aicpus.present, static_cast<unsigned>(uses.size()), {}};
          const auto told = std::min<std::size_t>(uses.size(), TAISHAN_CORE_NUM);
          std::copy_n(uses.begin(), told, aicpu_info->utilRate);
        });
  });
}

int dsmi_get_hbm_info(int device_id, struct dsmi_hbm_info_stru* hbm_info) {
  if (hbm_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    const auto clocks = card.management.clocks();
    if (!clocks) return code_of(clocks.error());
    const auto memory = card.management.memory_use();
    if (!memory) return code_of(memory.error());
    const auto bandwidth = card.meter(kHbmInfoMeter).hbm_bandwidth_use();
    const bool known = bandwidth || bandwidth.error().code != ErrorCode::kUnsupported;
    if (!bandwidth && known) return code_of(bandwidth.error());
    *hbm_info = {memory->total / kKib, clocks->hbm, memory->used / kKib, LP_TEMP_INVALID_VALUE,
                 known ? *bandwidth : DSMI_NOT_KNOWN};
    return DSMI_OK;
  });
}

int dsmi_get_memory_info(int device_id, struct dsmi_memory_info_stru* memory_info) {
  if (memory_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [](Session&, CardSession&) -> int { return DSMI_ERROR_NOT_SUPPORT; });
}

int dsmi_get_device_cgroup_info(int device_id, struct tag_cgroup_info* cgroup_info) {
  if (cgroup_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    return give(card.access->quota(), [&](const driver::QuotaUse& use) {
      *cgroup_info = {use.limit, use.most, use.used()};
    });
  });
}

int dsmi_get_device_temperature(int device_id, int* temperature) {
  if (temperature == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [](Session&, CardSession&) -> int { return DSMI_ERROR_NOT_SUPPORT; });
}

int dsmi_get_device_power_info(int device_id, struct dsmi_power_info_stru* power_info) {
  if (power_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [](Session&, CardSession&) -> int { return DSMI_ERROR_NOT_SUPPORT; });
}

int dsmi_get_device_voltage(int device_id, unsigned int* voltage) {
  if (voltage == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [](Session&, CardSession&) -> int { return DSMI_ERROR_NOT_SUPPORT; });
}

}  // extern "C"
