// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake/fake_pci.hpp"

namespace npu::test {

namespace pci = abi::pci;

std::uint32_t FakeFunction::get(std::uint32_t offset, unsigned width) const {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < width; ++i) value |= std::uint32_t{bytes_[offset + i]} << 8 * i;
  return value;
}

void FakeFunction::set(std::uint32_t offset, unsigned width, std::uint32_t value) {
  for (unsigned i = 0; i < width; ++i) {
    bytes_[offset + i] = static_cast<std::uint8_t>(value >> 8 * i);
  }
}

void FakeFunction::set_writable(std::uint32_t offset, std::uint32_t mask) {
  for (unsigned i = 0; i < 4; ++i) {
    writable_[offset + i] = static_cast<std::uint8_t>(mask >> 8 * i);
  }
}

void FakeFunction::write(std::uint32_t offset, unsigned width, std::uint32_t value) {
  for (unsigned i = 0; i < width; ++i) {
    const auto mask = writable_[offset + i];
    const auto byte = static_cast<std::uint8_t>(value >> 8 * i);
    bytes_[offset + i] = static_cast<std::uint8_t>((bytes_[offset + i] & ~mask) | (byte & mask));
  }
}

void FakeFunction::set_header(std::uint16_t vendor, std::uint16_t device,
                              std::uint8_t header_type) {
  set(pci::kVendorId, 2, vendor);
  set(pci::kDeviceId, 2, device);
  set(pci::kHeaderType, 1, header_type);
  set_writable(pci::kCommand, 0x0547);
}

void FakeFunction::set_bar(unsigned index, std::uint64_t base, std::uint64_t size,
                           std::uint32_t flags) {
  const std::uint64_t mask = ~(size - 1);
  const std::uint32_t offset = pci::kBar0 + 4 * index;
  set(offset, 4, static_cast<std::uint32_t>(base) | flags);
  set_writable(offset, static_cast<std::uint32_t>(mask));
  if ((flags & pci::kBarTypeMask) == pci::kBarType64) {
    set(offset + 4, 4, static_cast<std::uint32_t>(base >> 32));
    set_writable(offset + 4, static_cast<std::uint32_t>(mask >> 32));
  }
}

std::uint32_t FakeFunction::add_capability(std::uint8_t id, std::uint32_t length) {
  const std::uint32_t offset = next_free_;
  set(pci::kStatus, 2, get(pci::kStatus, 2) | pci::kStatusCapabilities);
  set(last_capability_ ? last_capability_ + 1 : pci::kCapabilityPointer, 1, offset);
  set(offset, 2, id);
  last_capability_ = offset;
  next_free_ += (length + 3) & ~3U;
  return offset;
}

FakeFunction* FakePci::find(platform::Bdf bdf) {
  const auto found = functions_.find(bdf);
  return found == functions_.end() ? nullptr : &found->second;
}

bool FakePci::is_resetting(platform::Bdf bdf) {
  if (!(bdf == reset.bdf)) return false;
  const auto access = reset.accesses++;
  if (access == reset.at) find(bdf)->set(pci::kCommand, 2, 0);
  return access >= reset.at && access - reset.at < reset.unanswered;
}

std::uint32_t FakePci::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  ++reads;
  const auto* function = is_resetting(bdf) ? nullptr : find(bdf);
  if (!function) return width == 4 ? pci::kAllOnes : (1U << 8 * width) - 1;
  return function->get(offset, width);
}

void FakePci::write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) {
  auto* function = is_resetting(bdf) ? nullptr : find(bdf);
  if (!function) return;
  const bool is_bar = offset >= pci::kBar0 && offset < pci::kBar0 + 24;
  if (is_bar && value == pci::kAllOnes && (function->get(pci::kCommand, 2) & pci::kCommandMemory)) {
    ++ones_into_bar_while_decoding;
  }
  function->write(offset, width, value);
}

FakeFunction& FakePci::add_bridge(platform::Bdf bdf, std::uint8_t secondary,
                                  std::uint8_t subordinate, unsigned port_type) {
  auto& bridge = add(bdf);
  bridge.set_header(0x1B36, 0x000C, pci::kHeaderTypeBridge);
  bridge.set(pci::kClassCode, 2, 0x0400);
  bridge.set(pci::kClassCode + 2, 1, 0x06);
  bridge.set(pci::kPrimaryBus, 1, bdf.bus);
  bridge.set(pci::kSecondaryBus, 1, secondary);
  bridge.set(pci::kSubordinateBus, 1, subordinate);
  const auto express = bridge.add_capability(pci::kCapPciExpress, 60);
  bridge.set(express + pci::kExpFlags, 2, port_type << 4 | 2);
  return bridge;
}

}  // namespace npu::test
