// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/management_calls.hpp"

#include <dsmi/dsmi_common_interface.h>
#include <cmath>

#include <limits>
#include <tuple>

namespace npu::fuzz {
namespace {

// A call whose arguments are made; what is in the rooms is noted in front of it.
template <class Call, class... Arguments>
int ask(Rooms& r, Call call, Arguments... arguments) {
  r.given();
  return call(arguments...);
}

// (id, T*) and (card, chip, T*).
template <class T>
int ask_dsmi(Rooms& r, int (*call)(int, T*)) {
  auto* const to = r.thing<T>();
  return ask(r, call, r.id(), to);
}
template <class T>
int ask_dcmi(Rooms& r, int (*call)(int, int, T*)) {
  auto* const to = r.thing<T>();
  const int card = r.id();
  return ask(r, call, card, r.id(), to);
}

int command(Rooms& r) {
  if (r.chance().percent(15)) return static_cast<int>(r.number() & DSMI_MAIN_CMD_MAX);
  return r.chance().of<int>({DSMI_MAIN_CMD_LP, DSMI_MAIN_CMD_MEMORY, DSMI_MAIN_CMD_TS,
                             DSMI_MAIN_CMD_QOS, DSMI_MAIN_CMD_SOC_INFO, DSMI_MAIN_CMD_HCCS,
                             DSMI_MAIN_CMD_TEMP, DSMI_MAIN_CMD_SVM, DSMI_MAIN_CMD_VDEV_MNG,
                             DSMI_MAIN_CMD_PCIE, DSMI_MAIN_CMD_EX_COMPUTING});
}

std::size_t answer_size(Rooms& r) {
  return r.chance().of<std::size_t>(
      {4, 8, 10, sizeof(dsmi_memory_info), sizeof(dsmi_vdev_query_stru), sizeof(dsmi_domain_info),
       sizeof(dsmi_soc_free_resource), sizeof(dsmi_soc_total_resource),
       sizeof(dsmi_hccs_statistic_info), sizeof(ts_utilization_block_info),
       sizeof(dsmi_lp_status_stru), sizeof(dsmi_pcie_info_para)});
}

// Size and memory of an answer, of which the program at times says more than it is.
std::tuple<int, unsigned, void*, unsigned*> answer(Rooms& r) {
  const unsigned size = r.size_near(answer_size(r));
  auto* const told = r.thing<unsigned>();
  if (told != nullptr) *told = size;
  return {command(r),
          r.chance().percent(80) ? static_cast<unsigned>(r.chance().below(8)) : r.number(),
          r.bytes(std::min<std::size_t>(size, Rooms::kRoom)), told};
}

// What is set: a computing token, or anything.
std::tuple<int, unsigned, const void*, unsigned> setting(Rooms& r) {
  if (r.chance().percent(40)) {
    auto* const token = r.thing<dsmi_computing_token_stru>();
    if (token != nullptr) {
      constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
      token->value = r.chance().of({0.0F, 1.0F, -1.0F, 0.4F, 16384.0F, 65535.0F, 65535.4F, 65536.0F,
                                    1e30F, -HUGE_VALF, HUGE_VALF, kNone});
      token->type = r.chance().of<unsigned char>({0, 1, 2, 3, 0xFF});
    }
    return {DSMI_MAIN_CMD_EX_COMPUTING, static_cast<unsigned>(r.chance().below(2)), token,
            r.size_near(sizeof *token) % 9};
  }
  const unsigned size = r.size_near(4);
  const auto which = command(r);
  return {which, static_cast<unsigned>(r.chance().below(8)), r.bytes(size), size};
}

dsmi_create_vdev_res_stru* wanted(Rooms& r) {
  auto* const all = r.thing<dsmi_create_vdev_res_stru>();
  if (all == nullptr || r.chance().percent(30)) return all;
  std::memset(all, 0, sizeof *all);
  const auto* const name = r.chance().of(
      {"", "vir03_1c_8g", "vir06_1c_16g", "vir12_3c_32g", "vir99", "0123456789abcdef"});
  std::memcpy(all->name, name, std::min(std::strlen(name) + 1, sizeof all->name));
  all->computing.aic = r.chance().of({0.0F, 1.0F, 6.0F, -1.0F, 1e30F, HUGE_VALF});
  all->computing.memory_size = r.chance().of<unsigned long long>({0, 1, 8192, 1ULL << 44, ~0ULL});
  all->base.token = r.chance().of<unsigned long long>({0, 1, 65535, 65536, ~0ULL});
  all->base.vfg_id = r.number();
  return all;
}

dsmi_event_filter filter(Rooms& r) {
  dsmi_event_filter only = {};
  only.filter_flag = r.chance().below(9);
  only.event_id = r.number();
  only.severity = static_cast<unsigned char>(r.chance().below(5));
  only.node_type = static_cast<unsigned char>(r.number());
  return only;
}

#define NPU_DSMI(name)                                 \
  {                                                    \
#name, [](Rooms & r) { return ask_dsmi(r, name); } \
  }
#define NPU_DCMI(name)                                 \
  {                                                    \
#name, [](Rooms & r) { return ask_dcmi(r, name); } \
  }

void hear(dsmi_event* event) {
  static_cast<void>(event);
}

const std::vector<ManagementCall> kSimple = {
    NPU_DSMI(dsmi_get_chip_info),
    NPU_DSMI(dsmi_get_board_info),
    NPU_DSMI(dsmi_get_device_boot_status),
    NPU_DSMI(dsmi_get_pcie_info),
    NPU_DSMI(dsmi_get_aicore_info),
    NPU_DSMI(dsmi_get_aicpu_info),
    NPU_DSMI(dsmi_get_hbm_info),
    NPU_DSMI(dsmi_get_memory_info),
    NPU_DSMI(dsmi_get_device_cgroup_info),
    NPU_DSMI(dsmi_get_device_temperature),
    NPU_DSMI(dsmi_get_device_power_info),
    NPU_DSMI(dsmi_get_device_voltage),
    NPU_DSMI(npu_dsmi_get_traffic),
    NPU_DSMI(dsmi_get_device_health),
    NPU_DSMI(dcmi_get_device_num_in_card),
    NPU_DCMI(dcmi_get_device_type),
    NPU_DCMI(dcmi_get_device_chip_info),
    NPU_DCMI(dcmi_get_device_chip_info_v2),
    NPU_DCMI(dcmi_get_device_pcie_info_v2),
    NPU_DCMI(dcmi_get_device_health),
    NPU_DCMI(dcmi_get_device_aicore_info),
    NPU_DCMI(dcmi_get_device_aicpu_info),
    NPU_DCMI(dcmi_get_device_hbm_info),
    NPU_DCMI(dcmi_get_device_temperature),
    NPU_DCMI(dcmi_get_device_power_info),
    NPU_DCMI(dcmi_get_device_voltage),
};

#undef NPU_DSMI
#undef NPU_DCMI

const std::vector<ManagementCall> kLists = {
    {"dsmi_get_device_count",
     [](Rooms& r) { return ask(r, dsmi_get_device_count, r.thing<int>()); }},
    {"dsmi_list_device",
     [](Rooms& r) {
       const int count = r.id();
       return ask(r, dsmi_list_device, r.things<int>(count), count);
     }},
    {"dcmi_get_card_list",
     [](Rooms& r) {
       const int length = r.id();
       auto* const list = r.things<int>(length);
       return ask(r, dcmi_get_card_list, r.thing<int>(), list, length);
     }},
    {"dcmi_get_card_num_list",
     [](Rooms& r) {
       const int length = r.id();
       auto* const list = r.things<int>(length);
       return ask(r, dcmi_get_card_num_list, r.thing<int>(), list, length);
     }},
    {"dcmi_get_device_id_in_card",
     [](Rooms& r) {
       auto *const most = r.thing<int>(), *const mcu = r.thing<int>();
       return ask(r, dcmi_get_device_id_in_card, r.id(), most, mcu, r.thing<int>());
     }},
    {"dcmi_get_device_logic_id",
     [](Rooms& r) {
       const int card = r.id();
       return ask(r, dcmi_get_device_logic_id, r.thing<int>(), card, r.id());
     }},
    {"dcmi_get_dcmi_version",
     [](Rooms& r) {
       const unsigned length = r.size_near(DCMI_VERSION_MAX);
       auto* const text = static_cast<char*>(r.bytes(length));
       return ask(r, r.chance().percent(50) ? dcmi_get_dcmi_version : dcmi_get_driver_version, text,
                  length);
     }},
    {"dcmi_init", [](Rooms& r) { return ask(r, dcmi_init); }},
    {"npu_dsmi_attach_socket",
     [](Rooms& r) {
       return ask(r, npu_dsmi_attach_socket, r.chance().of<const char*>({nullptr, "", "/nowhere"}));
     }},
    {"dcmi_get_device_resource_info",
     [](Rooms& r) {
       auto* const all = r.things<dcmi_proc_mem_info>(DCMI_PROCESSES_MAX);
       const int card = r.id();
       return ask(r, dcmi_get_device_resource_info, card, r.id(), all, r.thing<int>());
     }},
};

const std::vector<ManagementCall> kUses = {
    {"dsmi_get_device_utilization_rate",
     [](Rooms& r) {
       const auto kind = static_cast<int>(r.number() % 20) - 1;
       return ask(r, dsmi_get_device_utilization_rate, r.id(), kind, r.thing<unsigned>());
     }},
    {"dcmi_get_device_utilization_rate",
     [](Rooms& r) {
       const auto kind = static_cast<int>(r.number());
       return ask(r, dcmi_get_device_utilization_rate, 0, r.id(), kind, r.thing<unsigned>());
     }},
    {"dsmi_get_device_frequency",
     [](Rooms& r) {
       const auto kind = static_cast<int>(r.number() % 12);
       return ask(r, dsmi_get_device_frequency, r.id(), kind, r.thing<unsigned>());
     }},
    {"dcmi_get_device_frequency",
     [](Rooms& r) {
       const auto kind = static_cast<int>(r.number());
       return ask(r, dcmi_get_device_frequency, r.id(), 0, kind, r.thing<unsigned>());
     }},
    {"dcmi_get_pcie_link_bandwidth_info",
     [](Rooms& r) {
       auto* const info = r.thing<dcmi_pcie_link_bandwidth_info>();
       if (info != nullptr)
         info->profiling_time = r.chance().of({0, -1, 1, 3, 20, 2001, INT32_MAX});
       return ask(r, dcmi_get_pcie_link_bandwidth_info, 0, r.id(), info);
     }},
    {"dsmi_get_ecc_info",
     [](Rooms& r) {
       const auto kind = static_cast<int>(r.number() % 8);
       return ask(r, dsmi_get_ecc_info, r.id(), kind, r.thing<dsmi_ecc_info_stru>());
     }},
    {"dcmi_get_device_ecc_info",
     [](Rooms& r) {
       const auto kind = static_cast<dcmi_device_type>(r.number() % 4);
       return ask(r, dcmi_get_device_ecc_info, 0, r.id(), kind, r.thing<dcmi_ecc_info>());
     }},
    {"dsmi_get_total_ecc_isolated_pages_info",
     [](Rooms& r) {
       const auto kind = static_cast<int>(r.number() % 8);
       return ask(r, dsmi_get_total_ecc_isolated_pages_info, r.id(), kind,
                  r.thing<dsmi_ecc_pages_stru>());
     }},
    {"dsmi_clear_ecc_isolated_statistics_info",
     [](Rooms& r) {
       const auto kind = static_cast<int>(r.number() % 8);
       return ask(r, dsmi_clear_ecc_isolated_statistics_info, r.id(), kind);
     }},
    {"dcmi_set_device_clear_ecc_statistics_info",
     [](Rooms& r) { return ask(r, dcmi_set_device_clear_ecc_statistics_info, r.id(), r.id()); }},
};

const std::vector<ManagementCall> kErrors = {
    {"dsmi_get_device_errorcode",
     [](Rooms& r) {
       auto* const codes = r.things<unsigned>(DSMI_ERROR_CODES_MAX);
       return ask(r, dsmi_get_device_errorcode, r.id(), r.thing<int>(), codes);
     }},
    {"dcmi_get_device_errorcode_v2",
     [](Rooms& r) {
       const unsigned length = r.number();
       auto* const codes = r.things<unsigned>(static_cast<int>(length % 200));
       return ask(r, dcmi_get_device_errorcode_v2, r.id(), 0, r.thing<int>(), codes, length % 200);
     }},
    {"dsmi_query_errorstring",
     [](Rooms& r) {
       const auto size = static_cast<int>(r.number()), room = std::clamp(size, 0, 300);
       auto* const text = static_cast<unsigned char*>(r.bytes(static_cast<std::size_t>(room)));
       const unsigned code = r.chance().percent(50) ? DSMI_CODE_HBM_MULTI_BIT : r.number();
       return r.chance().percent(50)
                  ? ask(r, dsmi_query_errorstring, r.id(), code, text, std::min(size, 300))
                  : ask(r, dcmi_get_device_errorcode_string, 0, r.id(), code, text,
                        std::min(size, 300));
     }},
    {"dsmi_read_fault_event",
     [](Rooms& r) {
       const int timeout = r.chance().of({0, 1, 3, -1, INT32_MIN});
       return ask(r, dsmi_read_fault_event, r.id(), timeout, filter(r), r.thing<dsmi_event>());
     }},
    {"dsmi_subscribe_fault_event",
     [](Rooms& r) {
       const fault_event_callback handler = r.chance().percent(20) ? nullptr : hear;
       return r.chance().percent(50)
                  ? ask(r, dsmi_subscribe_fault_event, r.id(), filter(r), handler)
                  : ask(r, dcmi_subscribe_fault_event, r.id(), r.id(), filter(r), handler);
     }},
};

const std::vector<ManagementCall> kCommands = {
    {"dsmi_get_device_info",
     [](Rooms& r) {
       const auto [which, part, to, size] = answer(r);
       return ask(r, dsmi_get_device_info, static_cast<unsigned>(r.id()),
                  static_cast<DSMI_MAIN_CMD>(which), part, to, size);
     }},
    {"dcmi_get_device_info",
     [](Rooms& r) {
       const auto [which, part, to, size] = answer(r);
       return ask(r, dcmi_get_device_info, r.id(), 0, which, part, to, size);
     }},
    {"dsmi_set_device_info",
     [](Rooms& r) {
       const auto [which, part, from, size] = setting(r);
       return ask(r, dsmi_set_device_info, static_cast<unsigned>(r.id()),
                  static_cast<DSMI_MAIN_CMD>(which), part, from, size);
     }},
    {"dcmi_set_device_info",
     [](Rooms& r) {
       const auto [which, part, from, size] = setting(r);
       return ask(r, dcmi_set_device_info, 0, r.id(), which, part, from, size);
     }},
    {"dsmi_get_resource_info",
     [](Rooms& r) {
       auto* const what = r.thing<dsmi_resource_para>();
       auto* const to = r.thing<dsmi_resource_info>();
       if (what != nullptr) {
         *what = {r.number() % 4, r.number(), r.number() % 12, r.number(), {}};
       }
       const unsigned size = r.size_near(8);
       auto* const room = r.bytes(size);
       if (to != nullptr) *to = {size, room, {}};
       return ask(r, dsmi_get_resource_info, static_cast<unsigned>(r.id()), what, to);
     }},
};

const std::vector<ManagementCall> kParts = {
    {"dsmi_create_capability_group",
     [](Rooms& r) {
       auto* const group = r.thing<dsmi_capability_group_info>();
       if (group != nullptr && r.chance().percent(70)) {
         *group = {};
         group->group_id = r.number();
         group->aicore_number = r.number() % 40;
         group->aicore_mask[r.chance().below(2)] = r.chance().percent(50) ? 0 : r.number();
       }
       return ask(r, dsmi_create_capability_group, r.id(), r.id(), group);
     }},
    {"dsmi_delete_capability_group",
     [](Rooms& r) {
       return ask(r, dsmi_delete_capability_group, r.id(), r.id(), static_cast<int>(r.number()));
     }},
    {"dsmi_get_capability_group_info",
     [](Rooms& r) {
       const int which = static_cast<int>(r.number() % 34) - 1, count = r.id() % 100;
       auto* const groups = r.things<dsmi_capability_group_info>(count);
       return ask(r, dsmi_get_capability_group_info, r.id(), r.id(), which, groups, count);
     }},
    {"dsmi_create_vdevice",
     [](Rooms& r) {
       auto* const how = wanted(r);
       const unsigned which = r.chance().percent(70) ? ~0U : r.number();
       return ask(r, dsmi_create_vdevice, static_cast<unsigned>(r.id()), which, how,
                  r.thing<dsmi_create_vdev_result>());
     }},
    {"dcmi_create_vdevice",
     [](Rooms& r) {
       auto* const how = wanted(r);
       return ask(r, dcmi_create_vdevice, 0, r.id(), how, r.thing<dsmi_create_vdev_result>());
     }},
    {"dsmi_destroy_vdevice",
     [](Rooms& r) {
       const unsigned which = r.chance().percent(30) ? DSMI_VDEV_ALL : r.number();
       return ask(r, dsmi_destroy_vdevice, static_cast<unsigned>(r.id()), which);
     }},
    {"dcmi_set_destroy_vdevice",
     [](Rooms& r) { return ask(r, dcmi_set_destroy_vdevice, r.id(), 0, r.number()); }},
};

}  // namespace

const std::vector<ManagementCall>& management_calls() {
  static const std::vector<ManagementCall> kAll = [] {
    auto all = kSimple;
    for (const auto* more : {&kLists, &kUses, &kErrors, &kCommands, &kCommands, &kParts}) {
      all.insert(all.end(), more->begin(), more->end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace npu::fuzz
