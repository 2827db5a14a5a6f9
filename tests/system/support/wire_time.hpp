// SPDX-License-Identifier: Apache-2.0
// What a packet takes on a link, from PCIe's figures alone and not from the model's code.
#pragma once

#include <cstdint>

#include "model/config/chip_config.hpp"

namespace npu::test {

// Wire time in ps of `bytes` after encoding, rounded up: PCIe 4.2, 10 bits per byte at 2.5 and
// 5 GT/s, 130/16 above.
inline std::int64_t wire(const model::LinkConfig& link, std::int64_t bytes) {
  const std::int64_t unit_interval_fs[] = {400'000, 200'000, 125'000, 62'500, 31'250};
  const bool is_8b10b = link.generation <= 2;
  const std::int64_t numerator =
      bytes * unit_interval_fs[link.generation - 1] * (is_8b10b ? 10 : 130);
  const std::int64_t denominator = std::int64_t{1000} * link.lanes * (is_8b10b ? 1 : 16);
  return (numerator + denominator - 1) / denominator;
}

}  // namespace npu::test
