/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: of the host and of MEM_SVM; messages; at random beside a model of it: buffers [SEED]. */
#include <string.h>

#include "check.h"

#define PAGE ((size_t)2 << 20)
#define MOST 64u
#define NOT_OK(call) EXPECT(DRV_ERROR_INVALID_VALUE, call)

static size_t free_memory(void) {
  struct MemInfo info;
  OK(halMemGetInfo(0, MEM_INFO_TYPE_HBM_SIZE, &info));
  return info.phy_info.huge_free;
}

static uint32_t type_of(const void* address) {
  struct DVattribute attribute;
  OK(drvMemGetAttribute((DVdeviceptr)address, &attribute));
  return attribute.memType;
}

static void kinds(void) {
  char bytes[8] = "buffer", back[8] = "";
  void *host = NULL, *svm = NULL, *more = NULL, *device = NULL;
  OK(halBuffAlloc(5000, &host));
  REQUIRE(type_of(host) == DV_MEM_LOCK_HOST);
  memset(host, 1, 5000);
  OK(halBuffAllocAlign(100, 65536, &more));
  REQUIRE((uintptr_t)more % 65536 == 0);
  OK(halBuffFree(more));
  OK(halMemAlloc(&device, PAGE, MEM_DEV));
  OK(drvMemcpy((DVdeviceptr)device, 5000, (DVdeviceptr)host, 5000));
  OK(halBuffAllocAlignEx(100, 4096, BUFF_SP_SVM | BUFF_SP_HUGEPAGE_PRIOR, 0, &svm));
  OK(halBuffAllocEx(100, BUFF_SP_SVM, 0, &more));
  REQUIRE((uintptr_t)svm % 4096 == 0 && (type_of(svm) & 7u) != 0);
  REQUIRE((uintptr_t)more / PAGE == (uintptr_t)svm / PAGE); /* of one zone */
  OK(drvMemcpy((DVdeviceptr)svm, 8, (DVdeviceptr)bytes, 8));
  OK(drvMemcpy((DVdeviceptr)back, 8, (DVdeviceptr)svm, 8));
  REQUIRE(strcmp(back, bytes) == 0);
  OK(halBuffFree(svm));
  REQUIRE((type_of(more) & 7u) != 0);
  OK(halBuffFree(more));
  REQUIRE(type_of(svm) == DV_MEM_USER_MALLOC); /* the zone has gone */
  OK(halBuffFree(host));
  OK(halMemFree(device));
}

static void messages(void) {
  Mbuf *first = NULL, *second = NULL, *third = NULL;
  void *buffer = NULL, *same = NULL, *beside = NULL;
  uint64_t size = 0;
  unsigned count = 0;
  OK(halMbufAlloc(1000, &first));
  OK(halMbufSetDataLen(first, 400));
  NOT_OK(halMbufSetDataLen(first, 1001));
  OK(halMbufGetBuffAddr(first, &buffer));
  OK(halMbufGetBuffSize(first, &size));
  REQUIRE(size == 1000);
  memset(buffer, 3, size);
  OK(halMbufCopyRef(first, &second));
  OK(halMbufGetBuffAddr(second, &same));
  OK(halMbufGetDataLen(second, &size));
  REQUIRE(same == buffer && size == 400);
  OK(halMbufGetPrivInfo(first, &beside, &count));
  REQUIRE(beside != NULL && count == 256);
  NOT_OK(halBuffFree(buffer)); /* messages have it */
  NOT_OK(halMbufUnBuild(first, &same, &size));
  OK(halMbufFree(first));
  OK(halMbufUnBuild(second, &same, &size));
  OK(halMbufBuild(same, 10, &second));
  OK(halMbufAllocEx(64, 0, BUFF_SP_NORMAL, 0, &third));
  OK(halMbufChainAppend(second, third));
  NOT_OK(halMbufChainAppend(second, third));
  NOT_OK(halMbufFree(third));
  OK(halMbufChainGetMbufNum(second, &count));
  OK(halMbufChainGetMbuf(second, 1, &first));
  REQUIRE(count == 2 && first == third);
  NOT_OK(halMbufChainGetMbuf(second, 2, &first));
  OK(halMbufFree(second));
  NOT_OK(halMbufFree(second));
  NOT_OK(halBuffFree(same));
}

static void misuse(void) {
  char own[64];
  void* buffer = NULL;
  Mbuf* message = NULL;
  NOT_OK(halBuffAlloc(0, &buffer));
  NOT_OK(halBuffAlloc(8, NULL));
  NOT_OK(halBuffAllocAlign(8, 3, &buffer));
  NOT_OK(halBuffAllocAlign(8, 1u << 22, &buffer));
  NOT_OK(halBuffAllocEx(8, 1 << 4, 0, &buffer));
  NOT_OK(halBuffAllocEx(8, 1ul << 40, 0, &buffer));
  EXPECT(DRV_ERROR_NOT_SUPPORT, halBuffAllocEx(8, BUFF_SP_DVPP, 0, &buffer));
  EXPECT(DRV_ERROR_INVALID_DEVICE, halBuffAllocEx(8, 5ul << BUFF_FLAGS_DEVID_OFFSET, 0, &buffer));
  EXPECT(DRV_ERROR_OUT_OF_MEMORY, halBuffAlloc(UINT64_MAX, &buffer));
  NOT_OK(halBuffFree(own));
  NOT_OK(halBuffFree(NULL));
  NOT_OK(halMbufFree((Mbuf*)(void*)own));
  NOT_OK(halMbufBuild(own, 8, &message));
  NOT_OK(halMbufGetDataLen(NULL, NULL));
}

/* Buffers are apart from each other, hold their bytes, and leave nothing. */
static void at_random(uint64_t seed) {
  struct {
    unsigned char* at;
    size_t size;
    unsigned char byte;
  } all[MOST] = {{0}};
  uint64_t state = seed * 2654435761u + 1;
  for (unsigned step = 0; step < 4000; ++step) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const unsigned i = (unsigned)(state >> 33) % MOST;
    if (all[i].at != NULL) {
      REQUIRE(all[i].at[0] == all[i].byte && all[i].at[all[i].size - 1] == all[i].byte);
      OK(halBuffFree(all[i].at));
      all[i].at = NULL;
      continue;
    }
    void* buffer = NULL;
    const unsigned align = 1u << (state >> 20) % 15;
    all[i].size = 1 + (state >> 8) % (step % 40 == 0 ? 3 * PAGE : 20000);
    all[i].byte = (unsigned char)step;
    OK(halBuffAllocAlign(all[i].size, align, &buffer));
    REQUIRE((uintptr_t)buffer % align == 0);
    all[i].at = buffer;
    memset(buffer, all[i].byte, all[i].size);
  }
  for (unsigned i = 0; i < MOST; ++i) {
    if (all[i].at == NULL) continue;
    for (size_t b = 0; b < all[i].size; ++b) REQUIRE(all[i].at[b] == all[i].byte);
    OK(halBuffFree(all[i].at));
  }
}

int main(int argc, char** argv) {
  void* buffer = NULL;
  EXPECT(DRV_ERROR_INVALID_DEVICE, halBuffAlloc(8, &buffer));
  OK(drvDeviceOpen(NULL, 0));
  OK(halBuffInit(NULL));
  EXPECT(DRV_ERROR_REPEATED_INIT, halBuffInit(NULL));
  kinds(); /* managed memory begins with it */
  const size_t before = free_memory();
  kinds();
  messages();
  misuse();
  at_random(argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
  REQUIRE(free_memory() == before);
  return end_right();
}
