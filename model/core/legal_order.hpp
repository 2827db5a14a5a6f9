// SPDX-License-Identifier: Apache-2.0
// Which of the legal orders a run shows: random numbers that follow from its seed alone. Of the
// host's stores (host.cpu.order=weak), or of everything (host.order.rule=weakest;
// docs/memory-order.md).
#pragma once

#include <cstdint>

#include "model/core/agenda.hpp"

namespace npu::model {

// splitmix64 (Steele, Lea and Flood; public domain algorithm).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E37'79B9'7F4A'7C15;
  value = (value ^ value >> 30) * 0xBF58'476D'1CE4'E5B9;
  value = (value ^ value >> 27) * 0x94D0'49BB'1331'11EB;
  return value ^ value >> 31;
}

class LegalOrder {
 public:
  explicit LegalOrder(std::uint64_t seed) : state_(mixed(seed)) {}

  // Of no more than `most`.
  SimTime time(SimTime most) { return next() % (most + 1); }
  bool half() { return (next() & 1) != 0; }
  bool one_in(unsigned count) { return next() % count == 0; }
  // Half of what is asked for is next to nothing, so that what is later overtakes what is earlier.
  SimTime late(SimTime most) { return time(half() ? most : most / 64); }
  std::uint64_t next() { return mixed(state_++); }

 private:
  std::uint64_t state_;
};

}  // namespace npu::model
