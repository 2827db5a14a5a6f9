// SPDX-License-Identifier: Apache-2.0
// What a queue counts of itself (QueueCounters), from several tasks.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/support/relaxed.hpp"
#include "npu/driver/queue_types.hpp"

namespace npu::driver {

struct ChannelCounters {
  std::atomic<std::uint64_t> submissions{0}, entries{0}, doorbells{0}, entry_writes{0},
      mmio_reads{0}, ring_full{0}, rejected{0}, completions{0}, failed{0}, waits{0}, spun{0},
      slept{0}, missed{0}, timeouts{0};

  QueueCounters read() const {
    QueueCounters result;
    result.submissions = submissions.load(kRelaxed);
    result.entries = entries.load(kRelaxed);
    result.doorbells = doorbells.load(kRelaxed);
    result.entry_writes = entry_writes.load(kRelaxed);
    result.mmio_reads = mmio_reads.load(kRelaxed);
    result.ring_full = ring_full.load(kRelaxed);
    result.rejected = rejected.load(kRelaxed);
    result.completions = completions.load(kRelaxed);
    result.failed = failed.load(kRelaxed);
    result.waits = waits.load(kRelaxed);
    result.spun = spun.load(kRelaxed);
    result.slept = slept.load(kRelaxed);
    result.missed_interrupts = missed.load(kRelaxed);
    result.timeouts = timeouts.load(kRelaxed);
    return result;
  }
};

}  // namespace npu::driver
