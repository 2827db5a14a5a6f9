// SPDX-License-Identifier: Apache-2.0
// A host whose cores' stores leave in any legal order until a barrier (host.cpu.order=weak): those
// to devices, and those to DMA memory as devices see it. Every store leaves in finite time.
//
// One core's stores are held at a time. When another core makes some these have left: a lock that
// the one has released and the other taken would order them, and the model sees no locks.
//
// Loads are not reordered: the model does not see those of DMA memory, so it cannot tell one whose
// address comes from an earlier load, which Arm keeps behind that, from any other.
#pragma once

#include <string>

#include "model/core/simulation.hpp"
#include "model/host/device_view.hpp"
#include "model/host/held_stores.hpp"
#include "model/host/overtaken_stores.hpp"

namespace npu::model {

class WeakOrder {
 public:
  // Sends a store on its way to the device.
  using Post = std::function<void(const HeldStore&)>;

  WeakOrder(Simulation& simulation, std::uint64_t seed, Post post);

  void triggers(TriggerLookup lookup) { trigger_of_ = std::move(lookup); }
  void enter(unsigned core, const HeldStore& store);
  void before_load(unsigned core, std::uint64_t address, unsigned width, const MappedBar& bar,
                   bool combines);
  // A task may look on or wait from `now` on: what it has stored leaves some time.
  void time_passes(SimTime now);
  // A barrier, or what is one: all leaves.
  void drain();

  // No store to a device is held.
  bool empty() const { return buffer_.empty(); }

  DeviceView& memory() { return memory_; }
  // A device reads DMA memory: what it sees there.
  std::byte* device_reads(std::byte* data, Bytes length);
  const OvertakenStores& overtaken() const { return overtaken_; }

 private:
  void leave(const HeldStore& store, const std::vector<HeldStore>& held);
  std::string trigger_text(const HeldStore& store) const;
  void of_core(unsigned core);
  void publish(std::uint64_t);

  static constexpr SimTime kLongest = 4'000'000;  // ps, that a store to memory is not seen

  Simulation& simulation_;
  LegalOrder order_;
  HeldStores buffer_;
  DeviceView memory_;
  OvertakenStores overtaken_;
  Post post_;
  TriggerLookup trigger_of_;
  unsigned core_ = 0;            // whose stores are held
  bool is_due_ = false;          // stores to memory leave at a time that is known
  std::uint64_t marked_by_ = 0;  // the number of the last trigger
  std::string last_trigger_;     // the same, once it has left and before a barrier; else empty
};

}  // namespace npu::model
