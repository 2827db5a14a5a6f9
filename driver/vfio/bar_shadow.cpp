// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/bar_shadow.hpp"

#include "npu/abi/pci.hpp"

namespace npu::driver::vfio {

namespace pci = abi::pci;

namespace {

constexpr unsigned kBars = 6;

unsigned index_of(std::uint32_t offset) {
  return (offset - pci::kBar0) / 4;
}

}  // namespace

bool BarShadow::is_bar(std::uint32_t offset, unsigned width) {
  return width == 4 && offset >= pci::kBar0 && offset < pci::kBar0 + 4 * kBars && offset % 4 == 0;
}

void BarShadow::write(platform::Bdf bdf, std::uint32_t offset, std::uint32_t value) {
  sized_[bdf].at(index_of(offset)) = value == pci::kAllOnes;
}

std::uint32_t BarShadow::read(const Sysfs& sysfs, platform::Bdf bdf, std::uint32_t offset,
                              std::uint32_t value) const {
  const auto found = sized_.find(bdf);
  const unsigned index = index_of(offset);
  if (found == sized_.end() || !found->second.at(index)) return value;
  const auto sizes = sysfs.bar_sizes(bdf);
  if (sizes.at(index) != 0) {
    const auto flags = value & ((value & pci::kBarIo) != 0 ? 3U : pci::kBarFlagsMask);
    return static_cast<std::uint32_t>(~(sizes.at(index) - 1)) | flags;
  }
  // The upper half of a 64-bit BAR, or none.
  const bool upper =
      index > 0 && sizes.at(index - 1) != 0 &&
      (sysfs.read_config(bdf, offset - 4, 4).value_or(0) & pci::kBarTypeMask) == pci::kBarType64;
  return upper ? static_cast<std::uint32_t>(~(sizes.at(index - 1) - 1) >> 32) : 0;
}

}  // namespace npu::driver::vfio
