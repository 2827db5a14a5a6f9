/* SPDX-License-Identifier: Apache-2.0 */
/* The driver under test: moves bytes between host memory and the card's memory through the card's
 * DMA ring. Whatever it does to the machine goes through a table of functions. */
#ifndef MOVER_H
#define MOVER_H

#include "npu/testing/npu_platform.h"

typedef struct mover {
  npu_platform* platform;
  uint16_t bdf;
  npu_region* registers; /* the first pages of BAR0 */
  npu_region* window;    /* of stream 0, in BAR2 */
  npu_dma_memory* ring;
  npu_dma_memory* records; /* where the card counts what is done */
  npu_vector* vector;
  uint32_t submitted;
  uint32_t done_before; /* what event 0 had counted when the card was opened */
} mover;

/* What fails leaves nothing open. */
int mover_open(mover*, npu_platform*, uint16_t bdf);
void mover_close(mover*);
/* `size` bytes from host memory at `bus` to the card's memory at `address`, or back. Returns when
 * the card may see it. */
void mover_begin(mover*, int to_card, uint64_t bus, uint64_t address, uint64_t size);
/* Sleeps until all is done. NPU_TIMEOUT; NPU_DEVICE_LOST. */
int mover_wait(mover*, int64_t timeout);

#endif
