// SPDX-License-Identifier: Apache-2.0
// Which module of a program has how much of each card's memory, and which allocation an address is
// of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "npu/base/units.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::exec::acl {

// A module is a number of less than 256; others are counted as 0 (docs/sources/acl.md L7).
class MemoryBook {
 public:
  struct Use {
    std::uint16_t module = 0;
    Bytes now = 0, most = 0;
  };
  struct Allocation {
    driver::DeviceAddress begin;
    Bytes size = 0;
  };

  void add(std::uint32_t device, driver::DeviceAddress begin, Bytes size, std::uint64_t module);
  void remove(driver::DeviceAddress begin);
  // Physical memory, by its handle.
  void add_physical(std::uint64_t handle, std::uint32_t device, Bytes size, std::uint64_t module);
  void remove_physical(std::uint64_t handle);
  // All of the device: it was given back.
  void forget(std::uint32_t device);

  // All of the device, by address.
  std::vector<Allocation> of(std::uint32_t device) const;
  // Nothing: the address is of none.
  std::optional<Allocation> find(driver::DeviceAddress address) const;
  // Of modules that have had some; those with the most first, then by number.
  std::vector<Use> uses(std::uint32_t device) const;

 private:
  struct Entry {
    std::uint32_t device = 0;
    std::uint16_t module = 0;
    Bytes size = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint16_t>;  // device, module

  Entry take(std::uint32_t device, Bytes size, std::uint64_t module);
  void give_back(const Entry& entry);

  std::map<std::uint64_t, Entry> allocations_;  // by address
  std::map<std::uint64_t, Entry> physicals_;    // by handle
  std::map<Key, Use> uses_;
};

}  // namespace npu::exec::acl
