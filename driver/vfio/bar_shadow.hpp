// SPDX-License-Identifier: Apache-2.0
// BARs of functions that are not opened. Their sizes are asked by writing all ones, which sysfs
// does not let anybody do, and opening a function only to look at it would take it from others. The
// kernel has asked already: its answer is given back.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "driver/vfio/sysfs.hpp"
#include "npu/platform/pci.hpp"

namespace npu::driver::vfio {

class BarShadow {
 public:
  // Whether the access is a whole BAR register's of a type 0 header.
  static bool is_bar(std::uint32_t offset, unsigned width);
  // Remembers that all ones were written; anything else puts the BAR's own value back.
  void write(platform::Bdf bdf, std::uint32_t offset, std::uint32_t value);
  // `value`: what the register holds.
  std::uint32_t read(const Sysfs& sysfs, platform::Bdf bdf, std::uint32_t offset,
                     std::uint32_t value) const;
  void forget(platform::Bdf bdf) { sized_.erase(bdf); }

 private:
  std::map<platform::Bdf, std::array<bool, 6>> sized_;
};

}  // namespace npu::driver::vfio
