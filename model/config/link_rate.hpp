// SPDX-License-Identifier: Apache-2.0
// Figures that follow from a configuration.
#pragma once

#include <array>
#include <cstdint>

#include "model/config/chip_config.hpp"

namespace npu::model {

// Bytes per second and direction after 8b/10b or 128b/130b encoding, rounded down.
// PCI Express Base Specification, chapter 4.2 (encoding) and 8 (rates).
constexpr std::uint64_t link_bytes_per_second(const LinkConfig& link) {
  constexpr std::array<std::uint64_t, 6> kMegatransfers{0, 2'500, 5'000, 8'000, 16'000, 32'000};
  const std::uint64_t bits = kMegatransfers[link.generation] * 1'000'000 * link.lanes;
  return link.generation <= 2 ? bits * 8 / 10 / 8 : bits / 130 * 128 / 8;
}

// Reads and writes share it.
constexpr std::uint64_t hbm_bytes_per_second(const HbmConfig& hbm) {
  const HbmTimings& t = hbm.timings;
  return std::uint64_t{hbm.channels} * t.pseudo_channels * (t.clock_hz / t.burst_clocks) * t.burst;
}

}  // namespace npu::model
