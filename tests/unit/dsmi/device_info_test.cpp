// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/dsmi/fake_managed_card.hpp"

namespace npu::dsmi {
namespace {

TEST_F(DsmiTest, CoresComeInRecordsOfTenWithNoneBehindThem) {
  unsigned char rows[30];
  unsigned size = sizeof rows;
  ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, 0, rows, &size), DSMI_OK);
  card.set(abi::DeviceTime::from_raw(2'000'000));
  card.busy(23, 500'000);
  ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, 0, rows, &size), DSMI_OK);
  EXPECT_EQ(size, 30U);
  EXPECT_EQ(rows[22], 0);
  EXPECT_EQ(rows[23], 50);
  EXPECT_EQ(rows[24], 0xFF) << "no such core";
}

TEST_F(DsmiTest, ABufferThatIsTooShortIsNotTouchedAndCostsNoInterval) {
  unsigned char rows[30] = {7};
  unsigned size = 29;
  card.busy(0, 1'000'000);
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, 0, rows, &size), DSMI_ERROR_PARAMETER);
  EXPECT_EQ(size, 29U);
  EXPECT_EQ(rows[0], 7);
  size = 30;
  ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, 0, rows, &size), DSMI_OK);
  EXPECT_EQ(rows[0], 100) << "since the reset";
}

TEST_F(DsmiTest, ABlockOfCoresSaysItsRoomItself) {
  TS_UTILIZATION_BLOCK block{};
  unsigned size = sizeof block;
  constexpr auto kVector = DSMI_TS_SUB_CMD_VECTORCORE_MULTI_UTILIZATION_RATE;
  block.array_len = 4;
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, kVector, &block, &size), DSMI_ERROR_PARAMETER)
      << "48 cores are 5 records";
  block.array_len = CORE_UTIL_ARR_MAX_LEN + 1;
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, kVector, &block, &size),
            DSMI_ERROR_PARAMETER);
  block.array_len = 5;
  ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_TS, kVector, &block, &size), DSMI_OK);
  EXPECT_EQ(block.valid_core_num, 48U);
  EXPECT_EQ(size, 8U + 50U);
}

TEST_F(DsmiTest, TheDomainTellsCoresByKind) {
  dsmi_domain_info info{};
  unsigned size = sizeof info;
  ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_SOC_INFO, 0, &info, &size), DSMI_OK);
  EXPECT_EQ(info.ai_core_num, 24);
  EXPECT_EQ(info.vector_core_num, 48);
  EXPECT_EQ(info.ai_cpu_num, 6);
}

TEST_F(DsmiTest, ASettingIsReadBackAsItWasMadeAndOnItsCardAlone) {
  const unsigned length = 77;
  unsigned got = 0, size = sizeof got;
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_SVM, DSMI_GET_VDEV_CONVERT_LEN, &got, &size),
            DSMI_ERROR_NOT_EXIST)
      << "nobody has made it";
  ASSERT_EQ(dsmi_set_device_info(0, DSMI_MAIN_CMD_SVM, DSMI_SET_VDEV_CONVERT_LEN, &length, 4),
            DSMI_OK);
  ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_SVM, DSMI_GET_VDEV_CONVERT_LEN, &got, &size),
            DSMI_OK);
  EXPECT_EQ(got, 77U);
  EXPECT_EQ(dsmi_get_device_info(1, DSMI_MAIN_CMD_SVM, DSMI_GET_VDEV_CONVERT_LEN, &got, &size),
            DSMI_ERROR_NOT_EXIST);
}

TEST_F(DsmiTest, ASettingOfQosHasAnySizeUpToTheLargest) {
  std::vector<unsigned char> bytes(DSMI_SETTING_MAX, 9), got(DSMI_SETTING_MAX);
  unsigned size = DSMI_SETTING_MAX;
  EXPECT_EQ(dsmi_set_device_info(0, DSMI_MAIN_CMD_QOS, 3, bytes.data(), size + 1),
            DSMI_ERROR_PARAMETER);
  ASSERT_EQ(dsmi_set_device_info(0, DSMI_MAIN_CMD_QOS, 3, bytes.data(), size), DSMI_OK);
  ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_QOS, 3, got.data(), &size), DSMI_OK);
  EXPECT_EQ(got, bytes);
  size = DSMI_SETTING_MAX - 1;
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_QOS, 3, got.data(), &size), DSMI_ERROR_PARAMETER);
}

TEST_F(DsmiTest, ResourcesNeedTheirRoom) {
  unsigned long long bytes = 0;
  dsmi_resource_para para{DSMI_DEV_RESOURCE, 0, DSMI_DEV_HBM_FREE, 0, {}};
  dsmi_resource_info info{sizeof bytes - 1, &bytes, {}};
  EXPECT_EQ(dsmi_get_resource_info(0, &para, &info), DSMI_ERROR_PARAMETER);
  info.buf_len = sizeof bytes;
  ASSERT_EQ(dsmi_get_resource_info(0, &para, &info), DSMI_OK);
  EXPECT_EQ(bytes, 61_GiB);
  para = {DSMI_PROCESS_RESOURCE, 4711, DSMI_DEV_PROCESS_MEM, 0, {}};
  ASSERT_EQ(dsmi_get_resource_info(0, &para, &info), DSMI_OK);
  EXPECT_EQ(bytes, 5_GiB);
  para.owner_id = 4712;
  EXPECT_EQ(dsmi_get_resource_info(0, &para, &info), DSMI_ERROR_NOT_EXIST);
}

int info(unsigned main, unsigned sub, void* buf, unsigned room) {
  return dsmi_get_device_info(0, static_cast<DSMI_MAIN_CMD>(main), sub, buf, &room);
}

TEST_F(DsmiTest, MemoryIsThatOfTheHbm) {
  unsigned long long capacity = 0;
  unsigned enabled = 0;
  dsmi_memory_info memory{};
  EXPECT_EQ(info(DSMI_MAIN_CMD_MEMORY, DSMI_SUB_CMD_MEMORY_CAPACITY, &capacity, 8), DSMI_OK);
  EXPECT_EQ(capacity, 64_GiB);
  EXPECT_EQ(info(DSMI_MAIN_CMD_MEMORY, DSMI_SUB_CMD_MEMORY_ECC_ENABLE, &enabled, 4), DSMI_OK);
  EXPECT_EQ(enabled, 1U);
  EXPECT_EQ(info(DSMI_MAIN_CMD_MEMORY, DSMI_SUB_CMD_HBM_MEMORY, &memory, sizeof memory), DSMI_OK);
  EXPECT_EQ(memory.total_size, 64U << 20);
  EXPECT_EQ(memory.used_size, 3U << 20);
  EXPECT_EQ(info(DSMI_MAIN_CMD_MEMORY, DSMI_SUB_CMD_HBM_MEMORY, &memory, 45), DSMI_ERROR_PARAMETER);
  for (const unsigned sub : {0U, 2U, 3U, 5U, 9U, 10U, 30U, 32U, 33U, 34U, 36U}) {
    EXPECT_EQ(info(DSMI_MAIN_CMD_MEMORY, sub, &memory, sizeof memory), DSMI_ERROR_NOT_SUPPORT);
  }
}

TEST_F(DsmiTest, LinksToOtherCardsAreCountedInTheirOrder) {
  dsmi_hccs_statistic_info counts{};
  dsmi_hccs_lane_info lanes{};
  dsmi_hccs_status status{7, 7, {}};
  EXPECT_EQ(info(DSMI_MAIN_CMD_HCCS, 0, &status, sizeof status), DSMI_ERROR_NOT_SUPPORT)
      << "a card that does not tell";
  card.set(abi::TelemetryCapability::from_raw(0x45F));
  EXPECT_EQ(info(DSMI_MAIN_CMD_HCCS, 0, &status, sizeof status), DSMI_ERROR_NOT_SUPPORT)
      << "no link";
  card.set(abi::HccsLinks::from_raw(0b10'0010));
  card.region.put(abi::kHccsSentWindow.at(5), std::uint64_t{0x1'0000'0003});
  card.region.put(abi::kHccsReceivedWindow.at(1), std::uint64_t{4});
  EXPECT_EQ(info(DSMI_MAIN_CMD_HCCS, 0, &status, sizeof status), DSMI_OK);
  EXPECT_EQ(status.pcs_status + status.hdlc_status, 0U);
  EXPECT_EQ(info(DSMI_MAIN_CMD_HCCS, 1, &lanes, sizeof lanes), DSMI_OK);
  EXPECT_EQ(lanes.hccs_port_pcs_bitmap, 3U);
  EXPECT_EQ(info(DSMI_MAIN_CMD_HCCS, 3, &counts, sizeof counts), DSMI_OK);
  EXPECT_EQ(counts.rx_cnt[0], 4U);
  EXPECT_EQ(counts.tx_cnt[1], 3U);
  for (const unsigned sub : {2U, 4U, 5U}) {
    EXPECT_EQ(info(DSMI_MAIN_CMD_HCCS, sub, &counts, sizeof counts), DSMI_ERROR_NOT_SUPPORT);
  }
}

TEST_F(DsmiTest, TheCardHasOneLevelOfWork) {
  dsmi_lp_status_stru status{7, 7};
  dsmi_lp_cur_tops_stru level{7, 7};
  unsigned long long cause = 7;
  EXPECT_EQ(info(DSMI_MAIN_CMD_LP, DSMI_LP_SUB_CMD_STATUS, &status, sizeof status), DSMI_OK);
  EXPECT_EQ(status.status, 0U);
  EXPECT_EQ(info(DSMI_MAIN_CMD_LP, DSMI_LP_SUB_CMD_GET_WORK_TOPS, &level, 8), DSMI_OK);
  EXPECT_EQ(level.tops_nums, 1U);
  constexpr unsigned kCause = DSMI_LP_SUB_CMD_AICORE_FREQREDUC_CAUSE;
  EXPECT_EQ(info(DSMI_MAIN_CMD_LP, kCause, &cause, 8), DSMI_ERROR_NOT_SUPPORT) << "it is slower";
  card.set(abi::CoreClock{}.set<abi::CoreClock::Rated>(1800).set<abi::CoreClock::Present>(1800));
  EXPECT_EQ(info(DSMI_MAIN_CMD_LP, kCause, &cause, 8), DSMI_OK);
  EXPECT_EQ(cause, 0U);
  for (const unsigned sub : {0U, 1U, 2U, 3U, 4U, 6U, 7U, 10U, 11U}) {
    EXPECT_EQ(info(DSMI_MAIN_CMD_LP, sub, &cause, 8), DSMI_ERROR_NOT_SUPPORT);
    EXPECT_EQ(dsmi_set_device_info(0, DSMI_MAIN_CMD_LP, sub, &cause, 8), DSMI_ERROR_NOT_SUPPORT);
  }
}

class TwoDevices : public VirtualDevices {
 public:
  int create(unsigned, unsigned vdev, const dsmi_create_vdev_res_stru& resource,
             dsmi_create_vdev_result& result) override {
    name = resource.name;
    result.vdev_id = vdev;
    return DSMI_OK;
  }
  int destroy(unsigned, unsigned vdev) override {
    return vdev == 100 ? DSMI_OK : DSMI_ERROR_NOT_EXIST;
  }
  int query(unsigned, dsmi_vdev_query_stru& vdev) override {
    vdev.query_info.vfid = vdev.vdev_id - 99;
    return DSMI_OK;
  }
  int total(unsigned, dsmi_soc_total_resource& resource) override {
    resource.vdev_num = 2;
    return DSMI_OK;
  }
  int free(unsigned, dsmi_soc_free_resource& resource) override {
    resource.computing.aic = 18;
    return DSMI_OK;
  }
  std::string name;
};

TEST(DsmiVirtualDevices, AreThoseOfWhoeverOffersThem) {
  TwoDevices devices;
  Machine machine;
  machine.cards.push_back(std::make_unique<FakeManagedCard>());
  machine.clock = &wall_clock();
  machine.tasks = &wall_tasks();
  machine.virtual_devices = std::shared_ptr<VirtualDevices>(std::shared_ptr<void>(), &devices);
  ASSERT_TRUE(attach(std::move(machine)));
  dsmi_create_vdev_res_stru wanted{};
  dsmi_create_vdev_result made{};
  std::strcpy(wanted.name, "vir06_1c_16g");
  EXPECT_EQ(dsmi_create_vdevice(0, 100, &wanted, &made), DSMI_OK);
  EXPECT_EQ(devices.name, "vir06_1c_16g");
  EXPECT_EQ(dsmi_destroy_vdevice(0, 101), DSMI_ERROR_NOT_EXIST);
  dsmi_soc_total_resource total{};
  unsigned size = sizeof total;
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, 1, &total, &size), DSMI_OK);
  EXPECT_EQ(total.vdev_num, 2U);
  size = sizeof total - 1;
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, 1, &total, &size),
            DSMI_ERROR_PARAMETER);
  detach();
}

}  // namespace
}  // namespace npu::dsmi
