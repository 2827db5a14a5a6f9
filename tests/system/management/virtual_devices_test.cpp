// SPDX-License-Identifier: Apache-2.0
// Virtual devices by libnpudsmi: created, told of, destroyed.
#include <cstring>

#include "tests/system/management/managed_card.hpp"

namespace npu::test {
namespace {

constexpr unsigned kChoose = ~0U;

int create(const char* name, dsmi_create_vdev_result& made, unsigned vdev = kChoose) {
  dsmi_create_vdev_res_stru wanted{};
  std::strncpy(wanted.name, name, sizeof wanted.name);
  return dsmi_create_vdevice(0, vdev, &wanted, &made);
}
template <class Resource>
Resource told(unsigned sub) {
  Resource resource{};
  unsigned size = sizeof resource;
  EXPECT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, sub, &resource, &size), DSMI_OK);
  return resource;
}
dsmi_soc_free_resource free_now() {
  return told<dsmi_soc_free_resource>(DSMI_VMNG_SUB_CMD_GET_FREE_RESOURCE);
}
void on_card(const std::function<void(SupervisedCard&)>& body) {
  Machine({}, "910b2.yaml").on<SupervisedCard>([&](SupervisedCard& card) { body(card); });
}

TEST(VirtualDevices, AreCreatedByATemplateAndGiveBackAllOfIt) {
  on_card([](SupervisedCard&) {
    const auto before = free_now();
    dsmi_create_vdev_result made{};
    ASSERT_EQ(create("vir06_1c_16g", made), DSMI_OK);
    EXPECT_EQ(made.vdev_id, 100U);
    EXPECT_EQ(made.vf_id, 0U);
    EXPECT_EQ(made.pcie_bus, 1U);
    const auto during = free_now();
    EXPECT_EQ(during.computing.aic, before.computing.aic - 6);
    EXPECT_EQ(during.computing.memory_size, before.computing.memory_size - 15'258);
    dsmi_vdev_query_stru query{};
    query.vdev_id = made.vdev_id;
    unsigned size = sizeof query;
    ASSERT_EQ(dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, DSMI_VMNG_SUB_CMD_GET_VDEV_RESOURCE,
                                   &query, &size),
              DSMI_OK);
    EXPECT_STREQ(query.query_info.name, "vir06_1c_16g");
    EXPECT_EQ(query.query_info.computing.aic, 6);
    ASSERT_EQ(dsmi_destroy_vdevice(0, made.vdev_id), DSMI_OK);
    EXPECT_EQ(dsmi_destroy_vdevice(0, made.vdev_id), DSMI_ERROR_NOT_EXIST);
    EXPECT_EQ(free_now().computing.aic, before.computing.aic);
    EXPECT_EQ(free_now().computing.memory_size, before.computing.memory_size);
  });
}

TEST(VirtualDevices, AreRefusedWhereTheCardHasNotEnough) {
  on_card([](SupervisedCard&) {
    dsmi_create_vdev_result made{};
    EXPECT_EQ(create("vir99_9c_99g", made), DSMI_ERROR_NOT_EXIST);
    EXPECT_EQ(create("vir06_1c_16g", made, 99), DSMI_ERROR_PARAMETER);
    unsigned count = 0;
    while (create("vir06_1c_16g", made) == DSMI_OK) ++count;
    EXPECT_EQ(count, 4U);
    EXPECT_EQ(create("vir06_1c_16g", made), DSMI_ERROR_NO_RESOURCES);
    const auto total = told<dsmi_soc_total_resource>(DSMI_VMNG_SUB_CMD_GET_TOTAL_RESOURCE);
    EXPECT_EQ(total.vdev_num, 4U);
    EXPECT_EQ(total.vdev_id[3], 103U);
    EXPECT_EQ(total.computing.aic, 24);
    EXPECT_EQ(dsmi_destroy_vdevice(0, DSMI_VDEV_ALL), DSMI_OK);
    EXPECT_EQ(told<dsmi_soc_total_resource>(DSMI_VMNG_SUB_CMD_GET_TOTAL_RESOURCE).vdev_num, 0U);
  });
}

TEST(VirtualDevices, AreCreatedByNumbers) {
  on_card([](SupervisedCard&) {
    dsmi_create_vdev_res_stru wanted{};
    wanted.computing.aic = 5;
    wanted.computing.device_aicpu = 1;
    wanted.computing.memory_size = 4096;
    dsmi_create_vdev_result made{};
    ASSERT_EQ(dsmi_create_vdevice(0, 105, &wanted, &made), DSMI_OK);
    EXPECT_EQ(made.vdev_id, 105U);
    EXPECT_EQ(made.vf_id, 5U);
    wanted.computing.aic = 0;
    EXPECT_EQ(dsmi_create_vdevice(0, kChoose, &wanted, &made), DSMI_ERROR_PARAMETER);
    EXPECT_EQ(dsmi_destroy_vdevice(0, 105), DSMI_OK);
  });
}

int sriov() {
  return told<int>(DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH);
}
int switch_sriov(int on) {
  return dsmi_set_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH, &on,
                              sizeof on);
}
int ratio(unsigned vdev, unsigned& percent) {
  dsmi_soc_vdev_ratio asked{vdev, 0};
  unsigned size = sizeof asked;
  const int code = dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG,
                                        DSMI_VMNG_SUB_CMD_GET_TOPS_PERCENTAGE, &asked, &size);
  percent = asked.ratio;
  return code;
}
int activity(unsigned vdev, unsigned& percent) {
  dsmi_vdev_query_stru asked{};
  asked.vdev_id = vdev;
  unsigned size = sizeof asked;
  const int code = dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG,
                                        DSMI_VMNG_SUB_CMD_GET_VDEV_ACTIVITY, &asked, &size);
  percent = asked.query_info.computing.vdev_aicore_utilization;
  return code;
}

TEST(VirtualDevices, TheSwitchTurnsFunctionsOnAndOff) {
  on_card([](SupervisedCard&) {
    dsmi_create_vdev_result made{};
    EXPECT_EQ(sriov(), 0);
    EXPECT_EQ(create("vir99_9c_99g", made), DSMI_ERROR_NOT_EXIST);
    EXPECT_EQ(sriov(), 0) << "what could not be made leaves nothing behind";
    EXPECT_EQ(switch_sriov(2), DSMI_ERROR_PARAMETER);
    ASSERT_EQ(switch_sriov(1), DSMI_OK);
    EXPECT_EQ(sriov(), 1);
    ASSERT_EQ(create("vir06_1c_16g", made), DSMI_OK);
    EXPECT_EQ(switch_sriov(0), DSMI_ERROR_BUSY);
    ASSERT_EQ(dsmi_destroy_vdevice(0, made.vdev_id), DSMI_OK);
    ASSERT_EQ(switch_sriov(0), DSMI_OK);
    EXPECT_EQ(sriov(), 0);
  });
}

TEST(VirtualDevices, SharesArePercentOfTheCardAndOfAGroupByTokens) {
  on_card([](SupervisedCard&) {
    dsmi_create_vdev_result own{}, first{}, second{};
    ASSERT_EQ(create("vir06_1c_16g", own), DSMI_OK);
    dsmi_create_vdev_res_stru wanted{};
    wanted.computing.memory_size = 1024;
    wanted.computing.aic = 12;
    wanted.computing.device_aicpu = 1;
    wanted.base = {1, 1, 0, 2, 0, {}};
    ASSERT_EQ(dsmi_create_vdevice(0, kChoose, &wanted, &first), DSMI_OK);
    wanted.base = {3, 3, 0, 2, 0, {}};
    ASSERT_EQ(dsmi_create_vdevice(0, kChoose, &wanted, &second), DSMI_OK);
    unsigned percent = 0;
    EXPECT_EQ(ratio(own.vdev_id, percent), DSMI_OK);
    EXPECT_EQ(percent, 25U);
    EXPECT_EQ(ratio(first.vdev_id, percent), DSMI_OK);
    EXPECT_EQ(percent, 13U) << "a quarter of half";
    EXPECT_EQ(ratio(second.vdev_id, percent), DSMI_OK);
    EXPECT_EQ(percent, 38U);
    EXPECT_EQ(ratio(110, percent), DSMI_ERROR_NOT_EXIST);
  });
}

TEST(VirtualDevices, ActivityIsThatOfTheirOwnCores) {
  Machine({}, "910b2.yaml").run([](platform::Platform& host) {
    WatchedCard card(host);
    dsmi_create_vdev_result busy{}, idle{};
    ASSERT_EQ(create("vir06_1c_16g", busy), DSMI_OK);
    ASSERT_EQ(create("vir06_1c_16g", idle), DSMI_OK);
    const platform::Bdf bdf{static_cast<std::uint8_t>(busy.pcie_bus),
                            static_cast<std::uint8_t>(busy.pcie_device),
                            static_cast<std::uint8_t>(busy.pcie_func)};
    QueueCard function(host, must(driver::Device::open(host, bdf)));
    QueueProcess process(function);
    auto& queue = process.add();
    const auto kernel = process.launch(queue, "spin", 12, std::array{std::uint64_t{1'850'000}});
    unsigned percent = 0;
    ASSERT_EQ(activity(busy.vdev_id, percent), DSMI_OK);
    ASSERT_EQ(activity(idle.vdev_id, percent), DSMI_OK);
    ASSERT_TRUE(function.run(queue, kernel));
    EXPECT_EQ(activity(busy.vdev_id, percent), DSMI_OK);
    EXPECT_GT(percent, 50U);
    EXPECT_EQ(activity(idle.vdev_id, percent), DSMI_OK);
    EXPECT_EQ(percent, 0U);
    EXPECT_EQ(activity(110, percent), DSMI_ERROR_NOT_EXIST);
  });
}

}  // namespace
}  // namespace npu::test
