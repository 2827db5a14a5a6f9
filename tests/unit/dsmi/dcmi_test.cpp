// SPDX-License-Identifier: Apache-2.0
#include "dsmi/dcmi_interface_api.h"

#include "tests/unit/dsmi/fake_managed_card.hpp"

namespace npu::dsmi {
namespace {

TEST_F(DsmiTest, DcmiKnowsACardOfOneChipForEachDevice) {
  int number = 0, list[4] = {-1, -1, -1, -1}, chips = 0, logic = -1;
  ASSERT_EQ(dcmi_init(), DCMI_OK);
  ASSERT_EQ(dcmi_get_card_list(&number, list, 4), DCMI_OK);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(list[1], 1);
  ASSERT_EQ(dcmi_get_device_num_in_card(1, &chips), DCMI_OK);
  EXPECT_EQ(chips, 1);
  ASSERT_EQ(dcmi_get_device_logic_id(&logic, 1, 0), DCMI_OK);
  EXPECT_EQ(logic, 1);
  EXPECT_EQ(dcmi_get_device_logic_id(&logic, 1, 1), DCMI_ERR_CODE_INVALID_DEVICE_ID);
}

TEST_F(DsmiTest, DcmiHasCodesOfItsOwn) {
  unsigned value = 0;
  int temperature = 0;
  EXPECT_EQ(dcmi_get_device_utilization_rate(9, 0, 2, &value), DCMI_ERR_CODE_INVALID_DEVICE_ID);
  EXPECT_EQ(dcmi_get_device_utilization_rate(0, 0, 2, nullptr), DCMI_ERR_CODE_INVALID_PARAMETER);
  EXPECT_EQ(dcmi_get_device_temperature(0, 0, &temperature), DCMI_ERR_CODE_NOT_SUPPORT);
  detach();
  EXPECT_EQ(dcmi_init(), DCMI_ERR_CODE_DEVICE_NOT_EXIST);
}

TEST_F(DsmiTest, DcmiTellsMemoryInMb) {
  dcmi_hbm_info info{};
  ASSERT_EQ(dcmi_get_device_hbm_info(0, 0, &info), DCMI_OK);
  EXPECT_EQ(info.memory_size, 65'536U);
  EXPECT_EQ(info.memory_usage, 3'072U);
}

TEST_F(DsmiTest, DcmiTellsErrorsNowAndOnRecord) {
  card.set(abi::EccSingle::from_raw(3));
  card.set(abi::EccDouble::from_raw(1));
  card.set(abi::HealthStatus{}
               .set<abi::HealthStatus::MemorySingle>(1)
               .set<abi::HealthStatus::MemoryDouble>(1));
  card.set(abi::EccRecordedSingle::from_raw(5));
  card.set(abi::EccIsolatedDouble::from_raw(2));
  dcmi_ecc_info info{};
  ASSERT_EQ(dcmi_get_device_ecc_info(0, 0, DCMI_DEVICE_TYPE_HBM, &info), DCMI_OK);
  EXPECT_EQ(info.single_bit_error_cnt, 3U);
  EXPECT_EQ(info.double_bit_error_cnt, 1U);
  EXPECT_EQ(info.total_single_bit_error_cnt, 5U);
  EXPECT_EQ(info.double_bit_isolated_pages_cnt, 2U);
  unsigned codes[1] = {};
  int count = 0;
  ASSERT_EQ(dcmi_get_device_errorcode_v2(0, 0, &count, codes, 1), DCMI_OK);
  EXPECT_EQ(count, 1) << "of two that there are";
}

TEST_F(DsmiTest, DcmiChipsHaveNameAndCores) {
  dcmi_chip_info_v2 chip{};
  ASSERT_EQ(dcmi_get_device_chip_info_v2(0, 0, &chip), DCMI_OK);
  EXPECT_STREQ(reinterpret_cast<char*>(chip.chip_name), "910B2");
  EXPECT_EQ(chip.aicore_cnt, 24U);
  dcmi_pcie_info_all pcie{};
  ASSERT_EQ(dcmi_get_device_pcie_info_v2(0, 0, &pcie), DCMI_OK);
  EXPECT_EQ(pcie.deviceid, 0xD802U);
  EXPECT_EQ(pcie.bdf_deviceid, 2U);
}

TEST_F(DsmiTest, DcmiHasNoRatesOfACardWhoseClockStandsStill) {
  dcmi_pcie_link_bandwidth_info info{};
  EXPECT_EQ(dcmi_get_pcie_link_bandwidth_info(0, 0, &info), DCMI_ERR_CODE_INVALID_PARAMETER);
  info.profiling_time = 1;
  EXPECT_EQ(dcmi_get_pcie_link_bandwidth_info(0, 0, &info), DCMI_ERR_CODE_NOT_SUPPORT);
}

TEST_F(DsmiTest, DcmiListsProcesses) {
  dcmi_proc_mem_info list[DCMI_PROCESSES_MAX];
  int count = 0;
  ASSERT_EQ(dcmi_get_device_resource_info(0, 0, list, &count), DCMI_OK);
  ASSERT_EQ(count, 1);
  EXPECT_EQ(list[0].proc_id, 4711);
  EXPECT_EQ(list[0].proc_mem_usage, 5_GiB);
}

TEST_F(DsmiTest, DcmiVersionsNeedTheirRoom) {
  char text[DCMI_VERSION_MAX] = "x";
  EXPECT_EQ(dcmi_get_dcmi_version(text, 4), DCMI_ERR_CODE_INVALID_PARAMETER);
  EXPECT_EQ(text[0], 'x');
  EXPECT_EQ(dcmi_get_dcmi_version(text, sizeof text), DCMI_OK);
  EXPECT_EQ(std::string(text).rfind("npusim ", 0), 0U);
}

}  // namespace
}  // namespace npu::dsmi
