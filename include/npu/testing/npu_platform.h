/* SPDX-License-Identifier: Apache-2.0 */
/* The machine as a driver sees it, for drivers in C and in whatever calls C:
 * npu/platform/platform.hpp as a table of functions. A driver that does all its work through such a
 * table runs on the simulator (npu/testing/npu_machine.h gives it one), and on anything else for
 * which somebody fills one.
 *
 * Calls come from one task at a time. Times are picoseconds since power-up, sizes and offsets
 * bytes. A function is named by its packed BDF: bus << 8 | device << 3 | function.
 */
#ifndef NPU_TESTING_NPU_PLATFORM_H
#define NPU_TESTING_NPU_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What calls return; npu_platform_functions::last_error has the text. */
enum npu_status {
  NPU_OK = 0,
  NPU_INVALID_ARGUMENT, /* the caller's fault */
  NPU_OUT_OF_RANGE,     /* an offset, index or size beyond what there is */
  NPU_MISALIGNED,
  NPU_NOT_FOUND,      /* no such function, BAR, card */
  NPU_ALREADY_EXISTS, /* the vector is open, the metric is there */
  NPU_BUSY,
  NPU_OUT_OF_MEMORY,
  NPU_OUT_OF_RESOURCES,
  NPU_QUEUE_FULL,
  NPU_TIMEOUT, /* a deadline has passed */
  NPU_DEVICE_LOST,
  NPU_DEVICE_FAULT,
  NPU_UNSUPPORTED,
  NPU_BAD_DEVICE,
  NPU_PERMISSION_DENIED,
  NPU_IO,
  NPU_ABORTED,
  NPU_WRONG_DATA
};

#define NPU_NEVER INT64_MAX /* as a deadline */

typedef struct npu_region npu_region; /* a mapped part of a BAR */
typedef struct npu_vector npu_vector; /* an MSI-X vector that is open */

/* Host memory that the function may read and write by DMA: zeroed, coherent, contiguous on the bus.
 * Words that the card writes are read with volatile or atomic loads. */
typedef struct npu_dma_memory {
  void* cpu;
  uint64_t bus; /* what the card is told */
  size_t size;
} npu_dma_memory;

enum npu_caching { NPU_UNCACHED = 0, NPU_WRITE_COMBINING = 1 };
enum npu_direction { NPU_BIDIRECTIONAL = 0, NPU_DEVICE_READS = 1, NPU_DEVICE_WRITES = 2 };

typedef struct npu_platform npu_platform;

typedef struct npu_platform_functions {
  size_t size; /* of this table: a newer one has more at its end */

  /* Configuration space. `width` is 1, 2 or 4, `offset` below 4096 and a multiple of it. What does
   * not answer reads as all ones; writes to it are dropped. */
  uint32_t (*config_read)(npu_platform*, uint16_t bdf, uint32_t offset, unsigned width);
  void (*config_write)(npu_platform*, uint16_t bdf, uint32_t offset, unsigned width,
                       uint32_t value);

  /* BARs. `offset` and `size` are multiples of 4 KiB. NPU_NOT_FOUND: no such function or BAR;
   * NPU_OUT_OF_RANGE: not inside it; NPU_MISALIGNED. */
  int (*map_bar)(npu_platform*, uint16_t bdf, unsigned bar, uint64_t offset, uint64_t size,
                 enum npu_caching caching, npu_region** region);
  void (*unmap_bar)(npu_platform*, npu_region*);
  /* Offsets in the mapped part, naturally aligned. A read is a round trip over the link, a write is
   * posted. */
  uint32_t (*read32)(npu_platform*, npu_region*, uint64_t offset);
  uint64_t (*read64)(npu_platform*, npu_region*, uint64_t offset);
  void (*write32)(npu_platform*, npu_region*, uint64_t offset, uint32_t value);
  void (*write64)(npu_platform*, npu_region*, uint64_t offset, uint64_t value);

  /* DMA memory. `alignment` is a power of two, at least 4096. NPU_OUT_OF_MEMORY, NPU_NOT_FOUND. */
  int (*allocate_dma)(npu_platform*, uint16_t bdf, uint64_t size, uint64_t alignment,
                      enum npu_direction direction, npu_dma_memory** memory);
  void (*free_dma)(npu_platform*, npu_dma_memory*);

  /* Stores before are visible to the card before stores after; what is combined leaves. */
  void (*write_barrier)(npu_platform*);
  /* Loads after are not satisfied before loads before. */
  void (*read_barrier)(npu_platform*);

  /* Interrupts. A vector counts, so that one that comes before the wait is not lost:
   *   seen = count(v); if (condition) return; wait_after(v, seen, deadline, &seen);
   * open: NPU_OUT_OF_RANGE, NPU_ALREADY_EXISTS, NPU_UNSUPPORTED. wait: NPU_TIMEOUT. */
  int (*open_vector)(npu_platform*, uint16_t bdf, unsigned number, npu_vector** vector);
  void (*close_vector)(npu_platform*, npu_vector*);
  uint64_t (*count)(npu_platform*, npu_vector*);
  int (*wait_after)(npu_platform*, npu_vector*, uint64_t seen, int64_t deadline, uint64_t* count);

  /* Time. */
  int64_t (*now)(npu_platform*);
  void (*sleep_until)(npu_platform*, int64_t deadline);
  /* One round of a poll loop: the caller has just looked at `watched` (host memory that the card
   * writes; null with 0 bytes: at anything else) and will look again. */
  void (*relax)(npu_platform*, const volatile void* watched, size_t bytes, int64_t deadline);

  /* Function level reset; returns when configuration reads answer again. */
  int (*reset_function)(npu_platform*, uint16_t bdf);

  /* A driver that closes tells what was not given back to it (`kind`: "event"), for tests. */
  void (*note_never_freed)(npu_platform*, const char* kind, uint64_t count, uint64_t bytes);

  /* Of the last call that did not return NPU_OK: one line, valid until the next such call. */
  const char* (*last_error)(npu_platform*);
} npu_platform_functions;

/* Whoever fills the table puts this at the beginning of what it knows of its platform. */
struct npu_platform {
  const npu_platform_functions* f;
};

#ifdef __cplusplus
}
#endif

#endif
