// SPDX-License-Identifier: Apache-2.0
// A port's PCI-to-PCI bridge function: which buses and addresses lie behind it.
// Source: PCI-to-PCI Bridge Architecture 1.2, chapter 4.
#pragma once

#include <cstdint>

#include "model/pcie/capabilities.hpp"
#include "model/pcie/config_space.hpp"
#include "model/pcie/link_state.hpp"

namespace npu::model {

class BridgeFunction {
 public:
  explicit BridgeFunction(const BridgeIdentity& identity);

  std::uint32_t read(std::uint32_t offset, unsigned width) const {
    return space_.read(offset, width);
  }
  void write(std::uint32_t offset, unsigned width, std::uint32_t value);
  void access(ConfigRequest& request);

  std::uint8_t secondary() const { return secondary_; }
  // Bus numbers behind the bridge; an unconfigured bridge claims none.
  bool claims_bus(unsigned bus) const {
    return secondary_ != 0 && bus >= secondary_ && bus <= subordinate_;
  }
  // [address, address + length) lies in a window and memory decoding is on.
  bool claims(std::uint64_t address, Bytes length) const {
    return memory_ && (inside(plain_, address, length) || inside(prefetchable_, address, length));
  }
  bool bus_master() const { return bus_master_; }
  bool resets_secondary() const { return resets_secondary_; }
  // Requests for devices other than 0 go through as well: their numbers are function numbers.
  bool forwards_ari() const { return forwards_ari_; }
  // Of the link below.
  void set_link_state(const LinkState& link);
  // Everything but sticky registers back to its value at power-up.
  void reset();

 private:
  struct Window {
    std::uint64_t base = 1;
    std::uint64_t limit = 0;  // last byte; below base: closed
  };
  static bool inside(const Window& window, std::uint64_t address, Bytes length) {
    return address >= window.base && address <= window.limit &&
           length - 1 <= window.limit - address;
  }
  void refresh();

  ConfigSpace space_;
  CapabilityOffsets capabilities_;
  ConfigSpace power_up_;
  std::uint8_t secondary_ = 0;
  std::uint8_t subordinate_ = 0;
  Window plain_;
  Window prefetchable_;
  bool memory_ = false;
  bool bus_master_ = false;
  bool resets_secondary_ = false;
  bool forwards_ari_ = false;
  LinkState shown_;  // of the link
};

}  // namespace npu::model
