// SPDX-License-Identifier: Apache-2.0
// DCMI: use, errors, resources, virtual devices.
#include <algorithm>
#include <vector>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/dcmi_call.hpp"

using namespace npu;
using namespace npu::dsmi;

namespace {

constexpr unsigned kNotKnown = 0xFFFFFFFF;

unsigned megabytes_per_ms(unsigned long long before, unsigned long long now,
                          unsigned long long ns) {
  return static_cast<unsigned>(static_cast<double>(now - before) / static_cast<double>(ns));
}

int measure_link(int id, dcmi_pcie_link_bandwidth_info& info) {
  npu_dsmi_traffic before{}, now{};
  int code = npu_dsmi_get_traffic(id, &before);
  if (code != DSMI_OK) return code;
  code = in_session([&](Session& session) -> int {
    session.clock().sleep_until(session.clock().now() + 1_ms * info.profiling_time);
    return DSMI_OK;
  });
  if (code == DSMI_OK) code = npu_dsmi_get_traffic(id, &now);
  if (code != DSMI_OK) return code;
  const auto ns = now.time_ns - before.time_ns;
  // A card whose time stands still, or has begun anew, has no rates.
  if (now.time_ns <= before.time_ns) return DSMI_ERROR_NOT_SUPPORT;
  info.tx_p_bw = megabytes_per_ms(before.tx_posted, now.tx_posted, ns);
  info.tx_np_bw = megabytes_per_ms(before.tx_non_posted, now.tx_non_posted, ns);
  info.tx_cpl_bw = megabytes_per_ms(before.tx_completion, now.tx_completion, ns);
  info.tx_np_lantency = kNotKnown;
  info.rx_p_bw = megabytes_per_ms(before.rx_posted, now.rx_posted, ns);
  info.rx_np_bw = megabytes_per_ms(before.rx_non_posted, now.rx_non_posted, ns);
  info.rx_cpl_bw = megabytes_per_ms(before.rx_completion, now.rx_completion, ns);
  return DSMI_OK;
}

}  // namespace

extern "C" {

int dcmi_get_pcie_link_bandwidth_info(int card_id, int device_id,
                                      struct dcmi_pcie_link_bandwidth_info* info) {
  if (info == nullptr || info->profiling_time < 1 ||
      info->profiling_time > DCMI_PROFILING_TIME_MAX) {
    return DCMI_ERR_CODE_INVALID_PARAMETER;
  }
  return on_chip(card_id, device_id, [&](int id) { return measure_link(id, *info); });
}

int dcmi_get_device_health(int card_id, int device_id, unsigned int* health) {
  return on_chip(card_id, device_id, [&](int id) { return dsmi_get_device_health(id, health); });
}

int dcmi_get_device_errorcode_v2(int card_id, int device_id, int* error_count,
                                 unsigned int* error_code_list, unsigned int list_len) {
  if (error_count == nullptr || error_code_list == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  return on_chip(card_id, device_id, [&](int id) {
    unsigned codes[DSMI_ERROR_CODES_MAX];
    int count = 0;
    const int code = dsmi_get_device_errorcode(id, &count, codes);
    if (code != DSMI_OK) return code;
    *error_count = std::min(count, static_cast<int>(std::min(list_len, 128U)));
    std::copy_n(codes, *error_count, error_code_list);
    return code;
  });
}

int dcmi_get_device_errorcode_string(int card_id, int device_id, unsigned int error_code,
                                     unsigned char* error_info, int buf_size) {
  return on_chip(card_id, device_id, [&](int id) {
    return dsmi_query_errorstring(id, error_code, error_info, buf_size);
  });
}

int dcmi_get_device_utilization_rate(int card_id, int device_id, int input_type,
                                     unsigned int* utilization_rate) {
  return on_chip(card_id, device_id, [&](int id) {
    return dsmi_get_device_utilization_rate(id, input_type, utilization_rate);
  });
}

int dcmi_get_device_frequency(int card_id, int device_id, int input_type, unsigned int* frequency) {
  return on_chip(card_id, device_id,
                 [&](int id) { return dsmi_get_device_frequency(id, input_type, frequency); });
}

int dcmi_get_device_aicore_info(int card_id, int device_id, struct dcmi_aicore_info* aicore_info) {
  if (aicore_info == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  return on_chip(card_id, device_id, [&](int id) {
    dsmi_aicore_info_stru clocks{};
    const int code = dsmi_get_aicore_info(id, &clocks);
    if (code == DSMI_OK) *aicore_info = {clocks.freq, clocks.curfreq};
    return code;
  });
}

int dcmi_get_device_aicpu_info(int card_id, int device_id, struct dcmi_aicpu_info* aicpu_info) {
  if (aicpu_info == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  return on_chip(card_id, device_id, [&](int id) {
    dsmi_aicpu_info_stru told{};
    const int code = dsmi_get_aicpu_info(id, &told);
    if (code != DSMI_OK) return code;
    *aicpu_info = {told.maxFreq, told.curFreq, told.aicpuNum, {}};
    std::copy_n(told.utilRate, TAISHAN_CORE_NUM, aicpu_info->util_rate);
    return code;
  });
}

int dcmi_get_device_hbm_info(int card_id, int device_id, struct dcmi_hbm_info* hbm_info) {
  if (hbm_info == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  return on_chip(card_id, device_id, [&](int id) {
    dsmi_hbm_info_stru told{};
    const int code = dsmi_get_hbm_info(id, &told);
    if (code != DSMI_OK) return code;
    *hbm_info = {told.memory_size / 1024, told.freq, told.memory_usage / 1024, told.temp,
                 told.bandwith_util_rate};
    return code;
  });
}

int dcmi_get_device_ecc_info(int card_id, int device_id, enum dcmi_device_type input_type,
                             struct dcmi_ecc_info* ecc_info) {
  if (ecc_info == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  return on_chip(card_id, device_id, [&](int id) {
    dsmi_ecc_info_stru now{};
    dsmi_ecc_pages_stru record{};
    int code = dsmi_get_ecc_info(id, static_cast<int>(input_type), &now);
    if (code != DSMI_OK) return code;
    code = dsmi_get_total_ecc_isolated_pages_info(id, static_cast<int>(input_type), &record);
    if (code != DSMI_OK) return code;
    *ecc_info = {now.enable_flag,
                 now.single_bit_error_count,
                 now.double_bit_error_count,
                 record.corrected_ecc_errors_aggregate_total,
                 record.uncorrected_ecc_errors_aggregate_total,
                 record.isolated_pages_single_bit_error,
                 record.isolated_pages_double_bit_error};
    return code;
  });
}

int dcmi_set_device_clear_ecc_statistics_info(int card_id, int device_id) {
  return on_chip(card_id, device_id, [](int id) {
    return dsmi_clear_ecc_isolated_statistics_info(id, DSMI_DEVICE_TYPE_HBM);
  });
}

int dcmi_get_device_temperature(int card_id, int device_id, int* temperature) {
  return on_chip(card_id, device_id,
                 [&](int id) { return dsmi_get_device_temperature(id, temperature); });
}

int dcmi_get_device_power_info(int card_id, int device_id, int* power) {
  if (power == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  return on_chip(card_id, device_id, [&](int id) {
    dsmi_power_info_stru told{};
    const int code = dsmi_get_device_power_info(id, &told);
    if (code == DSMI_OK) *power = told.power;
    return code;
  });
}

int dcmi_get_device_voltage(int card_id, int device_id, unsigned int* voltage) {
  return on_chip(card_id, device_id, [&](int id) { return dsmi_get_device_voltage(id, voltage); });
}

int dcmi_get_device_resource_info(int card_id, int device_id, struct dcmi_proc_mem_info* proc_info,
                                  int* proc_num) {
  if (proc_info == nullptr || proc_num == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  if (device_id != 0) return DCMI_ERR_CODE_INVALID_DEVICE_ID;
  return dcmi_code(on_card(card_id, [&](Session&, CardSession& card) {
    return give(card.management.processes(), [&](const std::vector<driver::CardProcess>& all) {
      const auto told = std::min<std::size_t>(all.size(), DCMI_PROCESSES_MAX);
      for (std::size_t i = 0; i < told; ++i) {
        proc_info[i] = {static_cast<int>(all[i].process.value), all[i].memory};
      }
      *proc_num = static_cast<int>(told);
    });
  }));
}

int dcmi_get_device_info(int card_id, int device_id, int main_cmd, unsigned int sub_cmd, void* buf,
                         unsigned int* size) {
  return on_chip(card_id, device_id, [&](int id) {
    return dsmi_get_device_info(static_cast<unsigned>(id), static_cast<DSMI_MAIN_CMD>(main_cmd),
                                sub_cmd, buf, size);
  });
}

int dcmi_set_device_info(int card_id, int device_id, int main_cmd, unsigned int sub_cmd,
                         const void* buf, unsigned int buf_size) {
  return on_chip(card_id, device_id, [&](int id) {
    return dsmi_set_device_info(static_cast<unsigned>(id), static_cast<DSMI_MAIN_CMD>(main_cmd),
                                sub_cmd, buf, buf_size);
  });
}

int dcmi_create_vdevice(int card_id, int device_id, struct dsmi_create_vdev_res_stru* vdev,
                        struct dsmi_create_vdev_result* out) {
  return on_chip(card_id, device_id, [&](int id) {
    return dsmi_create_vdevice(static_cast<unsigned>(id), kNotKnown, vdev, out);
  });
}

int dcmi_set_destroy_vdevice(int card_id, int device_id, unsigned int vdev_id) {
  return on_chip(card_id, device_id,
                 [&](int id) { return dsmi_destroy_vdevice(static_cast<unsigned>(id), vdev_id); });
}

int dcmi_subscribe_fault_event(int card_id, int device_id, struct dsmi_event_filter filter,
                               fault_event_callback handler) {
  if (card_id != -1 || device_id != -1) {
    return on_chip(card_id, device_id,
                   [&](int id) { return dsmi_subscribe_fault_event(id, filter, handler); });
  }
  int count = 0;
  int code = dsmi_get_device_count(&count);
  for (int id = 0; code == DSMI_OK && id < count; ++id) {
    code = dsmi_subscribe_fault_event(id, filter, handler);
  }
  return dcmi_code(code);
}

}  // extern "C"
