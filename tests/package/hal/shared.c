/* SPDX-License-Identifier: Apache-2.0 */
/* Memory under a name: `shared give NAMES IDS` and `shared take NAMES IDS`, with two pipes between
   them. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "check.h"

#define SIZE ((size_t)1 << 20)

static FILE* opened(const char* path, const char* mode) {
  FILE* const file = fopen(path, mode);
  REQUIRE(file != NULL);
  return file;
}

static void give(const char* names, const char* ids) {
  char name[NPU_HAL_NAME_LENGTH], text[64] = "given";
  void* memory = NULL;
  int id = 0;
  OK(halMemAlloc(&memory, SIZE, MEM_DEV));
  OK(drvMemcpy((DVdeviceptr)memory, SIZE, (DVdeviceptr)text, sizeof text));
  OK(halShmemCreateHandle((DVdeviceptr)memory, SIZE, name, sizeof name));
  FILE* const out = opened(names, "w");
  FILE* const in = opened(ids, "r");
  REQUIRE(fwrite(name, sizeof name, 1, out) == 1 && fflush(out) == 0);
  REQUIRE(fread(&id, sizeof id, 1, in) == 1);
  OK(halShmemSetPidHandle(name, &id, 1));
  REQUIRE(fwrite(name, sizeof name, 1, out) == 1 && fflush(out) == 0);
  REQUIRE(fread(&id, sizeof id, 1, in) == 1); /* the other one has it */
  OK(drvMemcpy((DVdeviceptr)text, sizeof text, (DVdeviceptr)memory, sizeof text));
  REQUIRE(strcmp(text, "taken") == 0);
  OK(halShmemDestroyHandle(name));
  OK(halMemFree(memory));
}

static void take(const char* names, const char* ids) {
  char name[NPU_HAL_NAME_LENGTH], text[64] = "";
  DVdeviceptr memory = 0;
  int id = getpid();
  FILE* const in = opened(names, "r");
  FILE* const out = opened(ids, "w");
  REQUIRE(fread(name, sizeof name, 1, in) == 1);
  EXPECT(DRV_ERROR_INVALID_VALUE, halShmemOpenHandle(name, &memory)); /* not yet */
  REQUIRE(fwrite(&id, sizeof id, 1, out) == 1 && fflush(out) == 0);
  REQUIRE(fread(name, sizeof name, 1, in) == 1);
  OK(halShmemOpenHandle(name, &memory));
  OK(drvMemcpy((DVdeviceptr)text, sizeof text, memory, sizeof text));
  REQUIRE(strcmp(text, "given") == 0);
  strcpy(text, "taken");
  OK(drvMemcpy(memory, SIZE, (DVdeviceptr)text, sizeof text));
  REQUIRE(fwrite(&id, sizeof id, 1, out) == 1 && fflush(out) == 0);
  OK(halShmemCloseHandle(memory));
  EXPECT(DRV_ERROR_INVALID_VALUE, halShmemCloseHandle(memory));
}

int main(int argc, char** argv) {
  REQUIRE(argc == 4);
  OK(drvDeviceOpen(NULL, 0));
  if (strcmp(argv[1], "give") == 0) {
    give(argv[2], argv[3]);
  } else {
    take(argv[2], argv[3]);
  }
  return end_right();
}
