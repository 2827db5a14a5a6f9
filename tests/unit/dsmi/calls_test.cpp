// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>

#include "tests/unit/dsmi/fake_managed_card.hpp"

namespace npu::dsmi {
namespace {

// A function with a null pointer in place of each that it needs, and with a device of the caller's.
struct Call {
  const char* name;
  std::function<int(int device)> run;
  int expected;  // of a good device
};

template <class T>
T& scratch() {
  static T value{};
  return value;
}

std::vector<Call> good_calls() {
  return {
      {"chip", [](int d) { return dsmi_get_chip_info(d, &scratch<dsmi_chip_info_stru>()); }, 0},
      {"boot", [](int d) { return dsmi_get_device_boot_status(d, &scratch<dsmi_boot_status>()); },
       0},
      {"pcie", [](int d) { return dsmi_get_pcie_info(d, &scratch<tag_pcie_idinfo>()); }, 0},
      {"use", [](int d) { return dsmi_get_device_utilization_rate(d, 2, &scratch<unsigned>()); },
       0},
      {"frequency", [](int d) { return dsmi_get_device_frequency(d, 7, &scratch<unsigned>()); }, 0},
      {"aicore", [](int d) { return dsmi_get_aicore_info(d, &scratch<dsmi_aicore_info_stru>()); },
       0},
      {"aicpu", [](int d) { return dsmi_get_aicpu_info(d, &scratch<dsmi_aicpu_info_stru>()); }, 0},
      {"hbm", [](int d) { return dsmi_get_hbm_info(d, &scratch<dsmi_hbm_info_stru>()); }, 0},
      {"traffic", [](int d) { return npu_dsmi_get_traffic(d, &scratch<npu_dsmi_traffic>()); }, 0},
      {"health", [](int d) { return dsmi_get_device_health(d, &scratch<unsigned>()); }, 0},
      {"ecc", [](int d) { return dsmi_get_ecc_info(d, 2, &scratch<dsmi_ecc_info_stru>()); }, 0},
      {"pages",
       [](int d) {
         return dsmi_get_total_ecc_isolated_pages_info(d, 2, &scratch<dsmi_ecc_pages_stru>());
       },
       0},
      {"clear", [](int d) { return dsmi_clear_ecc_isolated_statistics_info(d, 2); }, 0},
      {"event", [](int d) { return dsmi_read_fault_event(d, 0, {}, &scratch<dsmi_event>()); },
       DSMI_ERROR_TIMEOUT},
  };
}

std::vector<Call> unsupported_calls() {
  constexpr int kNot = DSMI_ERROR_NOT_SUPPORT;
  using Group = dsmi_capability_group_info;
  return {
      {"board", [](int d) { return dsmi_get_board_info(d, &scratch<dsmi_board_info_stru>()); },
       kNot},
      {"memory", [](int d) { return dsmi_get_memory_info(d, &scratch<dsmi_memory_info_stru>()); },
       kNot},
      {"cgroup", [](int d) { return dsmi_get_device_cgroup_info(d, &scratch<tag_cgroup_info>()); },
       kNot},
      {"temperature", [](int d) { return dsmi_get_device_temperature(d, &scratch<int>()); }, kNot},
      {"power",
       [](int d) { return dsmi_get_device_power_info(d, &scratch<dsmi_power_info_stru>()); }, kNot},
      {"voltage", [](int d) { return dsmi_get_device_voltage(d, &scratch<unsigned>()); }, kNot},
      {"ddr", [](int d) { return dsmi_get_device_utilization_rate(d, 1, &scratch<unsigned>()); },
       kNot},
      {"ctrl", [](int d) { return dsmi_get_device_utilization_rate(d, 4, &scratch<unsigned>()); },
       kNot},
      {"clock 2", [](int d) { return dsmi_get_device_frequency(d, 2, &scratch<unsigned>()); },
       kNot},
      {"ecc ddr", [](int d) { return dsmi_get_ecc_info(d, 0, &scratch<dsmi_ecc_info_stru>()); },
       kNot},
      {"clear ddr", [](int d) { return dsmi_clear_ecc_isolated_statistics_info(d, 0); }, kNot},
      {"group", [](int d) { return dsmi_create_capability_group(d, 0, &scratch<Group>()); }, kNot},
      {"ungroup", [](int d) { return dsmi_delete_capability_group(d, 0, 1); }, kNot},
      {"groups",
       [](int d) { return dsmi_get_capability_group_info(d, 0, 1, &scratch<Group>(), 1); }, kNot},
      {"create",
       [](int d) {
         return dsmi_create_vdevice(static_cast<unsigned>(d), 1,
                                    &scratch<dsmi_create_vdev_res_stru>(),
                                    &scratch<dsmi_create_vdev_result>());
       },
       kNot},
      {"destroy", [](int d) { return dsmi_destroy_vdevice(static_cast<unsigned>(d), 1); }, kNot},
  };
}

TEST_F(DsmiTest, EveryFunctionAnswersForACardThatThereIs) {
  for (const auto& call : good_calls()) EXPECT_EQ(call.run(1), call.expected) << call.name;
}

TEST_F(DsmiTest, WhatIsNotModelledIsNotSupportedAndNever0) {
  for (const auto& call : unsupported_calls()) EXPECT_EQ(call.run(1), call.expected) << call.name;
}

TEST_F(DsmiTest, NoFunctionAnswersForACardThatThereIsNot) {
  for (const int device : {-1, 2, 64, 0x7FFFFFFF}) {
    for (const auto& calls : {good_calls(), unsupported_calls()}) {
      for (const auto& call : calls) {
        EXPECT_EQ(call.run(device), DSMI_ERROR_INVALID_DEVICE) << call.name << " " << device;
      }
    }
  }
}

TEST_F(DsmiTest, WithoutCardsThereIsNoDevice) {
  detach();
  int count = 7;
  EXPECT_EQ(dsmi_get_device_count(&count), DSMI_ERROR_NO_DEVICE);
  EXPECT_EQ(count, 7);
  for (const auto& call : good_calls()) EXPECT_EQ(call.run(0), DSMI_ERROR_NO_DEVICE) << call.name;
}

TEST_F(DsmiTest, ACardThatIsGoneIsAnInvalidDevice) {
  card.gone = true;
  card.region.fill(0xFF);
  for (const auto& call : good_calls()) {
    if (std::string(call.name) == "clear") continue;  // a write, after a read
    EXPECT_EQ(call.run(0), DSMI_ERROR_INVALID_DEVICE) << call.name;
  }
}

TEST_F(DsmiTest, ANullPointerIsAParameterError) {
  constexpr int kBad = DSMI_ERROR_PARAMETER;
  EXPECT_EQ(dsmi_get_device_count(nullptr), kBad);
  EXPECT_EQ(dsmi_list_device(nullptr, 2), kBad);
  EXPECT_EQ(dsmi_get_chip_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_board_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_boot_status(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_pcie_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_utilization_rate(0, 2, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_frequency(0, 7, nullptr), kBad);
  EXPECT_EQ(dsmi_get_aicore_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_aicpu_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_hbm_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_memory_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_cgroup_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_temperature(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_power_info(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_voltage(0, nullptr), kBad);
  EXPECT_EQ(npu_dsmi_get_traffic(0, nullptr), kBad);
}

TEST_F(DsmiTest, ANullPointerOfTheOthersIsAParameterErrorToo) {
  constexpr int kBad = DSMI_ERROR_PARAMETER;
  int count = 0;
  unsigned word = 0, size = 4;
  dsmi_create_vdev_res_stru wanted{};
  dsmi_create_vdev_result made{};
  EXPECT_EQ(dsmi_get_device_health(0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_errorcode(0, nullptr, &word), kBad);
  EXPECT_EQ(dsmi_get_device_errorcode(0, &count, nullptr), kBad);
  EXPECT_EQ(dsmi_query_errorstring(0, DSMI_CODE_RESET, nullptr, 8), kBad);
  EXPECT_EQ(dsmi_get_ecc_info(0, 2, nullptr), kBad);
  EXPECT_EQ(dsmi_get_total_ecc_isolated_pages_info(0, 2, nullptr), kBad);
  EXPECT_EQ(dsmi_subscribe_fault_event(0, {}, nullptr), kBad);
  EXPECT_EQ(dsmi_read_fault_event(0, 0, {}, nullptr), kBad);
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, 0, nullptr, &size), kBad);
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, 0, &word, nullptr), kBad);
  EXPECT_EQ(dsmi_set_device_info(0, DSMI_MAIN_CMD_QOS, 0, nullptr, 4), kBad);
  EXPECT_EQ(dsmi_get_resource_info(0, nullptr, nullptr), kBad);
  EXPECT_EQ(dsmi_create_capability_group(0, 0, nullptr), kBad);
  EXPECT_EQ(dsmi_get_capability_group_info(0, 0, 0, nullptr, 1), kBad);
  EXPECT_EQ(dsmi_create_vdevice(0, 0, nullptr, &made), kBad);
  EXPECT_EQ(dsmi_create_vdevice(0, 0, &wanted, nullptr), kBad);
  EXPECT_EQ(npu_dsmi_attach_socket(nullptr), kBad);
}

TEST_F(DsmiTest, AListWithTooLittleRoomIsNotTouched) {
  int ids[2] = {-7, -7};
  EXPECT_EQ(dsmi_list_device(ids, 1), DSMI_ERROR_PARAMETER);
  EXPECT_EQ(ids[0], -7);
  EXPECT_EQ(dsmi_list_device(ids, 2), DSMI_OK);
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[1], 1);
}

TEST_F(DsmiTest, ATextIsCutToItsRoom) {
  unsigned char text[6] = "xxxxx";
  EXPECT_EQ(dsmi_query_errorstring(0, DSMI_CODE_HBM_MULTI_BIT, text, 4), DSMI_OK);
  EXPECT_STREQ(reinterpret_cast<char*>(text), "HBM");
  EXPECT_EQ(text[4], 'x');
  EXPECT_EQ(dsmi_query_errorstring(0, 0x12345678, text, 4), DSMI_ERROR_NOT_EXIST);
  EXPECT_EQ(dsmi_query_errorstring(0, DSMI_CODE_RESET, text, 0), DSMI_ERROR_PARAMETER);
}

TEST_F(DsmiTest, UseIsBusyTimeOfAllCoresOverThatOfTheCard) {
  unsigned percent = 0;
  ASSERT_EQ(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_OVERALL, &percent), DSMI_OK);
  card.set(abi::DeviceTime::from_raw(2'000'000));
  for (unsigned core = 0; core < 18; ++core) card.busy(core, 1'000'000);
  ASSERT_EQ(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_OVERALL, &percent), DSMI_OK);
  EXPECT_EQ(percent, 25U) << "18 of 72";
  ASSERT_EQ(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_OVERALL, &percent), DSMI_OK);
  EXPECT_EQ(percent, 25U) << "no time has passed";
  card.set(abi::DeviceTime::from_raw(3'000'000));
  ASSERT_EQ(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_OVERALL, &percent), DSMI_OK);
  EXPECT_EQ(percent, 0U);
}

TEST_F(DsmiTest, AResetBeginsTheIntervalAnew) {
  unsigned percent = 0;
  card.busy(0, 900'000);
  ASSERT_EQ(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_CUBE, &percent), DSMI_OK);
  card.set(abi::DeviceTime::from_raw(1'000));
  for (unsigned core = 0; core < 12; ++core) card.busy(core, 1'000);
  ASSERT_EQ(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_CUBE, &percent), DSMI_OK);
  EXPECT_EQ(percent, 50U) << "12 of 24, since the reset";
}

TEST_F(DsmiTest, MemoryIsInKbAndItsTemperatureIsNotMadeUp) {
  dsmi_hbm_info_stru info{};
  ASSERT_EQ(dsmi_get_hbm_info(0, &info), DSMI_OK);
  EXPECT_EQ(info.memory_size, 67'108'864U);
  EXPECT_EQ(info.memory_usage, 3'145'728U);
  EXPECT_EQ(info.temp, LP_TEMP_INVALID_VALUE);
  unsigned percent = 0;
  ASSERT_EQ(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_HBM, &percent), DSMI_OK);
  EXPECT_EQ(percent, 5U) << "3 of 64 GiB";
}

}  // namespace
}  // namespace npu::dsmi
