// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "driver/link/card_link.hpp"
#include "driver/queue/id_pool.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/abi/queue_descriptor.hpp"
#include "npu/driver/signal.hpp"

namespace npu::driver {

struct Signals::Impl {
  struct Slot {
    std::uint32_t generation = 0;  // counts who had the slot
    bool auto_reset = false;
    std::uint64_t taken = 0;  // set: the value is another one
  };

  Impl(CardLink& card, Picoseconds sleep_cost, platform::MmioRegion& page,
       platform::InterruptVector* wakes, std::unique_ptr<platform::DmaMemory> values,
       unsigned slots)
      : link(card),
        context_switch(sleep_cost),
        doorbells(page),
        vector(wakes),
        memory(std::move(values)),
        ids(0, slots),
        table(slots) {}

  std::uint64_t bus_address() const { return memory->bus().value; }
  std::uint64_t value(SignalId id) const {
    return memory->load<std::uint64_t>(Bytes{id.value} * abi::kSignalSize);
  }
  void store(SignalId id, std::uint64_t v) const {
    memory->store(Bytes{id.value} * abi::kSignalSize, v);
  }
  Status check(SignalId id) const;
  // The card knows the process' doorbells, or is about to forget them.
  void connect(bool on);
  // Under the lock.
  void count_up(SignalId id) const;
  Status ring(SignalId id);

  CardLink& link;
  const Picoseconds context_switch;
  platform::MmioRegion& doorbells;
  platform::InterruptVector* vector;
  std::unique_ptr<platform::DmaMemory> memory;
  mutable SpinLock lock;  // of all that follows, and of the host's changes to values
  IdPool ids;
  std::vector<Slot> table;
  bool connected = false;
  unsigned sleepers = 0;  // tasks whose waits may sleep
};

// `context_switch`: AdaptiveOptions'; `page`: of the process' doorbells; `vector`: null if nobody
// can sleep.
Result<std::unique_ptr<Signals>> make_signals(CardLink& link, Picoseconds context_switch,
                                              std::uint32_t pasid, platform::MmioRegion& page,
                                              platform::InterruptVector* vector, unsigned slots);

}  // namespace npu::driver
