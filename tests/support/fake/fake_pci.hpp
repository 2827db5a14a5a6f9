// SPDX-License-Identifier: Apache-2.0
// Configuration spaces of a made-up hierarchy. Writes go through a mask per bit, which is all that
// BAR sizing needs; nothing answers where no function was added or after it was removed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "npu/abi/pci.hpp"
#include "npu/platform/pci.hpp"

namespace npu::test {

class FakeFunction {
 public:
  std::uint32_t get(std::uint32_t offset, unsigned width) const;
  void set(std::uint32_t offset, unsigned width, std::uint32_t value);
  // Bits of a dword that configuration writes change.
  void set_writable(std::uint32_t offset, std::uint32_t mask);
  void write(std::uint32_t offset, unsigned width, std::uint32_t value);

  void set_header(std::uint16_t vendor, std::uint16_t device, std::uint8_t header_type);
  void set_bar(unsigned index, std::uint64_t base, std::uint64_t size, std::uint32_t flags);
  // Links a capability of `length` bytes in behind those that exist; returns its offset.
  std::uint32_t add_capability(std::uint8_t id, std::uint32_t length);

 private:
  std::array<std::uint8_t, abi::pci::kConfigSpaceSize> bytes_{};
  std::array<std::uint8_t, abi::pci::kConfigSpaceSize> writable_{};
  std::uint32_t last_capability_ = 0;
  std::uint32_t next_free_ = 0x40;
};

class FakePci : public platform::PciAccess {
 public:
  std::vector<platform::HostBridge> host_bridges() const override { return bridges; }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;

  FakeFunction& add(platform::Bdf bdf) { return functions_[bdf]; }
  FakeFunction& add_bridge(platform::Bdf bdf, std::uint8_t secondary, std::uint8_t subordinate,
                           unsigned port_type);
  void remove(platform::Bdf bdf) { functions_.erase(bdf); }
  FakeFunction* find(platform::Bdf bdf);

  std::vector<platform::HostBridge> bridges{{0, 255, 0}};
  std::uint64_t reads = 0;
  std::uint64_t ones_into_bar_while_decoding = 0;  // must stay 0

  // A function that is reset before access `at` of its own, counted from 0, and then answers none
  // of `unanswered`. It keeps its addresses.
  struct Reset {
    platform::Bdf bdf;
    std::uint64_t at = ~0ULL;
    std::uint64_t unanswered = 0;
    std::uint64_t accesses = 0;
  };
  Reset reset;

 private:
  // Whether the function does not answer this access.
  bool is_resetting(platform::Bdf bdf);

  std::map<platform::Bdf, FakeFunction> functions_;
};

}  // namespace npu::test
