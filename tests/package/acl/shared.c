/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that one program gives to another: `shared give PIPE` and `shared take PIPE`. */
#define _POSIX_C_SOURCE 199309L
#include <string.h>
#include <time.h>

#include "check.h"

#define SIZE ((size_t)2 << 20)

static void* map(aclrtDrvMemHandle memory) {
  void* range = NULL;
  OK(aclrtReserveMemAddress(&range, SIZE, 0, NULL, 0));
  OK(aclrtMapMem(range, SIZE, 0, memory, 0));
  return range;
}

static void give(FILE* pipe) {
  aclrtPhysicalMemProp properties = {0};
  aclrtDrvMemHandle memory = NULL;
  uint64_t key = 0;
  char text[64] = "from the other program";
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  OK(aclrtMallocPhysical(&memory, SIZE, &properties, 0));
  OK(aclrtMemcpy(map(memory), SIZE, text, sizeof text, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 0, &key));
  REQUIRE(fwrite(&key, sizeof key, 1, pipe) == 1);
  fflush(pipe);
  /* Who has not taken it when this program ends does not get it. */
  const struct timespec a_while = {0, 1000000};
  REQUIRE(nanosleep(&a_while, NULL) == 0);
}

static void take(FILE* pipe) {
  aclrtDrvMemHandle memory = NULL;
  uint64_t key = 0;
  char text[64] = "";
  REQUIRE(fread(&key, sizeof key, 1, pipe) == 1);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemImportFromShareableHandle(key + 1, 0, &memory));
  OK(aclrtMemImportFromShareableHandle(key, 0, &memory));
  OK(aclrtMemcpy(text, sizeof text, map(memory), sizeof text, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(strcmp(text, "from the other program") == 0);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 3);
  const int gives = strcmp(argv[1], "give") == 0;
  open_device();
  FILE* const pipe = fopen(argv[2], gives ? "w" : "r");
  REQUIRE(pipe != NULL);
  if (gives) {
    give(pipe);
    /* Its memory stays with whoever has taken it. */
  } else {
    take(pipe);
  }
  return end_right();
}
