// SPDX-License-Identifier: Apache-2.0
// HostPlatform: virtual functions, as Linux makes them (Documentation/PCI/pci-iov-howto).
#include <fmt/format.h>

#include "model/host/platform.hpp"
#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr Picoseconds kEnableTime = 100_ms;  // SR-IOV 1.1, 2.1.1.1
constexpr Picoseconds kDisableTime = 1_s;    // PCIe 9.3.3.3.1
constexpr std::uint16_t kOn = pci::kSriovControlEnable | pci::kSriovControlMemory;

}  // namespace

Result<std::vector<platform::Bdf>> HostPlatform::virtual_functions(platform::Bdf bdf) {
  const auto sriov = find_extended_capability(bdf, pci::kExtSriov);
  if (sriov == 0) return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no SR-IOV");
  std::vector<platform::Bdf> found;
  const auto control = read16(bdf, sriov + pci::kSriovControl);
  if (control == 0xFFFF || !(control & pci::kSriovControlEnable)) return found;
  const unsigned count = read16(bdf, sriov + pci::kSriovNumVfs);
  const unsigned first = bdf.packed() + read16(bdf, sriov + pci::kSriovVfOffset);
  const unsigned stride = read16(bdf, sriov + pci::kSriovVfStride);
  for (unsigned i = 0; i < count; ++i) {
    found.push_back(platform::Bdf::unpack(static_cast<std::uint16_t>(first + i * stride)));
  }
  return found;
}

std::optional<platform::Bdf> HostPlatform::physical_of(platform::Bdf bdf) const {
  if (!headers_.knows(bdf)) return std::nullopt;
  return headers_.physical_of(bdf);
}

Status HostPlatform::set_virtual_functions(platform::Bdf bdf, unsigned count) {
  auto there = virtual_functions(bdf);
  if (!there) return forward_error(there);
  const auto sriov = find_extended_capability(bdf, pci::kExtSriov);
  const unsigned total = read16(bdf, sriov + pci::kSriovTotalVfs);
  if (count > total) {
    return fail(ErrorCode::kOutOfRange, fmt::format("{} virtual functions of {}, which has {}",
                                                    count, to_string(bdf), total));
  }
  if (count == there->size()) return {};
  if (count != 0 && !there->empty()) {
    return fail(ErrorCode::kBusy, fmt::format("{} has {} virtual functions, and {} are wanted",
                                              to_string(bdf), there->size(), count));
  }
  if (count == 0) {
    disable_virtual_functions(bdf, sriov, *there);
    return {};
  }
  return enable_virtual_functions(bdf, sriov, count);
}

void HostPlatform::disable_virtual_functions(platform::Bdf bdf, std::uint32_t sriov,
                                             const std::vector<platform::Bdf>& there) {
  for (const auto& each : there) headers_.remove(each);
  const auto control = read16(bdf, sriov + pci::kSriovControl);
  write16(bdf, sriov + pci::kSriovControl, static_cast<std::uint16_t>(control & ~kOn));
  sleep_until(now() + kDisableTime);
  write16(bdf, sriov + pci::kSriovNumVfs, 0);
}

Status HostPlatform::enable_virtual_functions(platform::Bdf bdf, std::uint32_t sriov,
                                              unsigned count) {
  write16(bdf, sriov + pci::kSriovNumVfs, static_cast<std::uint16_t>(count));
  const auto control = read16(bdf, sriov + pci::kSriovControl);
  write16(bdf, sriov + pci::kSriovControl, static_cast<std::uint16_t>(control | kOn));
  sleep_until(now() + kEnableTime);
  auto found = virtual_functions(bdf);
  if (!found) return forward_error(found);
  VirtualHeader header;
  header.id =
      std::uint32_t{read16(bdf, sriov + pci::kSriovVfDeviceId)} << 16 | read16(bdf, pci::kVendorId);
  for (unsigned bar = 0; bar < header.bars.size(); ++bar) {
    header.bars[bar].flags = read32(bdf, sriov + pci::kSriovBar0 + 4 * bar) & pci::kBarFlagsMask;
  }
  for (const auto& each : *found) {
    // A virtual function has no ids of its own: its class says whether it is there.
    if (found->size() != count || read32(each, pci::kRevision) == kAllOnes) {
      disable_virtual_functions(bdf, sriov, *found);
      return fail(ErrorCode::kDeviceLost, to_string(each) + " does not answer");
    }
    for (unsigned bar = 0; bar < header.bars.size(); ++bar) {
      const auto resource = resources_(each, bar);
      header.bars[bar].address = resource.address;
      header.bars[bar].size = resource.size;
    }
    header.physical = bdf;
    headers_.add(each, header);
  }
  return {};
}

}  // namespace npu::model
