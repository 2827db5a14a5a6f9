// SPDX-License-Identifier: Apache-2.0
#include "model/host/virtual_headers.hpp"

#include <algorithm>
#include <iterator>

#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr std::uint16_t kCommand = pci::kCommandMemory | pci::kCommandIntxDisable;
constexpr std::uint32_t kBars = pci::kBar0, kBarsEnd = pci::kBar0 + 24;

// What a register of a BAR that is `size` large keeps of `value`.
std::uint32_t kept(const std::array<VirtualHeader::Bar, 6>& bars, unsigned number,
                   std::uint32_t value) {
  const auto& bar = bars[number];
  if (bar.size != 0) {
    return (value & static_cast<std::uint32_t>(~(bar.size - 1))) | bar.flags;
  }
  const bool upper = number > 0 && bars[number - 1].size != 0;
  return upper ? value & static_cast<std::uint32_t>(~(bars[number - 1].size - 1) >> 32) : 0;
}

}  // namespace

VirtualHeaders::Shown VirtualHeaders::untouched(const VirtualHeader& header) {
  Shown shown{header, {}, 0};
  for (unsigned i = 0; i < header.bars.size(); ++i) {
    const auto& bar = header.bars[i];
    if (bar.size == 0) continue;
    shown.bars[i] = static_cast<std::uint32_t>(bar.address) | bar.flags;
    if (i + 1 < shown.bars.size())
      shown.bars[i + 1] = static_cast<std::uint32_t>(bar.address >> 32);
  }
  return shown;
}

void VirtualHeaders::add(platform::Bdf bdf, const VirtualHeader& header) {
  headers_[bdf.packed()] = untouched(header);
}

void VirtualHeaders::keep(platform::Bdf physical, const std::vector<platform::Bdf>& left) {
  for (auto each = headers_.begin(); each != headers_.end();) {
    const auto bdf = platform::Bdf::unpack(each->first);
    const bool stays = each->second.header.physical != physical ||
                       std::find(left.begin(), left.end(), bdf) != left.end();
    each = stays ? std::next(each) : headers_.erase(each);
  }
}

void VirtualHeaders::reset(platform::Bdf bdf) {
  const auto shown = headers_.find(bdf.packed());
  if (shown != headers_.end()) shown->second = untouched(shown->second.header);
}

std::uint32_t VirtualHeaders::shown(platform::Bdf bdf, std::uint32_t offset,
                                    std::uint32_t dword) const {
  const auto& shown = headers_.at(bdf.packed());
  if (offset == pci::kVendorId) return shown.header.id;
  if (offset == pci::kCommand) return dword | shown.command;
  if (offset >= kBars && offset < kBarsEnd) return shown.bars[(offset - kBars) / 4];
  return dword;
}

void VirtualHeaders::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                           std::uint32_t value) {
  auto& shown = headers_.at(bdf.packed());
  if (offset == pci::kCommand) shown.command = static_cast<std::uint16_t>(value & kCommand);
  if (offset < kBars || offset >= kBarsEnd || width != 4) return;
  const unsigned number = (offset - kBars) / 4;
  shown.bars[number] = kept(shown.header.bars, number, value);
}

}  // namespace npu::model
