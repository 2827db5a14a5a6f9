/* SPDX-License-Identifier: Apache-2.0 */
/* quota MIB: the first allocation that would pass the program's quota is refused. */
#include <string.h>

#include "check.h"

#define MIB ((unsigned long long)1 << 20)

int main(int argc, char** argv) {
  struct MemInfo info;
  void *blocks[1024], *more = NULL;
  REQUIRE(argc == 2);
  const unsigned long long quota = strtoull(argv[1], NULL, 10) * MIB, size = 2 * MIB;
  const unsigned long long fits = quota / size;
  OK(drvDeviceOpen(NULL, 0));
  for (unsigned long long i = 0; i < fits; ++i) {
    OK(halMemAlloc(&blocks[i], size, MEM_DEV | MEM_TYPE_HBM | MEM_PAGE_HUGE));
  }
  OK(halMemGetInfo(0, MEM_INFO_TYPE_HBM_SIZE, &info));
  REQUIRE(info.phy_info.huge_total == quota && info.phy_info.huge_free == 0);
  EXPECT(DRV_ERROR_OUT_OF_MEMORY, halMemAlloc(&more, 1, MEM_DEV | MEM_TYPE_HBM));
  for (unsigned long long i = 0; i < fits; ++i) OK(halMemFree(blocks[i]));
  OK(halMemGetInfo(0, MEM_INFO_TYPE_HBM_SIZE, &info));
  REQUIRE(info.phy_info.huge_free == quota);
  puts("right");
  return 0;
}
