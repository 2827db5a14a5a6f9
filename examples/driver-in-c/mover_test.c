/* SPDX-License-Identifier: Apache-2.0 */
/* mover_test NAME: one test, on a simulated machine. With NPUSIM_REPORTS=FOLDER it leaves the
 * report FOLDER/mover.NAME.json for `npusim compare`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mover.h"
#include "npu/testing/npu_machine.h"

static const int64_t kMicrosecond = 1000000, kMillisecond = 1000000000;
static const uint64_t kBytes = 65536, kAtCard = 0x100000;

static npu_machine* machine;
static npu_platform* platform;
static mover driver;
static npu_dma_memory* buffer;
static int failures;

#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

static void begin_upload(void* unused) {
  (void)unused;
  mover_begin(&driver, 1, buffer->bus, kAtCard, kBytes);
}
static void wait_for_it(void* unused) {
  (void)unused;
  EXPECT(mover_wait(&driver, 10 * kMillisecond) == NPU_OK);
}

/* What the call did is in the report, too: `npusim compare` finds one more of it. */
static npu_accesses* counted(const char* name, void (*call)(void*)) {
  npu_accesses* made = npu_machine_accesses(machine, call, NULL);
  char metric[64];
  snprintf(metric, sizeof metric, "mover.%s.time_ns", name);
  EXPECT(npu_machine_metric(machine, metric, npu_accesses_elapsed(made), 3, "ns") == NPU_OK);
  snprintf(metric, sizeof metric, "mover.%s.accesses.mmio_reads", name);
  const int64_t reads = (int64_t)npu_accesses_count(made, NPU_MMIO_READ, NULL);
  EXPECT(npu_machine_metric(machine, metric, reads, 0, "") == NPU_OK);
  return made;
}

static void brings_back_what_it_took(void) {
  memset(buffer->cpu, 0x5A, kBytes);
  begin_upload(NULL);
  wait_for_it(NULL);
  memset(buffer->cpu, 0, kBytes);
  mover_begin(&driver, 0, buffer->bus, kAtCard, kBytes);
  wait_for_it(NULL);
  const unsigned char* bytes = buffer->cpu;
  EXPECT(bytes[0] == 0x5A && bytes[kBytes - 1] == 0x5A);
}

static void submission_reads_no_register(void) {
  npu_accesses* made = counted("submit", begin_upload);
  EXPECT(npu_accesses_count(made, NPU_MMIO_READ, NULL) == 0);
  EXPECT(npu_accesses_count(made, NPU_MMIO_WRITE, "DMA_DOORBELL") == 1);
  EXPECT(npu_accesses_count(made, NPU_WRITE_BARRIER, NULL) == 1);
  if (failures > 0) printf("%s", npu_accesses_text(made));
  npu_accesses_free(made);
  wait_for_it(NULL);
}

static void waits_by_one_interrupt(void) {
  begin_upload(NULL);
  npu_accesses* made = counted("wait", wait_for_it);
  EXPECT(npu_accesses_count(made, NPU_INTERRUPT, NULL) == 1);
  EXPECT(npu_accesses_count(made, NPU_POLL, NULL) == 0);
  npu_accesses_free(made);
}

static void gets_over_a_lost_interrupt(void) {
  const npu_fault lost = NPU_FAULT(NPU_LOST_INTERRUPT);
  EXPECT(npu_machine_inject(machine, &lost, NULL) == NPU_OK);
  begin_upload(NULL);
  const int64_t before = npu_machine_now(machine);
  wait_for_it(NULL);
  EXPECT(npu_machine_pending_faults(machine) == 0);
  EXPECT(npu_machine_now(machine) - before < kMillisecond + 20 * kMicrosecond);
}

static void notices_a_removed_card(void) {
  const npu_fault removed = NPU_FAULT(NPU_LINK_DOWN);
  const npu_when soon = {NPU_AFTER, kMicrosecond, 0, NPU_MMIO_READ, NULL};
  EXPECT(npu_machine_inject(machine, &removed, &soon) == NPU_OK);
  begin_upload(NULL);
  EXPECT(mover_wait(&driver, 10 * kMillisecond) == NPU_DEVICE_LOST);
}

static void gives_everything_back(void) {
  platform->f->free_dma(platform, buffer);
  mover_close(&driver);
  EXPECT(strcmp(npu_machine_leaks(machine), "") == 0);
  EXPECT(mover_open(&driver, platform, 0) != NPU_OK); /* there is no card */
  EXPECT(strcmp(npu_machine_leaks(machine), "") == 0);
  buffer = NULL;
}

static const struct {
  const char* name;
  void (*run)(void);
} kTests[] = {{"brings_back_what_it_took", brings_back_what_it_took},
              {"submission_reads_no_register", submission_reads_no_register},
              {"waits_by_one_interrupt", waits_by_one_interrupt},
              {"gets_over_a_lost_interrupt", gets_over_a_lost_interrupt},
              {"notices_a_removed_card", notices_a_removed_card},
              {"gives_everything_back", gives_everything_back}};

static int set_up(void) {
  char error[256];
  uint16_t bdf = 0;
  machine = npu_machine_create("910b", NULL, 0, error, sizeof error);
  if (machine == NULL) {
    printf("%s\n", error);
    return 0;
  }
  platform = npu_machine_platform(machine);
  EXPECT(npu_machine_card(machine, 0, &bdf) == NPU_OK);
  if (mover_open(&driver, platform, bdf) != NPU_OK ||
      platform->f->allocate_dma(platform, bdf, kBytes, 4096, NPU_BIDIRECTIONAL, &buffer) !=
          NPU_OK) {
    printf("%s\n", platform->f->last_error(platform));
    return 0;
  }
  return failures == 0;
}

static void tear_down(const char* name) {
  if (buffer != NULL) {
    platform->f->free_dma(platform, buffer);
    mover_close(&driver);
  }
  const char* leaks = npu_machine_leaks(machine);
  if (*leaks != 0) {
    printf("%s\n", leaks);
    ++failures;
  }
  const char* folder = getenv("NPUSIM_REPORTS");
  if (folder != NULL) {
    char test[96], path[512];
    snprintf(test, sizeof test, "mover.%s", name);
    snprintf(path, sizeof path, "%s/%s.json", folder, test);
    EXPECT(npu_machine_write_report(machine, test, failures == 0 ? NULL : "failed: the test",
                                    path) == NPU_OK);
  }
  npu_machine_destroy(machine);
}

int main(int argc, char** argv) {
  for (size_t i = 0; argc == 2 && i < sizeof kTests / sizeof kTests[0]; ++i) {
    if (strcmp(argv[1], kTests[i].name) != 0) continue;
    if (!set_up()) return 1;
    kTests[i].run();
    tear_down(argv[1]);
    return failures == 0 ? 0 : 1;
  }
  printf("usage: mover_test NAME, of which there are:\n");
  for (size_t i = 0; i < sizeof kTests / sizeof kTests[0]; ++i) printf("  %s\n", kTests[i].name);
  return 2;
}
