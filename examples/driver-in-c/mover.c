/* SPDX-License-Identifier: Apache-2.0 */
#include "mover.h"

#include <stdatomic.h>
#include <string.h>

/* Registers of BAR0, and of a stream's window (npu/abi/registers.hpp, npu/abi/stream.hpp). */
enum {
  kStreamWindowBase = 0x0018,
  kDmaQueueBase = 0x1000,
  kDmaDoorbell = 0x1010,
  kDmaQueueControl = 0x1018,
  kEventRecordBase = 0x1020,
  kEvent0 = 0x2000,
  kRegisterBytes = 0x6000,
  kStreamControl = 0x00,
  kStreamVector = 0x04,
  kWindowBytes = 0x1000,
};
enum { kEnable = 1, kHostMemory = 2 };
enum { kCommand = 0x04, kMemorySpace = 0x0002, kBusMaster = 0x0004, kRevision = 0x08 };
enum { kRingEntries = 4096, kEntryBytes = 32, kEvents = 2048 };
enum { kHostToDevice = 0x01, kDeviceToHost = 0x02, kInterrupt = 0x01 };
static const int64_t kLook = 1000000000; /* 1 ms: an interrupt may be lost */

/* npu/abi/dma.hpp */
typedef struct entry {
  uint8_t opcode, flags;
  uint16_t stream;
  uint32_t source_low, source_high, target_low, target_high, event, size_low, size_high;
} entry;

static uint32_t done(const mover* m) {
  const _Atomic uint64_t* record = m->records->cpu;
  return (uint32_t)atomic_load_explicit(record, memory_order_acquire);
}

static int map_all(mover* m) {
  npu_platform* p = m->platform;
  int status = p->f->map_bar(p, m->bdf, 0, 0, kRegisterBytes, NPU_UNCACHED, &m->registers);
  if (status != NPU_OK) return status;
  const uint64_t window = p->f->read64(p, m->registers, kStreamWindowBase);
  if (window == UINT64_MAX) return NPU_DEVICE_LOST;
  status = p->f->map_bar(p, m->bdf, 2, window, kWindowBytes, NPU_UNCACHED, &m->window);
  if (status != NPU_OK) return status;
  status =
      p->f->allocate_dma(p, m->bdf, kRingEntries * kEntryBytes, 4096, NPU_DEVICE_READS, &m->ring);
  if (status != NPU_OK) return status;
  status = p->f->allocate_dma(p, m->bdf, kEvents * 8, 4096, NPU_DEVICE_WRITES, &m->records);
  if (status != NPU_OK) return status;
  return p->f->open_vector(p, m->bdf, 0, &m->vector);
}

static void start(mover* m) {
  npu_platform* p = m->platform;
  p->f->write32(p, m->window, kStreamVector, 0);
  p->f->write32(p, m->window, kStreamControl, kEnable);
  const uint64_t before = p->f->read64(p, m->registers, kEvent0);
  memcpy(m->records->cpu, &before, sizeof before);
  m->done_before = (uint32_t)before;
  p->f->write64(p, m->registers, kEventRecordBase, m->records->bus);
  p->f->write64(p, m->registers, kDmaQueueBase, m->ring->bus);
  p->f->write32(p, m->registers, kDmaQueueControl, kEnable | kHostMemory);
}

int mover_open(mover* m, npu_platform* p, uint16_t bdf) {
  memset(m, 0, sizeof *m);
  m->platform = p;
  m->bdf = bdf;
  const uint32_t command = p->f->config_read(p, bdf, kCommand, 2);
  p->f->config_write(p, bdf, kCommand, 2, command | kMemorySpace | kBusMaster);
  const int status = map_all(m);
  if (status == NPU_OK) {
    start(m);
  } else {
    mover_close(m);
  }
  return status;
}

void mover_close(mover* m) {
  npu_platform* p = m->platform;
  if (m->registers != NULL) p->f->write32(p, m->registers, kDmaQueueControl, 0);
  if (m->vector != NULL) p->f->close_vector(p, m->vector);
  if (m->records != NULL) p->f->free_dma(p, m->records);
  if (m->ring != NULL) p->f->free_dma(p, m->ring);
  if (m->window != NULL) p->f->unmap_bar(p, m->window);
  if (m->registers != NULL) p->f->unmap_bar(p, m->registers);
  memset(m, 0, sizeof *m);
}

void mover_begin(mover* m, int to_card, uint64_t bus, uint64_t address, uint64_t size) {
  npu_platform* p = m->platform;
  const uint64_t source = to_card ? bus : address, target = to_card ? address : bus;
  const entry made = {to_card ? kHostToDevice : kDeviceToHost,
                      kInterrupt,
                      0,
                      (uint32_t)source,
                      (uint32_t)(source >> 32),
                      (uint32_t)target,
                      (uint32_t)(target >> 32),
                      0,
                      (uint32_t)size,
                      (uint32_t)(size >> 32)};
  memcpy((char*)m->ring->cpu + m->submitted % kRingEntries * kEntryBytes, &made, sizeof made);
  ++m->submitted;
  p->f->write_barrier(p);
  p->f->write32(p, m->registers, kDmaDoorbell, m->submitted % kRingEntries);
}

int mover_wait(mover* m, int64_t timeout) {
  npu_platform* p = m->platform;
  const int64_t deadline = p->f->now(p) + timeout;
  for (;;) {
    uint64_t seen = p->f->count(p, m->vector);
    if ((int32_t)(done(m) - m->done_before - m->submitted) >= 0) {
      p->f->read_barrier(p);
      return NPU_OK;
    }
    const int64_t now = p->f->now(p);
    if (now >= deadline) return NPU_TIMEOUT;
    const int64_t look = now + kLook < deadline ? now + kLook : deadline;
    if (p->f->wait_after(p, m->vector, seen, look, &seen) == NPU_TIMEOUT &&
        p->f->config_read(p, m->bdf, kRevision, 4) == UINT32_MAX) {
      return NPU_DEVICE_LOST;
    }
  }
}
