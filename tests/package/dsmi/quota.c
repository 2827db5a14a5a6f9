/* SPDX-License-Identifier: Apache-2.0 */
/* quota MIB [OWN]: used and total memory under a quota are the same numbers for device management,
   the HAL, the C API and the runtime, at every step; with OWN the program sets the quota itself. */
#include <acl/npusim_kernels.h>
#include <acl/npusim_memory.h>
#include <ascend_hal.h>
#include <runtime/rt.h>
#include <string.h>

#include "check.h"

#define MIB ((unsigned long long)1 << 20)
enum { kMost = 1024 };

static unsigned long long quota;

static unsigned long long resource(unsigned type) {
  struct dsmi_resource_para para;
  struct dsmi_resource_info info;
  unsigned long long bytes = 0;
  memset(&para, 0, sizeof para);
  memset(&info, 0, sizeof info);
  para.resource_type = type;
  info.buf = &bytes;
  info.buf_len = sizeof bytes;
  OK(dsmi_get_resource_info(0, &para, &info));
  return bytes;
}

static void by_dsmi(unsigned long long used) {
  struct dsmi_hbm_info_stru memory;
  struct dsmi_memory_info command;
  struct tag_cgroup_info group;
  unsigned long long capacity = 0;
  unsigned size = sizeof command;
  OK(dsmi_get_hbm_info(0, &memory));
  REQUIRE(memory.memory_size == quota >> 10 && memory.memory_usage == used >> 10);
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_MEMORY, DSMI_SUB_CMD_HBM_MEMORY, &command, &size));
  REQUIRE(command.total_size == quota >> 10 && command.used_size == used >> 10);
  size = sizeof capacity;
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_MEMORY, DSMI_SUB_CMD_MEMORY_CAPACITY, &capacity, &size));
  REQUIRE(capacity == quota);
  REQUIRE(resource(DSMI_DEV_HBM_TOTAL) == quota && resource(DSMI_DEV_HBM_FREE) == quota - used);
  OK(dsmi_get_device_cgroup_info(0, &group));
  REQUIRE(group.limit_in_bytes == quota && group.usage_in_bytes == used);
  REQUIRE(group.max_usage_in_bytes >= used && group.max_usage_in_bytes <= quota);
}

static void by_dcmi(unsigned long long used) {
  struct dcmi_hbm_info memory;
  OK(dcmi_get_device_hbm_info(0, 0, &memory));
  REQUIRE(memory.memory_size == quota / MIB && memory.memory_usage == used / MIB);
}

static void by_others(unsigned long long used) {
  struct MemInfo hal;
  npusim_memory_use own;
  size_t free = 0, total = 0;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  REQUIRE(total == quota && free == quota - used);
  OK(rtMemGetInfoEx(RT_MEMORYINFO_HBM, &free, &total));
  REQUIRE(total == quota && free == quota - used);
  OK(halMemGetInfo(0, MEM_INFO_TYPE_HBM_SIZE, &hal));
  REQUIRE(hal.phy_info.huge_total == quota && hal.phy_info.huge_free == quota - used);
  OK(npusimGetMemoryUse(&own));
  REQUIRE(own.limit == quota && own.used == used);
}

static void in_percent(unsigned long long used) {
  unsigned dsmi = 0, dcmi = 0;
  aclrtUtilizationInfo acl;
  OK(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_HBM, &dsmi));
  OK(dcmi_get_device_utilization_rate(0, 0, DSMI_UTILIZATION_HBM, &dcmi));
  OK(aclrtGetDeviceUtilizationRate(0, &acl));
  REQUIRE(dsmi == (used * 100 + quota / 2) / quota && dcmi == dsmi);
  REQUIRE(acl.memoryUtilization == (int)dsmi);
}

static void all_say(unsigned long long used) {
  by_dsmi(used);
  by_dcmi(used);
  in_percent(used);
  by_others(used);
}

/* By several interfaces in turn, to the last page. */
static void fill(void) {
  const unsigned long long page = 2 * MIB, fits = quota / page;
  void *blocks[kMost], *more = NULL;
  for (unsigned long long i = 0; i < fits; ++i) {
    if (i % 3 == 0) OK(aclrtMalloc(&blocks[i], page, ACL_MEM_MALLOC_HUGE_FIRST));
    if (i % 3 == 1) OK(rtMalloc(&blocks[i], page, RT_MEMORY_HBM, 7));
    if (i % 3 == 2) OK(halMemAlloc(&blocks[i], page, MEM_DEV | MEM_TYPE_HBM | MEM_PAGE_HUGE));
    all_say((i + 1) * page);
  }
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&more, 1, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT(ACL_ERROR_RT_MEMORY_ALLOCATION, rtMalloc(&more, 1, RT_MEMORY_HBM, 7));
  EXPECT(DRV_ERROR_OUT_OF_MEMORY, halMemAlloc(&more, 1, MEM_DEV | MEM_TYPE_HBM));
  all_say(quota);
  for (unsigned long long i = 0; i < fits; ++i) {
    if (i % 3 == 2) OK(halMemFree(blocks[i]));
    if (i % 3 != 2) OK(aclrtFree(blocks[i]));
  }
  all_say(0);
}

/* Freed while kernels run; who asks first when they have ended is told so, whoever it is. */
static void free_in_flight(void (*first)(unsigned long long)) {
  const npusim_spin_args args = {200000};
  const unsigned long long size = 8 * MIB;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle spin = NULL;
  void* memory = NULL;
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtLaunchKernel(spin, 1, &args, sizeof args, NULL));
  OK(aclrtBinaryUnLoad(binary));
  OK(aclrtFree(memory));
  OK(aclrtSynchronizeStream(NULL));
  first(0);
  all_say(0);
}

int main(int argc, char** argv) {
  REQUIRE(argc >= 2);
  quota = strtoull(argv[1], NULL, 10) * MIB;
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  if (argc > 2) {
    struct tag_cgroup_info group;
    EXPECT(DSMI_ERROR_NOT_SUPPORT, dsmi_get_device_cgroup_info(0, &group));
    OK(npusimLimitMemory(quota));
  }
  all_say(0);
  fill();
  free_in_flight(by_dsmi);
  free_in_flight(by_dcmi);
  free_in_flight(in_percent);
  free_in_flight(by_others);
  return end_right();
}
