// SPDX-License-Identifier: Apache-2.0
// BAR sizing and MSI-X geometry.
#include <fmt/format.h>

#include "driver/pci/bar_probe.hpp"
#include "driver/pci/config_space.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

namespace pci = abi::pci;
using platform::Bdf;

namespace {

constexpr unsigned kBars = 6;

// The size whose address bits are `writable`: the lowest one that can be written, if all above it
// up to `width` can be written too.
Result<Bytes> decode_size(Bdf bdf, unsigned index, std::uint64_t writable, unsigned width) {
  const std::uint64_t all = width == 64 ? ~0ULL : (1ULL << width) - 1;
  const std::uint64_t size = (~writable & all) + 1;
  if (size == 0 || !is_power_of_two(size)) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: BAR{} answers {:#x} to all ones, which is no size", to_string(bdf),
                            index, writable));
  }
  return size;
}

Result<Bar> size_bar(BarProbe& probe, Bdf bdf, unsigned index) {
  Bar bar;
  const auto first = probe.read(index);
  if (!first) return forward_error(first);
  const auto low = *first;
  if (low.mask == 0) return bar;
  bar.is_io = (low.mask & pci::kBarIo) != 0;
  if (bar.is_io) {
    bar.base = low.value & ~3U;
    const auto size = decode_size(bdf, index, low.mask & 0xFFFCU, 16);
    if (!size) return forward_error(size);
    bar.size = *size;
    return bar;
  }
  bar.prefetchable = (low.mask & pci::kBarPrefetchable) != 0;
  const auto type = low.mask & pci::kBarTypeMask;
  bar.is_64_bit = type == pci::kBarType64;
  if ((type != 0 && !bar.is_64_bit) || (bar.is_64_bit && index == kBars - 1)) {
    return fail(ErrorCode::kBadDevice, fmt::format("{}: BAR{} has type bits {:#x}", to_string(bdf),
                                                   index, low.mask & pci::kBarFlagsMask));
  }
  std::uint64_t writable = low.mask & ~pci::kBarFlagsMask;
  bar.base = low.value & ~pci::kBarFlagsMask;
  if (bar.is_64_bit) {
    const auto high = probe.read(index + 1);
    if (!high) return forward_error(high);
    writable |= std::uint64_t{high->mask} << 32;
    bar.base |= std::uint64_t{high->value} << 32;
  }
  const auto size = decode_size(bdf, index, writable, bar.is_64_bit ? 64 : 32);
  if (!size) return forward_error(size);
  bar.size = *size;
  return bar;
}

// [offset, offset + size) lies in a memory BAR of the function.
Status check_inside(Bdf bdf, const std::array<Bar, kBars>& bars, const char* what, unsigned bir,
                    Bytes offset, Bytes size) {
  if (bir >= kBars || bars[bir].size == 0 || bars[bir].is_io) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: the MSI-X {} is in BAR{}, which is no memory BAR", to_string(bdf),
                            what, bir));
  }
  if (!range_fits(offset, size, bars[bir].size)) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: the MSI-X {} ({} bytes at {:#x}) lies outside BAR{} of {} bytes",
                            to_string(bdf), what, size, offset, bir, bars[bir].size));
  }
  return {};
}

bool overlap(Bytes a, Bytes a_size, Bytes b, Bytes b_size) {
  return a < b + b_size && b < a + a_size;
}

Status check_geometry(Bdf bdf, const MsixInfo& msix, const std::array<Bar, kBars>& bars) {
  const Bytes table_size = Bytes{msix.vectors} * pci::kMsixEntrySize;
  const Bytes pba_size = ceil_div(msix.vectors, 64) * 8;
  if (auto ok = check_inside(bdf, bars, "table", msix.table_bar, msix.table_offset, table_size);
      !ok) {
    return ok;
  }
  if (auto ok = check_inside(bdf, bars, "pending bits", msix.pba_bar, msix.pba_offset, pba_size);
      !ok) {
    return ok;
  }
  if (msix.table_bar == msix.pba_bar &&
      overlap(msix.table_offset, table_size, msix.pba_offset, pba_size)) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: MSI-X table at {:#x} and pending bits at {:#x} overlap",
                            to_string(bdf), msix.table_offset, msix.pba_offset));
  }
  if (msix.table_bar == abi::kRegisterBar && msix.table_offset < abi::kMsixTableOffset) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("{}: the MSI-X table at {:#x} covers registers of BAR0", to_string(bdf),
                            msix.table_offset));
  }
  return {};
}

Result<std::array<Bar, kBars>> size_all(BarProbe& probe, Bdf bdf) {
  std::array<Bar, kBars> bars;
  for (unsigned index = 0; index < kBars; ++index) {
    auto bar = size_bar(probe, bdf, index);
    if (!bar) return forward_error(bar);
    bars[index] = *bar;
    if (bar->is_64_bit) ++index;  // the upper half
  }
  return bars;
}

}  // namespace

Result<SizedBars> size_bars(ConfigAccess& config, platform::Clock& clock, Bdf bdf) {
  BarProbe probe(config, clock, bdf);
  if (auto ok = probe.begin(); !ok) return forward_error(ok);
  auto bars = size_all(probe, bdf);
  if (auto ok = probe.end(); !ok) return forward_error(ok);
  if (!bars) return forward_error(bars);
  return SizedBars{*bars, probe.status()};
}

Result<MsixInfo> read_msix(ConfigAccess& config, Bdf bdf, const SizedBars& sized) {
  const auto& bars = sized.bars;
  const auto capability = find_capability(config, bdf, pci::kCapMsix, sized.status);
  if (!capability) return forward_error(capability);
  if (*capability == 0) {
    return fail(ErrorCode::kBadDevice, to_string(bdf) + " has no MSI-X capability");
  }
  MsixInfo msix;
  msix.capability = *capability;
  const auto control = config.read16(bdf, *capability + pci::kMsixControl);
  msix.vectors = (control & pci::kMsixControlSizeMask) + 1U;
  const auto table = config.read32(bdf, *capability + pci::kMsixTable);
  msix.table_bar = table & pci::kMsixBirMask;
  msix.table_offset = table & ~pci::kMsixBirMask;
  const auto pba = config.read32(bdf, *capability + pci::kMsixPba);
  msix.pba_bar = pba & pci::kMsixBirMask;
  msix.pba_offset = pba & ~pci::kMsixBirMask;
  if (auto ok = check_geometry(bdf, msix, bars); !ok) return forward_error(ok);
  return msix;
}

}  // namespace npu::driver
