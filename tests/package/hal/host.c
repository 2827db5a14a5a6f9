/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that the device's copies are to reach. */
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "check.h"

#define SIZE ((size_t)1 << 20)

int main(void) {
  unsigned char* const own =
      mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *mapped = NULL, *host = NULL, *device = NULL;
  REQUIRE(own != MAP_FAILED);
  memset(own, 7, SIZE);
  EXPECT(DRV_ERROR_INVALID_DEVICE, halHostRegister(own, SIZE, HOST_MEM_MAP_DEV, 0, &mapped));
  OK(drvDeviceOpen(NULL, 0));
  OK(halMemAlloc(&device, SIZE, MEM_DEV));
  OK(halMemAlloc(&host, SIZE, MEM_HOST));
  OK(halHostRegister(own, SIZE, HOST_MEM_MAP_DEV_PCIE_TH, 0, &mapped));
  REQUIRE(mapped != NULL && own[SIZE - 1] == 7);
  OK(drvMemcpy((DVdeviceptr)device, SIZE, (DVdeviceptr)mapped, SIZE));
  OK(drvMemcpy((DVdeviceptr)device, SIZE, (DVdeviceptr)own, SIZE));
  memset(own, 0, SIZE);
  OK(drvMemcpy((DVdeviceptr)own, SIZE, (DVdeviceptr)device, SIZE));
  for (size_t i = 0; i < SIZE; ++i) REQUIRE(own[i] == 7);
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostRegister(own, SIZE, HOST_MEM_MAP_DEV, 0, &mapped));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostRegister(own + 4096, 4096, HOST_MEM_MAP_DEV, 0, &mapped));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostRegister(own + 1, 64, HOST_MEM_MAP_DEV, 0, &mapped));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostUnregister(own, 1));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostUnregisterEx(own, 0, HOST_MEM_MAP_DEV));
  OK(halHostUnregisterEx(own, 0, HOST_MEM_MAP_DEV_PCIE_TH));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostUnregister(own, 0));
  REQUIRE(own[0] == 7);
  OK(halHostRegister(host, SIZE, HOST_SVM_MAP_DEV, 0, &mapped));
  REQUIRE(mapped != NULL && mapped != host);
  OK(halHostUnregister(host, 0));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostRegister(own, SIZE, HOST_SVM_MAP_DEV, 0, &mapped));
  EXPECT(DRV_ERROR_NOT_SUPPORT, halHostRegister(device, SIZE, DEV_SVM_MAP_HOST, 0, &mapped));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostRegister(own, SIZE, HOST_REGISTER_MAX_TPYE, 0, &mapped));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostRegister(NULL, SIZE, HOST_MEM_MAP_DEV, 0, &mapped));
  EXPECT(DRV_ERROR_INVALID_VALUE, halHostRegister(own, 0, HOST_MEM_MAP_DEV, 0, &mapped));
  return end_right();
}
