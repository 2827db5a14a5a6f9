// SPDX-License-Identifier: Apache-2.0
// One synchronisation of the programs on a card's cores that is left out, for tests: would anybody
// notice? Every call of a kind in a program is a place. Places have numbers in the order in which
// they are first reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::model {

enum class Synchronisation : std::uint8_t {
  kAicpuBarrier,
  kAicpuInvalidate,
  kCoreClean,    // AI Core: clean_invalidate(), clean_invalidate_all()
  kCoreBarrier,  // AI Core: memory_barrier()
};

class Omission {
 public:
  // Leaves out the call at place `number`. Beyond the last place: nothing, and places are counted.
  Omission(Synchronisation kind, std::size_t number) : kind_(kind), number_(number) {}

  // Whether the call of `kind` that returns to `place` is left out.
  bool omits(Synchronisation kind, const void* place) {
    if (kind != kind_) return false;
    auto found = std::find(places_.begin(), places_.end(), place);
    if (found == places_.end()) found = places_.insert(found, place);
    const bool left_out = found - places_.begin() == static_cast<std::ptrdiff_t>(number_);
    if (left_out) ++calls_;
    return left_out;
  }
  // That were reached so far.
  const std::vector<const void*>& places() const { return places_; }
  // Calls that were left out.
  std::uint64_t calls() const { return calls_; }

 private:
  const Synchronisation kind_;
  const std::size_t number_;
  std::vector<const void*> places_;
  std::uint64_t calls_ = 0;
};

}  // namespace npu::model
