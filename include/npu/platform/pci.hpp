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

// A bus is named by its PCI segment, too: segment * 256 + number.
inline constexpr unsigned kBusesPerSegment = 256;

struct Bdf {
  std::uint16_t bus = 0;
  std::uint8_t device = 0;    // 0..31
  std::uint8_t function = 0;  // 0..7

  constexpr unsigned segment() const { return bus / kBusesPerSegment; }
  // The low 16 bits are the function's routing id (PCIe 2.2.4.2), those above its segment.
  constexpr std::uint32_t packed() const {
    return std::uint32_t{bus} << 8 | static_cast<std::uint32_t>(device << 3 | function);
  }
  static constexpr Bdf unpack(std::uint32_t v) {
    return {static_cast<std::uint16_t>(v >> 8), static_cast<std::uint8_t>((v >> 3) & 31),
            static_cast<std::uint8_t>(v & 7)};
  }
  friend constexpr bool operator==(Bdf a, Bdf b) { return a.packed() == b.packed(); }
  friend constexpr bool operator!=(Bdf a, Bdf b) { return !(a == b); }
  friend constexpr bool operator<(Bdf a, Bdf b) { return a.packed() < b.packed(); }
};

// "BB:DD.F", as in lspci; of other segments than 0 "SSSS:BB:DD.F".
inline std::string to_string(Bdf bdf) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = bdf.segment() == 0 ? "" : "0000:";
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    text[i] = kHex[bdf.segment() >> (12 - 4 * i) & 15];
  }
  for (const unsigned digit : {bdf.bus >> 4 & 15, bdf.bus & 15}) text += kHex[digit];
  text += ':';
  for (const unsigned digit : {bdf.device >> 4, bdf.device & 15}) text += kHex[digit];
  return text + '.' + kHex[bdf.function & 7];
}

// "1:0.0", "01:00.0", "0000:01:00.0"; anything else is none. Segments are 0 .. ff.
inline std::optional<Bdf> parse_bdf(const std::string& text) {
  unsigned segment = 0, bus = 0, device = 0, function = 0;
  int end = 0;
  const bool is_whole =
      std::sscanf(text.c_str(), "%2x:%2x.%1x%n", &bus, &device, &function, &end) == 3 ||
      std::sscanf(text.c_str(), "%4x:%2x:%2x.%1x%n", &segment, &bus, &device, &function, &end) == 4;
  if (!is_whole || static_cast<std::size_t>(end) != text.size()) return std::nullopt;
  if (segment > 0xFF || device > 31 || function > 7) return std::nullopt;
  return Bdf{static_cast<std::uint16_t>(segment * kBusesPerSegment + bus),
             static_cast<std::uint8_t>(device), static_cast<std::uint8_t>(function)};
}

// A root of the PCI hierarchy, from the operating system (Linux: ACPI).
struct HostBridge {
  std::uint16_t first_bus = 0;  // the root bus
  std::uint16_t last_bus = kBusesPerSegment - 1;
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
