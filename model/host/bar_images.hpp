// SPDX-License-Identifier: Apache-2.0
// Six base address registers as a client sees them: it sizes and places them as it likes, while the
// machine's own stay where they are.
#pragma once

#include <array>
#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model {

class BarImages {
 public:
  // Register `bar` has this size (0: there is none, or it is the upper half of the one before) and
  // these flags, its low four bits; its address is 0.
  void set(unsigned bar, Bytes size, std::uint32_t flags);
  std::uint32_t get(unsigned bar) const { return image_[bar]; }
  // `offset` from the first register; the access does not pass the end of a register.
  void write(std::uint32_t offset, unsigned width, std::uint32_t value);
  // Addresses are 0 again.
  void forget();

 private:
  std::array<std::uint32_t, 6> mask_{};  // bits that a write changes
  std::array<std::uint32_t, 6> image_{};
};

}  // namespace npu::model
