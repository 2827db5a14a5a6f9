// SPDX-License-Identifier: Apache-2.0
// A queue as its process' manager sees it.
#pragma once

#include <atomic>

#include "driver/queue/id_pool.hpp"
#include "driver/queue/queue_channel.hpp"
#include "npu/abi/queue_descriptor.hpp"

namespace npu::driver {

// What the card has been told of a queue and has answered.
enum class Held : std::uint8_t {
  kNo,
  kYes,      // SUSPEND was the last command
  kUnknown,  // the last one was not answered: either is possible, now or later
};

// In the reverse order of its members it gives back what it has.
struct QueueRecord {
  PooledId id;
  PooledId doorbell;
  QueueOptions options;
  abi::QueueDescriptor descriptor;  // the driver's half as written
  QueueChannel* channel = nullptr;  // the handle has it

  unsigned percentage = 100;  // as wanted: 0 is not for the card
  bool null_ring = false;
  bool suspended = false;          // by its owner
  std::atomic<bool> dying{false};  // a task is destroying it
  bool leaving = false;            // REMOVE_QUEUE was not answered: only the end is left
  Held held = Held::kNo;

  QueueId queue_id() const { return QueueId{id.value()}; }
  // It would run if its process did.
  bool wants_to_run() const { return !null_ring && percentage > 0 && !suspended; }
  bool is_ending() const { return dying || leaving; }
  bool is_known(bool is_held) const { return held == (is_held ? Held::kYes : Held::kNo); }
  // As the card has answered; on RESUME it has read the descriptor.
  void note_held(bool is_held) {
    held = is_held ? Held::kYes : Held::kNo;
    if (!is_held) channel->note_ring_known();
  }
};

}  // namespace npu::driver
