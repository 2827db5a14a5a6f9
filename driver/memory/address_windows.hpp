// SPDX-License-Identifier: Apache-2.0
// Which windows of addresses (virtual_ranges.hpp) the spaces of a program have, over all cards, and
// the one window that its managed memories share.
#pragma once

#include <bitset>
#include <memory>
#include <mutex>

#include "driver/memory/virtual_ranges.hpp"
#include "npu/driver/unified_addresses.hpp"

namespace npu::driver {

using WindowSet = std::bitset<VirtualRanges::kWindows>;

struct UnifiedAddresses::Impl {
  std::mutex lock;  // for a few stores
  WindowSet taken;
  VirtualRanges managed = VirtualRanges::managed();
};

// A window that a space has.
class AddressWindow {
 public:
  // `wanted`, or the next one that neither another space of the card nor one of the program on
  // another card has. `program`: null, none. Nothing: all are taken.
  static std::unique_ptr<AddressWindow> take(unsigned wanted, const WindowSet& of_card,
                                             std::shared_ptr<UnifiedAddresses> program);
  ~AddressWindow();
  AddressWindow(const AddressWindow&) = delete;
  AddressWindow& operator=(const AddressWindow&) = delete;

  unsigned number() const { return number_; }
  const std::shared_ptr<UnifiedAddresses>& program() const { return program_; }

 private:
  AddressWindow(unsigned number, std::shared_ptr<UnifiedAddresses> program)
      : number_(number), program_(std::move(program)) {}

  const unsigned number_;
  const std::shared_ptr<UnifiedAddresses> program_;
};

}  // namespace npu::driver
