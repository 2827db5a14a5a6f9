// SPDX-License-Identifier: Apache-2.0
#include "model/host/host_pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr unsigned kBarRegisters = 6;

}  // namespace

std::uint32_t HostPci::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  const bool ids = offset < 4 && headers_.knows(bdf);
  // A virtual function has no ids of its own: its class says whether it is there.
  const std::uint32_t value =
      ids ? bus_.read_config(bdf, pci::kRevision, 4) : bus_.read_config(bdf, offset, width);
  const bool there = value != pci::kAllOnes >> (32 - 8 * (ids ? 4 : width));
  return there && headers_.knows(bdf) ? shown(bdf, offset, width, value) : value;
}

std::uint32_t HostPci::shown(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                             std::uint32_t value) {
  const unsigned shift = 8 * (offset % 4);
  const std::uint32_t mask = (pci::kAllOnes >> (32 - 8 * width)) << shift;
  return (headers_.shown(bdf, offset & ~3U, value << shift) & mask) >> shift;
}

void HostPci::write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) {
  if (headers_.knows(bdf)) {
    headers_.write(bdf, offset, width, value);
  } else if (offset >= pci::kBar0 && offset < pci::kBar0 + 4 * kBarRegisters) {
    // Of a part of one it is enough that it was written.
    written_[bdf.packed()][(offset - pci::kBar0) / 4] = width == 4 ? value : pci::kAllOnes;
  }
  bus_.write_config(bdf, offset, width, value);
}

void HostPci::restore_bars(platform::Bdf bdf, const ResourceLookup& resources) {
  const auto written = written_.find(bdf.packed());
  if (written == written_.end() || headers_.knows(bdf)) return;
  for (auto& [number, value] : written->second) {
    const auto own = resources(bdf, number);
    const auto lower = number > 0 ? resources(bdf, number - 1) : BarResource{};
    if (own.size == 0 && lower.size == 0) continue;
    const std::uint32_t place =
        static_cast<std::uint32_t>(own.size != 0 ? own.address : lower.address >> 32);
    const std::uint32_t flags = own.size != 0 ? pci::kBarFlagsMask : 0;
    if ((value & ~flags) == (place & ~flags)) continue;
    bus_.write_config(bdf, pci::kBar0 + 4 * number, 4, place);
    value = place;
  }
}

std::uint32_t HostPci::find_capability(platform::Bdf bdf, std::uint8_t id) {
  if (!(read16(bdf, pci::kStatus) & pci::kStatusCapabilities)) return 0;
  std::uint32_t offset = read8(bdf, pci::kCapabilityPointer) & 0xFCU;
  // 48 capabilities of 4 bytes fill 0x40..0xFF; more steps than that are a loop.
  for (int steps = 0; offset >= 0x40 && steps < 48; ++steps) {
    const std::uint16_t header = read16(bdf, offset);
    if ((header & 0xFF) == id) return offset;
    offset = (header >> 8) & 0xFCU;
  }
  return 0;
}

// Looked for once, as an operating system does: it does not move.
std::uint32_t HostPci::find_extended_capability(platform::Bdf bdf, std::uint16_t id) {
  auto& found = extended_[{bdf.packed(), id}];
  // Capabilities of 8 bytes fill 0x100..0xFFF; more steps than that are a loop.
  std::uint32_t offset = pci::kExtendedStart;
  for (int steps = 0; found == 0 && offset >= pci::kExtendedStart && steps < 480; ++steps) {
    const std::uint32_t header = read32(bdf, offset);
    if (header == 0 || header == pci::kAllOnes) break;
    if ((header & 0xFFFF) == id) found = offset;
    offset = header >> 20;
  }
  return found;
}

}  // namespace npu::model
