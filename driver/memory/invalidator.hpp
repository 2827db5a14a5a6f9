// SPDX-License-Identifier: Apache-2.0
// Makes the card drop cached translations (MMU_INVALIDATE, registers.hpp). One at a time.
#pragma once

#include "driver/link/card_link.hpp"
#include "npu/base/units.hpp"

namespace npu::driver {

class Invalidator {
 public:
  Invalidator(CardLink& link, Picoseconds timeout) : link_(link), timeout_(timeout) {}

  // Returns when no access uses a translation from before. What replaced it must have been written.
  // kTimeout: the card still may use the old ones.
  Status range(unsigned vmid, std::uint64_t at, Bytes size);
  Status space(unsigned vmid);

 private:
  Status run(unsigned vmid, std::uint32_t scope);
  Status wait_idle(unsigned vmid);

  CardLink& link_;
  const Picoseconds timeout_;
  bool stuck_ = false;  // the last one had not ended when it was given up
};

}  // namespace npu::driver
