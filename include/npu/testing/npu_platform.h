/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of the host machine (npu/platform/platform.hpp) as a table of functions, for
 * drivers in C and languages that call C. A driver that uses only such a table runs on the
 * simulator (npu/testing/npu_machine.h provides a table), and on every other machine with a table.
 *
 * Only one task at a time may call. Times are picoseconds since power-up; sizes and offsets are
 * bytes. `bdf` identifies a function: bus << 8 | device << 3 | function.
 */
#ifndef NPU_TESTING_NPU_PLATFORM_H
#define NPU_TESTING_NPU_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results of calls; npu_platform_functions::last_error returns the text. */
enum npu_status {
  NPU_OK = 0,
  NPU_INVALID_ARGUMENT, /* an error of the caller */
  NPU_OUT_OF_RANGE,     /* an offset, index or size beyond the object */
  NPU_MISALIGNED,
  NPU_NOT_FOUND,      /* no such function, BAR, card */
  NPU_ALREADY_EXISTS, /* the vector is open, the metric exists */
  NPU_BUSY,
  NPU_OUT_OF_MEMORY,
  NPU_OUT_OF_RESOURCES,
  NPU_QUEUE_FULL,
  NPU_TIMEOUT, /* a deadline passed */
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
typedef struct npu_vector npu_vector; /* an open MSI-X vector */

/* Host memory that the function can access by DMA: zeroed, coherent, contiguous on the bus. Read
 * words that the card writes with volatile or atomic loads. */
typedef struct npu_dma_memory {
  void* cpu;
  uint64_t bus; /* the address for the card */
  size_t size;
} npu_dma_memory;

enum npu_caching { NPU_UNCACHED = 0, NPU_WRITE_COMBINING = 1 };
enum npu_direction { NPU_BIDIRECTIONAL = 0, NPU_DEVICE_READS = 1, NPU_DEVICE_WRITES = 2 };

typedef struct npu_platform npu_platform;

typedef struct npu_platform_functions {
  size_t size; /* of this table; newer versions are longer */

  /* Configuration space. `width` is 1, 2 or 4; `offset` is below 4096 and a multiple of it. A
   * function that does not answer reads as all ones, and writes to it are dropped. */
  uint32_t (*config_read)(npu_platform*, uint16_t bdf, uint32_t offset, unsigned width);
  void (*config_write)(npu_platform*, uint16_t bdf, uint32_t offset, unsigned width,
                       uint32_t value);

  /* BARs.
   * NPU_NOT_FOUND: no such function or BAR.
   * NPU_OUT_OF_RANGE: not inside the BAR.
   * NPU_MISALIGNED: `offset` or `size` is no multiple of 4 KiB. */
  int (*map_bar)(npu_platform*, uint16_t bdf, unsigned bar, uint64_t offset, uint64_t size,
                 enum npu_caching caching, npu_region** region);
  void (*unmap_bar)(npu_platform*, npu_region*);
  /* Offsets are relative to the mapped part and naturally aligned. A read is a round trip over the
   * link, and a write is posted. */
  uint32_t (*read32)(npu_platform*, npu_region*, uint64_t offset);
  uint64_t (*read64)(npu_platform*, npu_region*, uint64_t offset);
  void (*write32)(npu_platform*, npu_region*, uint64_t offset, uint32_t value);
  void (*write64)(npu_platform*, npu_region*, uint64_t offset, uint64_t value);

  /* DMA memory.
   * NPU_MISALIGNED: `alignment` is no power of two of at least 4096.
   * NPU_OUT_OF_MEMORY: no memory.
   * NPU_NOT_FOUND: no such function. */
  int (*allocate_dma)(npu_platform*, uint16_t bdf, uint64_t size, uint64_t alignment,
                      enum npu_direction direction, npu_dma_memory** memory);
  void (*free_dma)(npu_platform*, npu_dma_memory*);

  /* The card sees earlier stores before later ones. Drains write combining. */
  void (*write_barrier)(npu_platform*);
  /* Later loads are not satisfied before earlier ones. */
  void (*read_barrier)(npu_platform*);

  /* Interrupts. A vector counts them, so that one before the wait is not lost:
   *   seen = count(v); if (condition) return; wait_after(v, seen, deadline, &seen);
   * NPU_OUT_OF_RANGE: open_vector: beyond the table.
   * NPU_ALREADY_EXISTS: open_vector: the vector is open.
   * NPU_UNSUPPORTED: open_vector: the function has no MSI-X.
   * NPU_TIMEOUT: wait_after: no interrupt until `deadline`. */
  int (*open_vector)(npu_platform*, uint16_t bdf, unsigned number, npu_vector** vector);
  void (*close_vector)(npu_platform*, npu_vector*);
  uint64_t (*count)(npu_platform*, npu_vector*);
  int (*wait_after)(npu_platform*, npu_vector*, uint64_t seen, int64_t deadline, uint64_t* count);

  /* Time. */
  int64_t (*now)(npu_platform*);
  void (*sleep_until)(npu_platform*, int64_t deadline);
  /* One round of a poll loop: the caller has just read `watched` (host memory that the card writes;
   * null with 0 bytes: something else), and will read it again. */
  void (*relax)(npu_platform*, const volatile void* watched, size_t bytes, int64_t deadline);

  /* Function level reset. Returns when configuration reads answer again. */
  int (*reset_function)(npu_platform*, uint16_t bdf);

  /* For tests: a driver that closes reports objects that were not freed (`kind`: "event"). */
  void (*note_never_freed)(npu_platform*, const char* kind, uint64_t count, uint64_t bytes);

  /* One line of text of the last error, valid until the next error. */
  const char* (*last_error)(npu_platform*);
} npu_platform_functions;

/* An implementation puts this at the start of its own structure. */
struct npu_platform {
  const npu_platform_functions* f;
};

#ifdef __cplusplus
}
#endif

#endif
