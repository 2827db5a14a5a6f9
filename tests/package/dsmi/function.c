/* SPDX-License-Identifier: Apache-2.0 */
/* function VECTOR-CORES MIB [LAUNCHES]: the only device is one with so many cores and no more
   memory than so many MiB, most of which can be had; kernels on all of its cores are right, and how
   long they took. */
#include <acl/npusim_kernels.h>
#include <string.h>

#include "check.h"

#define COUNT 65536

static float* values(void) {
  float* const all = malloc(COUNT * sizeof *all);
  REQUIRE(all != NULL);
  return all;
}

static void compute(uint32_t cores, int launches) {
  const size_t size = COUNT * sizeof(float);
  float *const a = values(), *const b = values();
  void* memory[3];
  npusim_elementwise_args args;
  const npusim_spin_args clocks = {20000};
  aclrtEvent begin = NULL, end = NULL;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle add = NULL, spin = NULL;
  float milliseconds = 0;
  for (int i = 0; i < COUNT; ++i) a[i] = (float)i, b[i] = 0.5f;
  for (int i = 0; i < 3; ++i) OK(aclrtMalloc(&memory[i], size, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMemcpy(memory[0], size, a, size, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(memory[1], size, b, size, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "add", &add));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  memset(&args, 0, sizeof args);
  args.to = (uint64_t)memory[2];
  args.a = (uint64_t)memory[0];
  args.b = (uint64_t)memory[1];
  args.count = COUNT;
  args.type = ACL_FLOAT;
  OK(aclrtCreateEvent(&begin));
  OK(aclrtCreateEvent(&end));
  OK(aclrtRecordEvent(begin, NULL));
  for (int i = 0; i < launches; ++i) {
    OK(aclrtLaunchKernel(spin, cores, &clocks, sizeof clocks, NULL));
  }
  OK(aclrtRecordEvent(end, NULL));
  OK(aclrtLaunchKernel(add, cores, &args, sizeof args, NULL));
  OK(aclrtSynchronizeStream(NULL));
  OK(aclrtEventElapsedTime(&milliseconds, begin, end));
  OK(aclrtMemcpy(b, size, memory[2], size, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < COUNT; ++i) REQUIRE(b[i] == (float)i + 0.5f);
  printf("took %.4f\n", (double)milliseconds);
}

int main(int argc, char** argv) {
  uint32_t count = 0;
  int64_t cores = 0;
  int cards = 0;
  size_t free_memory = 0, total = 0;
  void* most = NULL;
  struct tag_pcie_idinfo pcie;
  struct dsmi_hbm_info_stru memory;
  REQUIRE(argc > 2);
  OK(aclInit(NULL));
  OK(aclrtGetDeviceCount(&count));
  REQUIRE(count == 1);
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(1));
  OK(aclrtSetDevice(0));
  OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_memory, &total));
  fprintf(stderr, "%d vector cores, %zu MiB\n", (int)cores, total >> 20);
  REQUIRE(cores == atoi(argv[1]));
  REQUIRE(total >> 20 <= (size_t)atoi(argv[2]) && total >> 20 >= (size_t)atoi(argv[2]) / 10 * 9);
  OK(aclrtMalloc(&most, total / 2, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(dsmi_get_device_count(&cards));
  REQUIRE(cards == 1);
  OK(dsmi_get_hbm_info(0, &memory));
  REQUIRE(memory.memory_size << 10 >= total && memory.memory_usage << 10 >= total / 2);
  OK(dsmi_get_pcie_info(0, &pcie));
  REQUIRE(pcie.bdf_busid != 0);
  compute((uint32_t)cores, argc > 3 ? atoi(argv[3]) : 10);
  return end_right();
}
