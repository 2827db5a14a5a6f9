/* SPDX-License-Identifier: Apache-2.0 */
/* seen [QUOTA]: the cards of device management are those of the C API: memory, use, processes. With
   a quota, in MiB, that of the program. */
#define _POSIX_C_SOURCE 200809L
#include <acl/npusim_kernels.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static unsigned long long used_bytes(void) {
  struct dsmi_hbm_info_stru memory;
  OK(dsmi_get_hbm_info(0, &memory));
  return memory.memory_usage << 10;
}

static void see_memory(void) {
  const size_t size = (size_t)32 << 20;
  void* memory = NULL;
  const unsigned long long before = used_bytes();
  OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  REQUIRE(used_bytes() - before >= size && used_bytes() - before < 2 * size);
  OK(aclrtFree(memory));
  REQUIRE(used_bytes() == before);
}

static void see_use(void) {
  const npusim_spin_args args = {200000};
  unsigned idle = 100, busy = 0;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle spin = NULL;
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  OK(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_AICORE, &idle));
  for (int i = 0; i < 20; ++i) OK(aclrtLaunchKernel(spin, 1000, &args, sizeof args, NULL));
  OK(aclrtSynchronizeStream(NULL));
  OK(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_AICORE, &busy));
  REQUIRE(idle < 10 && busy > 50);
}

static void see_process(void) {
  int ids[8];
  struct dsmi_resource_para para;
  struct dsmi_resource_info info;
  memset(&para, 0, sizeof para);
  memset(&info, 0, sizeof info);
  para.resource_type = DSMI_DEV_PROCESS_PID;
  info.buf = ids;
  info.buf_len = sizeof ids;
  OK(dsmi_get_resource_info(0, &para, &info));
  REQUIRE(info.buf_len == sizeof ids[0] && ids[0] == (int)getpid());
}

int main(int argc, char** argv) {
  int count = 0;
  uint32_t devices = 0;
  struct tag_cgroup_info quota;
  struct dsmi_chip_info_stru chip;
  OK(aclInit(NULL));
  OK(aclrtGetDeviceCount(&devices));
  OK(dsmi_get_device_count(&count));
  REQUIRE(count == (int)devices);
  OK(aclrtSetDevice(0));
  OK(dsmi_get_chip_info(0, &chip));
  REQUIRE(chip.chip_name[0] == (unsigned char)'9');
  if (argc > 1) {
    struct dsmi_hbm_info_stru memory;
    OK(dsmi_get_hbm_info(0, &memory));
    REQUIRE(memory.memory_size == strtoull(argv[1], NULL, 10) << 10);
    OK(dsmi_get_device_cgroup_info(0, &quota));
    REQUIRE(quota.limit_in_bytes == strtoull(argv[1], NULL, 10) << 20);
  } else {
    EXPECT(DSMI_ERROR_NOT_SUPPORT, dsmi_get_device_cgroup_info(0, &quota));
  }
  see_memory();
  see_use();
  see_process();
  EXPECT(DSMI_ERROR_INVALID_DEVICE, dsmi_get_chip_info(count, &chip));
  return end_right();
}
