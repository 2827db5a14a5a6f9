// SPDX-License-Identifier: Apache-2.0
// The 4096 bytes of configuration space of one function, with the access rule of every bit.
// Source: PCIe Base 4.0, 7.4 (register attributes).
#pragma once

#include <array>
#include <cstdint>

#include "npu/abi/pci.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

// A configuration access on its way through bridges without taking time: firmware, exporters and,
// at the end of their journey, timed requests.
struct ConfigRequest {
  std::uint32_t bdf = 0;
  std::uint32_t offset = 0;  // < 4096, a multiple of width
  unsigned width = 4;        // 1, 2 or 4
  bool is_write = false;
  std::uint32_t value = 0;  // in or out
  bool type0 = false;       // addressed to the bus the receiver sits on (PCIe 7.3.3)
};

// What hangs below a link.
class ConfigTarget {
 public:
  virtual ~ConfigTarget() = default;
  // A configuration request from above. False: unsupported request.
  virtual bool config_access(ConfigRequest& request) = 0;
  // The link above has gone down or into hot reset.
  virtual void hot_reset() = 0;
};

class ConfigSpace {
 public:
  std::uint32_t read(std::uint32_t offset, unsigned width) const;
  // What software's write does: writable bits change, RW1C bits written as 1 clear.
  void write(std::uint32_t offset, unsigned width, std::uint32_t value);

  // The hardware's side.
  void set(std::uint32_t offset, unsigned width, std::uint32_t value);
  void set_bits(std::uint32_t offset, unsigned width, std::uint32_t bits);
  void clear_bits(std::uint32_t offset, unsigned width, std::uint32_t bits);
  void writable(std::uint32_t offset, unsigned width, std::uint32_t mask);
  void write_one_to_clear(std::uint32_t offset, unsigned width, std::uint32_t mask);

  // A memory BAR pair (64-bit) at `offset`; `size` a power of two, at least 16.
  void add_bar64(std::uint32_t offset, Bytes size, bool prefetchable);
  // The same BAR takes more or less room from now on; address bits below its size are cleared.
  void resize_bar64(std::uint32_t offset, Bytes size);
  std::uint64_t bar64(std::uint32_t offset) const;

  // Append to the chains; the offset of the new capability.
  std::uint32_t add_capability(std::uint8_t id, std::uint32_t length);
  std::uint32_t add_extended(std::uint16_t id, unsigned version, std::uint32_t length);

 private:
  std::array<std::uint8_t, abi::pci::kConfigSpaceSize> value_{};
  std::array<std::uint8_t, abi::pci::kConfigSpaceSize> writable_{};
  std::array<std::uint8_t, abi::pci::kConfigSpaceSize> clears_{};
  std::uint32_t next_capability_ = 0x40;
  std::uint32_t last_capability_ = 0;
  std::uint32_t next_extended_ = abi::pci::kExtendedStart;
  std::uint32_t last_extended_ = 0;
};

}  // namespace npu::model
