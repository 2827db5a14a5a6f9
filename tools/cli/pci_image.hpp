// SPDX-License-Identifier: Apache-2.0
// What a PCI function shows of itself, read once through the platform.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "npu/platform/platform.hpp"

namespace npu::cli {

struct PciImage {
  platform::Bdf bdf;
  int numa_node = -1;                        // -1: unknown
  std::array<std::uint8_t, 4096> bytes{};    // configuration space
  std::array<std::uint64_t, 6> bar_sizes{};  // 0: no such BAR, or the upper half of one

  std::uint8_t byte(std::uint32_t offset) const { return bytes[offset % bytes.size()]; }
  std::uint16_t word(std::uint32_t offset) const {
    return static_cast<std::uint16_t>(byte(offset) | byte(offset + 1) << 8);
  }
  std::uint32_t dword(std::uint32_t offset) const {
    return word(offset) | static_cast<std::uint32_t>(word(offset + 2)) << 16;
  }
  bool is_bridge() const;
};

// Every function that answers, by bus, device and function; buses are found through bridges.
std::vector<PciImage> read_pci_images(platform::Platform& platform);

}  // namespace npu::cli
