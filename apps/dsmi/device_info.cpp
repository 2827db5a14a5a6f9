// SPDX-License-Identifier: Apache-2.0
// Main and sub commands.
#include <cstring>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/commands.hpp"
#include "apps/dsmi/link_status.hpp"
#include "apps/dsmi/meters.hpp"

using namespace npu;
using namespace npu::dsmi;

namespace {

constexpr unsigned char kNoCore = 0xFF;

std::vector<TS_UTILIZATION_RATE> records_of(const std::vector<driver::Percent>& uses) {
  std::vector<TS_UTILIZATION_RATE> records((uses.size() + TS_UTILIZATION_UNIT_NUM - 1) /
                                           TS_UTILIZATION_UNIT_NUM);
  for (auto& record : records) std::memset(&record, kNoCore, sizeof record);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    records[i / TS_UTILIZATION_UNIT_NUM].single_core[i % TS_UTILIZATION_UNIT_NUM] =
        static_cast<unsigned char>(uses[i]);
  }
  return records;
}

// The array's room says the caller in the structure itself.
int put_block(const std::vector<driver::Percent>& uses, const Buffer& buffer) {
  constexpr std::size_t kHead = offsetof(TS_UTILIZATION_BLOCK, core_util_array);
  TS_UTILIZATION_BLOCK block;
  if (*buffer.size < kHead) return DSMI_ERROR_PARAMETER;
  std::memcpy(&block, buffer.data, kHead);
  const auto records = records_of(uses);
  if (records.size() > block.array_len || block.array_len > CORE_UTIL_ARR_MAX_LEN) {
    return DSMI_ERROR_PARAMETER;
  }
  const std::size_t bytes = records.size() * sizeof(TS_UTILIZATION_RATE);
  block.valid_core_num = static_cast<unsigned>(uses.size());
  std::memcpy(block.core_util_array, records.data(), bytes);
  return buffer.put(&block, kHead + bytes);
}

int core_uses(CardSession& card, unsigned sub_cmd, const Buffer& buffer) {
  const bool in_block = sub_cmd == DSMI_TS_SUB_CMD_AICORE_MULTI_UTILIZATION_RATE ||
                        sub_cmd == DSMI_TS_SUB_CMD_VECTORCORE_MULTI_UTILIZATION_RATE;
  const bool vector = sub_cmd == DSMI_TS_SUB_CMD_VECTORCORE_UTILIZATION_RATE ||
                      sub_cmd == DSMI_TS_SUB_CMD_VECTORCORE_MULTI_UTILIZATION_RATE;
  if (!in_block && !vector && sub_cmd != DSMI_TS_SUB_CMD_AICORE_UTILIZATION_RATE) {
    return DSMI_ERROR_NOT_SUPPORT;
  }
  const auto who = card.management.identity();
  if (!who) return code_of(who.error());
  const unsigned cores = vector ? who->vector_cores : who->clusters;
  // What has no room is refused before its interval is used up.
  const std::size_t records = (cores + TS_UTILIZATION_UNIT_NUM - 1) / TS_UTILIZATION_UNIT_NUM;
  const std::size_t head = in_block ? offsetof(TS_UTILIZATION_BLOCK, core_util_array) : 0;
  if (*buffer.size < head + records * sizeof(TS_UTILIZATION_RATE)) return DSMI_ERROR_PARAMETER;
  const auto kind = vector ? driver::CoreKind::kVector : driver::CoreKind::kCube;
  const auto uses = card.meter(kEachCoreMeter + sub_cmd).core_uses(kind);
  if (!uses) return code_of(uses.error());
  if (in_block) return put_block(*uses, buffer);
  const auto rows = records_of(*uses);
  return buffer.put(rows.data(), rows.size() * sizeof(TS_UTILIZATION_RATE));
}

int domain_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer) {
  if (sub_cmd != 0) return DSMI_ERROR_NOT_SUPPORT;
  const auto who = card.management.identity();
  if (!who) return code_of(who.error());
  dsmi_domain_info info{};
  info.ai_cpu_num = static_cast<int>(who->aicpus);
  info.ctrl_cpu_num = 1;  // the control processor of the function
  info.ai_core_num = static_cast<int>(who->clusters);
  info.vector_core_num = static_cast<int>(who->vector_cores);
  return buffer.put(info);
}

int pcie_info(CardSession& card, unsigned sub_cmd, const Buffer& buffer) {
  if (sub_cmd != DSMI_PCIE_SUB_CMD_PCIE_INFO) return DSMI_ERROR_NOT_SUPPORT;
  const auto link = link_status(*card.access);
  if (!link) return DSMI_ERROR_INVALID_DEVICE;
  return buffer.put(dsmi_pcie_info_para{1, link->generation, link->lanes, {}});
}

int setting(const CardSession& card, unsigned main_cmd, unsigned sub_cmd, const Buffer& buffer) {
  const auto found = card.settings.find({main_cmd, sub_cmd});
  if (found == card.settings.end()) return DSMI_ERROR_NOT_EXIST;
  return buffer.put(found->second.data(), found->second.size());
}

int keep_setting(CardSession& card, unsigned main_cmd, unsigned sub_cmd, const void* buf,
                 unsigned size) {
  if (size == 0 || size > DSMI_SETTING_MAX) return DSMI_ERROR_PARAMETER;
  const auto* const bytes = static_cast<const unsigned char*>(buf);
  // A caller cannot make the library keep more and more.
  constexpr std::size_t kMostSettings = 1024;
  if (card.settings.size() >= kMostSettings && card.settings.count({main_cmd, sub_cmd}) == 0) {
    return DSMI_ERROR_NO_RESOURCES;
  }
  card.settings[{main_cmd, sub_cmd}].assign(bytes, bytes + size);
  return DSMI_OK;
}

}  // namespace

extern "C" {

int dsmi_get_device_info(unsigned int device_id, DSMI_MAIN_CMD main_cmd, unsigned int sub_cmd,
                         void* buf, unsigned int* size) {
  if (buf == nullptr || size == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session& session, CardSession& card) -> int {
    const Buffer buffer{buf, size};
    switch (main_cmd) {
      case DSMI_MAIN_CMD_TS:
        return core_uses(card, sub_cmd, buffer);
      case DSMI_MAIN_CMD_SOC_INFO:
        return domain_info(card, sub_cmd, buffer);
      case DSMI_MAIN_CMD_PCIE:
        return pcie_info(card, sub_cmd, buffer);
      case DSMI_MAIN_CMD_VDEV_MNG:
        return virtual_device_info(session, device_id, sub_cmd, buffer);
      case DSMI_MAIN_CMD_LP:
        return low_power_info(card, sub_cmd, buffer);
      case DSMI_MAIN_CMD_MEMORY:
        return memory_info(card, sub_cmd, buffer);
      case DSMI_MAIN_CMD_HCCS:
        return hccs_info(card, sub_cmd, buffer);
      case DSMI_MAIN_CMD_EX_COMPUTING:
        return get_token(card, sub_cmd, buffer);
      case DSMI_MAIN_CMD_QOS:
        return setting(card, main_cmd, sub_cmd, buffer);
      case DSMI_MAIN_CMD_SVM:
        if (sub_cmd != DSMI_GET_VDEV_CONVERT_LEN) return DSMI_ERROR_NOT_SUPPORT;
        return setting(card, main_cmd, DSMI_SET_VDEV_CONVERT_LEN, buffer);
      default:
        return DSMI_ERROR_NOT_SUPPORT;
    }
  });
}

int dsmi_set_device_info(unsigned int device_id, DSMI_MAIN_CMD main_cmd, unsigned int sub_cmd,
                         const void* buf, unsigned int buf_size) {
  if (buf == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session& session, CardSession& card) -> int {
    switch (main_cmd) {
      case DSMI_MAIN_CMD_VDEV_MNG:
        return set_virtual_device_info(session, device_id, sub_cmd, buf, buf_size);
      case DSMI_MAIN_CMD_EX_COMPUTING:
        return set_token(card, sub_cmd, buf, buf_size);
      case DSMI_MAIN_CMD_QOS:
        return keep_setting(card, main_cmd, sub_cmd, buf, buf_size);
      case DSMI_MAIN_CMD_SVM:
        if (sub_cmd != DSMI_SET_VDEV_CONVERT_LEN) return DSMI_ERROR_NOT_SUPPORT;
        if (buf_size != sizeof(unsigned)) return DSMI_ERROR_PARAMETER;
        return keep_setting(card, main_cmd, sub_cmd, buf, buf_size);
      default:
        return DSMI_ERROR_NOT_SUPPORT;
    }
  });
}

}  // extern "C"
