/* SPDX-License-Identifier: Apache-2.0 */
/* Main commands on two cards: memory, the link between them that copies go over, low power; virtual
   devices of the first one. */
#include <math.h>
#include <string.h>

#include "check.h"

static struct dsmi_hccs_statistic_info link_of(unsigned device) {
  struct dsmi_hccs_statistic_info counts;
  unsigned size = sizeof counts;
  OK(dsmi_get_device_info(device, DSMI_MAIN_CMD_HCCS, DSMI_HCCS_CMD_GET_STATISTIC_INFO, &counts,
                          &size));
  return counts;
}

static void copy_between_cards(void) {
  const size_t bytes = (size_t)1 << 20;
  const struct dsmi_hccs_statistic_info before = link_of(0);
  struct dsmi_hccs_statistic_info after, other;
  void *from = NULL, *to = NULL;
  OK(aclrtSetDevice(1));
  OK(aclrtMalloc(&to, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtSetDevice(0));
  OK(aclrtMalloc(&from, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  after = link_of(0);
  other = link_of(1);
  REQUIRE(after.tx_cnt[0] > before.tx_cnt[0] && after.rx_cnt[0] > before.rx_cnt[0]);
  REQUIRE(after.tx_cnt[0] == other.rx_cnt[0] && after.rx_cnt[0] == other.tx_cnt[0]);
}

/* Numbers that cannot be are not cut to ones that can. */
static void misuse(void) {
  const float bad[] = {-1.0f, 65536.0f, NAN, INFINITY};
  struct dsmi_create_vdev_res_stru wanted;
  struct dsmi_create_vdev_result made;
  memset(&wanted, 0, sizeof wanted);
  strcpy(wanted.name, "vir06_1c_16g");
  wanted.base.token = 1;
  wanted.base.token_max = 100;
  for (unsigned group = 4; group < 1024; group += 252) { /* 4, 256, 508, 760, 1012 */
    wanted.base.vfg_id = group;
    EXPECT(DSMI_ERROR_PARAMETER, dsmi_create_vdevice(0, ~0u, &wanted, &made));
  }
  memset(&wanted, 0, sizeof wanted);
  wanted.computing.device_aicpu = 1;
  wanted.computing.memory_size = 8192;
  for (int i = 0; i < 4; ++i) {
    wanted.computing.aic = 1;
    wanted.media.vpc = bad[i];
    EXPECT(DSMI_ERROR_PARAMETER, dsmi_create_vdevice(0, ~0u, &wanted, &made));
    wanted.media.vpc = 0;
    wanted.computing.aic = bad[i];
    EXPECT(DSMI_ERROR_PARAMETER, dsmi_create_vdevice(0, ~0u, &wanted, &made));
  }
  wanted.computing.aic = 1;
  wanted.computing.memory_size = (1ull << 44) + 8192; /* in bytes more than 64 bits have */
  EXPECT(DSMI_ERROR_PARAMETER, dsmi_create_vdevice(0, ~0u, &wanted, &made));
}

static void divide(void) {
  struct dsmi_create_vdev_res_stru wanted;
  struct dsmi_create_vdev_result made;
  struct dsmi_soc_vdev_ratio ratio;
  struct dsmi_vdev_query_stru query;
  unsigned size = sizeof ratio;
  int on = 7;
  memset(&wanted, 0, sizeof wanted);
  strcpy(wanted.name, "vir06_1c_16g");
  OK(dsmi_create_vdevice(0, ~0u, &wanted, &made));
  ratio.vdev_id = query.vdev_id = made.vdev_id;
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, DSMI_VMNG_SUB_CMD_GET_TOPS_PERCENTAGE, &ratio,
                          &size));
  REQUIRE(ratio.ratio == 25);
  size = sizeof query;
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, DSMI_VMNG_SUB_CMD_GET_VDEV_ACTIVITY, &query,
                          &size));
  REQUIRE(query.query_info.computing.vdev_aicore_utilization == 0);
  size = sizeof on;
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH, &on,
                          &size));
  REQUIRE(on == 1);
  on = 0;
  EXPECT(DSMI_ERROR_BUSY, dsmi_set_device_info(0, DSMI_MAIN_CMD_VDEV_MNG,
                                               DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH, &on, sizeof on));
  OK(dsmi_destroy_vdevice(0, DSMI_VDEV_ALL));
  OK(dsmi_set_device_info(0, DSMI_MAIN_CMD_VDEV_MNG, DSMI_VMNG_SUB_CMD_SET_SRIOV_SWITCH, &on,
                          sizeof on));
}

int main(void) {
  struct dsmi_memory_info memory;
  struct dsmi_lp_cur_tops_stru level;
  size_t free_memory = 0, total = 0;
  unsigned size = sizeof memory;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_memory, &total));
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_MEMORY, DSMI_SUB_CMD_HBM_MEMORY, &memory, &size));
  REQUIRE(memory.total_size == total >> 10 && memory.used_size == (total - free_memory) >> 10);
  size = sizeof level;
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_LP, DSMI_LP_SUB_CMD_GET_WORK_TOPS, &level, &size));
  REQUIRE(level.work_tops == 0 && level.tops_nums == 1);
  copy_between_cards();
  misuse();
  divide();
  OK(dsmi_clear_ecc_isolated_statistics_info(0, DSMI_DEVICE_TYPE_HBM));
  return end_right();
}
