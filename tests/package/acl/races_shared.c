/* SPDX-License-Identifier: Apache-2.0 */
/* races_shared give|take PIPE race|ordered: memory that one program gives to another, and both
   fill; who takes it waits until the other's fills are over, or does not. */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "check.h"

#define SIZE ((size_t)2 << 20)

static void fill(void* memory, int value) {
  aclrtStream stream = new_stream();
  for (int i = 0; i < 20; ++i) OK(aclrtMemsetAsync(memory, SIZE, value, SIZE, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtDestroyStream(stream));
}

static void* map(aclrtDrvMemHandle memory) {
  void* range = NULL;
  OK(aclrtReserveMemAddress(&range, SIZE, 0, NULL, 0));
  OK(aclrtMapMem(range, SIZE, 0, memory, 0));
  return range;
}

static void give(FILE* pipe, int ordered) {
  aclrtPhysicalMemProp properties = {0};
  aclrtDrvMemHandle memory = NULL;
  uint64_t key = 0;
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  OK(aclrtMallocPhysical(&memory, SIZE, &properties, 0));
  OK(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 0, &key));
  void* const range = map(memory);
  if (ordered) fill(range, 1);
  REQUIRE(fwrite(&key, sizeof key, 1, pipe) == 1);
  fflush(pipe);
  for (int i = 0; i < 20 && !ordered; ++i) fill(range, 1);
}

static void take(FILE* pipe) {
  aclrtDrvMemHandle memory = NULL;
  uint64_t key = 0;
  REQUIRE(fread(&key, sizeof key, 1, pipe) == 1);
  OK(aclrtMemImportFromShareableHandle(key, 0, &memory));
  fill(map(memory), 2);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 4);
  const int gives = strcmp(argv[1], "give") == 0;
  open_device();
  FILE* const pipe = fopen(argv[2], gives ? "w" : "r");
  REQUIRE(pipe != NULL);
  if (gives) {
    give(pipe, strcmp(argv[3], "ordered") == 0);
    /* Who has not taken it when this program ends does not get it. */
    const struct timespec a_while = {0, 1000000};
    REQUIRE(nanosleep(&a_while, NULL) == 0);
  } else {
    take(pipe);
  }
  fclose(pipe);
  return end_right();
}
