// SPDX-License-Identifier: Apache-2.0
// Sizes and places that programs were compiled with, typed by hand (management.md G3).
#include <gtest/gtest.h>

#include <cstddef>

#include "dsmi/dcmi_interface_api.h"

namespace {

TEST(DsmiLayout, OfMemoryAndCores) {
  EXPECT_EQ(sizeof(dsmi_hbm_info_stru), 32U);
  EXPECT_EQ(offsetof(dsmi_hbm_info_stru, memory_usage), 16U);
  EXPECT_EQ(offsetof(dsmi_hbm_info_stru, temp), 24U);
  EXPECT_EQ(sizeof(dsmi_memory_info_stru), 16U);
  EXPECT_EQ(sizeof(dsmi_aicpu_info_stru), 76U);
  EXPECT_EQ(sizeof(dsmi_aicore_info_stru), 8U);
  EXPECT_EQ(sizeof(dsmi_ecc_info_stru), 12U);
  EXPECT_EQ(sizeof(dsmi_ecc_pages_stru), 16U);
  EXPECT_EQ(sizeof(tag_pcie_idinfo), 28U);
  EXPECT_EQ(sizeof(dsmi_chip_info_stru), 96U);
  EXPECT_EQ(sizeof(dsmi_board_info_stru), 16U);
  EXPECT_EQ(sizeof(tag_cgroup_info), 24U);
  EXPECT_EQ(sizeof(dsmi_power_info_stru), 2U);
}

TEST(DsmiLayout, OfCommands) {
  EXPECT_EQ(sizeof(TS_UTILIZATION_RATE), 10U);
  EXPECT_EQ(sizeof(TS_UTILIZATION_BLOCK), 2008U);
  EXPECT_EQ(sizeof(DSMI_PCIE_LINK_ERROR_INFO), 64U);
  EXPECT_EQ(sizeof(dsmi_pcie_info_para), 44U);
  EXPECT_EQ(sizeof(dsmi_domain_info), 52U);
  EXPECT_EQ(sizeof(dsmi_capability_group_info), 64U);
  EXPECT_EQ(sizeof(dsmi_resource_para), 48U);
  EXPECT_EQ(sizeof(dsmi_resource_info), 48U);
}

TEST(DsmiLayout, OfVirtualDevices) {
  EXPECT_EQ(sizeof(dsmi_base_resource), 64U);
  EXPECT_EQ(sizeof(dsmi_computing_configurable), 64U);
  EXPECT_EQ(offsetof(dsmi_computing_configurable, aic), 8U);
  EXPECT_EQ(sizeof(dsmi_media_resource), 56U);
  EXPECT_EQ(sizeof(dsmi_create_vdev_res_stru), 200U);
  EXPECT_EQ(sizeof(dsmi_create_vdev_result), 52U);
  EXPECT_EQ(offsetof(dsmi_soc_total_resource, vdev_id), 4U);
  EXPECT_EQ(offsetof(dsmi_soc_total_resource, vfg_num), 132U);
  EXPECT_EQ(offsetof(dsmi_soc_total_resource, base), 144U);
}

TEST(DsmiLayout, OfEvents) {
  EXPECT_EQ(offsetof(dms_fault_event, severity), 10U);
  EXPECT_EQ(offsetof(dms_fault_event, event_serial_num), 12U);
  EXPECT_EQ(offsetof(dms_fault_event, alarm_raised_time), 24U);
  EXPECT_EQ(offsetof(dms_fault_event, event_name), 32U);
  EXPECT_EQ(offsetof(dms_fault_event, additional_info), 288U);
  EXPECT_EQ(sizeof(dms_fault_event), 352U);
}

TEST(DsmiLayout, OfNumbers) {
  EXPECT_EQ(DSMI_ERROR_NOT_SUPPORT, 0xFFFE);
  EXPECT_EQ(DSMI_MAIN_CMD_TS, 11);
  EXPECT_EQ(DSMI_MAIN_CMD_VDEV_MNG, 52);
  EXPECT_EQ(DSMI_MAIN_CMD_PCIE, 55);
  EXPECT_EQ(DSMI_HBM_RECORDED_MULTI_ADDR, 5);
  EXPECT_EQ(DSMI_DEV_PROCESS_MEM, 9);
  EXPECT_EQ(DCMI_ERR_CODE_NOT_SUPPORT, -8255);
}

}  // namespace
