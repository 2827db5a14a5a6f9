// SPDX-License-Identifier: Apache-2.0
#include "model/host/ecam_window.hpp"

#include <linux/vfio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/host/natural_width.hpp"
#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr unsigned kEcamBar = 0, kLowBar = 2, kHighBar = 4;
constexpr Bytes kPerBus = 1_MiB;
constexpr Bytes kLowSize = 0x1'0000'0000 - PlatformFirmware::kLowBase;
constexpr std::uint8_t kVendorSpecific = 0x09;
constexpr std::uint32_t kVendorSpecificLength = 16;
constexpr std::uint32_t kOtherBridge = 0x0680'00;

// Room for what the firmware has placed, and an eighth more for an operating system with
// another order.
Bytes high_window(const std::vector<FoundFunction>& functions) {
  std::uint64_t end = PlatformFirmware::kHighBase + 1_GiB;
  for (const auto& function : functions) {
    for (const auto& bar : function.bars) end = std::max(end, bar.address + bar.size);
    for (const auto& bar : function.virtual_bars) {
      end = std::max(end, bar.address + bar.size * function.most_virtual);
    }
  }
  const Bytes placed = end - PlatformFirmware::kHighBase;
  Bytes size = 1_GiB;
  while (size < placed + placed / 8) size *= 2;
  return size;
}

platform::Bdf function_at(Bytes offset) {
  return platform::Bdf::unpack(static_cast<std::uint32_t>(offset >> 12));
}

}  // namespace

EcamWindow::EcamWindow(HostPlatform& host, const std::vector<FoundFunction>& functions)
    : host_(host), high_size_(high_window(functions)) {
  for (const auto& function : functions) {
    if (function.bdf.segment() != 0) continue;  // an ECAM window is one segment's
    last_bus_ = std::max(last_bus_, static_cast<std::uint8_t>(function.bdf.bus));
  }
  auto& space = power_up_;
  space.set(pci::kVendorId, 4, kVendor | std::uint32_t{kDevice} << 16);
  space.set(pci::kRevision, 4, kOtherBridge << 8);
  space.writable(pci::kCommand, 2, pci::kCommandMemory);
  space.add_bar64(pci::kBar0 + 4 * kEcamBar, region_size(kEcamBar), false);
  space.add_bar64(pci::kBar0 + 4 * kLowBar, region_size(kLowBar), true);
  space.add_bar64(pci::kBar0 + 4 * kHighBar, region_size(kHighBar), true);
  const auto at = space.add_capability(kVendorSpecific, kVendorSpecificLength);
  space.set(at + 2, 1, kVendorSpecificLength);
  space.set(at + 3, 1, last_bus_);
  space.set(at + 4, 4, static_cast<std::uint32_t>(PlatformFirmware::kLowBase));
  space.set(at + 8, 4, static_cast<std::uint32_t>(PlatformFirmware::kHighBase));
  space.set(at + 12, 4, static_cast<std::uint32_t>(PlatformFirmware::kHighBase >> 32));
  config_ = power_up_;
}

void EcamWindow::reset() {
  config_ = power_up_;
}

Bytes EcamWindow::region_size(unsigned region) const {
  switch (region) {
    case kEcamBar: {
      Bytes size = kPerBus;
      while (size < (last_bus_ + Bytes{1}) * kPerBus) size *= 2;
      return size;
    }
    case kLowBar:
      return kLowSize;
    case kHighBar:
      return high_size_;
    case VFIO_PCI_CONFIG_REGION_INDEX:
      return pci::kConfigSpaceSize;
    default:
      return 0;
  }
}

std::uint64_t EcamWindow::load(unsigned region, Bytes offset, unsigned width) {
  switch (region) {
    case kEcamBar:
      return host_.pci().read(function_at(offset), offset & 0xFFF, width);
    case kLowBar:
      return host_.load(PlatformFirmware::kLowBase + offset, width);
    case kHighBar:
      return host_.load(PlatformFirmware::kHighBase + offset, width);
    default:
      return config_.read(static_cast<std::uint32_t>(offset), width);
  }
}

void EcamWindow::store(unsigned region, Bytes offset, unsigned width, std::uint64_t value) {
  const auto low = static_cast<std::uint32_t>(value);
  switch (region) {
    case kEcamBar:
      return host_.pci().write(function_at(offset), offset & 0xFFF, width, low);
    case kLowBar:
      return host_.store(PlatformFirmware::kLowBase + offset, value, width);
    case kHighBar:
      return host_.store(PlatformFirmware::kHighBase + offset, value, width);
    default:
      return config_.write(static_cast<std::uint32_t>(offset), width, low);
  }
}

int EcamWindow::read(unsigned region, Bytes offset, std::byte* data, Bytes count) {
  if (region != VFIO_PCI_CONFIG_REGION_INDEX && count > kLongestBarAccess) return EINVAL;
  if (before_access_) before_access_();
  const unsigned most = region == kLowBar || region == kHighBar ? 8 : 4;
  for (Bytes done = 0; done < count;) {
    const unsigned width = natural_width(offset + done, count - done, most);
    const std::uint64_t value = load(region, offset + done, width);
    std::memcpy(data + done, &value, width);
    done += width;
  }
  return 0;
}

int EcamWindow::write(unsigned region, Bytes offset, const std::byte* data, Bytes count) {
  if (region != VFIO_PCI_CONFIG_REGION_INDEX && count > kLongestBarAccess) return EINVAL;
  if (before_access_) before_access_();
  const unsigned most = region == kLowBar || region == kHighBar ? 8 : 4;
  for (Bytes done = 0; done < count;) {
    const unsigned width = natural_width(offset + done, count - done, most);
    std::uint64_t value = 0;
    std::memcpy(&value, data + done, width);
    store(region, offset + done, width, value);
    done += width;
  }
  return 0;
}

}  // namespace npu::model
