// SPDX-License-Identifier: Apache-2.0
// PCI configuration space by bus, device and function, for enumeration and setup by the driver.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::platform {

struct Bdf {
  std::uint8_t bus = 0;
  std::uint8_t device = 0;    // 0..31
  std::uint8_t function = 0;  // 0..7

  constexpr std::uint16_t packed() const {
    return static_cast<std::uint16_t>(bus << 8 | device << 3 | function);
  }
  static constexpr Bdf unpack(std::uint16_t v) {
    return {static_cast<std::uint8_t>(v >> 8), static_cast<std::uint8_t>((v >> 3) & 31),
            static_cast<std::uint8_t>(v & 7)};
  }
  friend constexpr bool operator==(Bdf a, Bdf b) { return a.packed() == b.packed(); }
  friend constexpr bool operator!=(Bdf a, Bdf b) { return !(a == b); }
  friend constexpr bool operator<(Bdf a, Bdf b) { return a.packed() < b.packed(); }
};

// "BB:DD.F", as in lspci.
inline std::string to_string(Bdf bdf) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = "00:00.0";
  text[0] = kHex[bdf.bus >> 4];
  text[1] = kHex[bdf.bus & 15];
  text[3] = kHex[bdf.device >> 4];
  text[4] = kHex[bdf.device & 15];
  text[6] = kHex[bdf.function & 7];
  return text;
}

// "1:0.0", "01:00.0", "0000:01:00.0"; anything else is none.
inline std::optional<Bdf> parse_bdf(const std::string& text) {
  for (const char* const form : {"%2x:%2x.%1x%n", "0000:%2x:%2x.%1x%n"}) {
    unsigned bus = 0, device = 0, function = 0;
    int end = 0;
    const int found = std::sscanf(text.c_str(), form, &bus, &device, &function, &end);
    if (found != 3 || static_cast<std::size_t>(end) != text.size()) continue;
    if (device > 31 || function > 7) return std::nullopt;
    return Bdf{static_cast<std::uint8_t>(bus), static_cast<std::uint8_t>(device),
               static_cast<std::uint8_t>(function)};
  }
  return std::nullopt;
}

// A root of the PCI hierarchy, from the operating system (Linux: ACPI).
struct HostBridge {
  std::uint8_t first_bus = 0;  // the root bus
  std::uint8_t last_bus = 255;
  int numa_node = -1;  // -1: unknown
};

class PciAccess {
 public:
  virtual ~PciAccess() = default;
  virtual std::vector<HostBridge> host_bridges() const = 0;
  // `width` is 1, 2 or 4 bytes. `offset` is below 4096 and a multiple of it. A function that does
  // not answer (absent, removed, link down) reads as all ones, and writes to it are dropped.
  virtual std::uint32_t read(Bdf bdf, std::uint32_t offset, unsigned width) = 0;
  virtual void write(Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) = 0;

  std::uint32_t read32(Bdf bdf, std::uint32_t offset) { return read(bdf, offset, 4); }
  std::uint16_t read16(Bdf bdf, std::uint32_t offset) {
    return static_cast<std::uint16_t>(read(bdf, offset, 2));
  }
  std::uint8_t read8(Bdf bdf, std::uint32_t offset) {
    return static_cast<std::uint8_t>(read(bdf, offset, 1));
  }
  void write32(Bdf bdf, std::uint32_t offset, std::uint32_t value) { write(bdf, offset, 4, value); }
  void write16(Bdf bdf, std::uint32_t offset, std::uint16_t value) { write(bdf, offset, 2, value); }
};

}  // namespace npu::platform
