// SPDX-License-Identifier: Apache-2.0
#include "model/host/sriov_control.hpp"

#include <fmt/format.h>

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr Picoseconds kEnableTime = 100_ms;  // SR-IOV 1.1, 2.1.1.1
constexpr Picoseconds kDisableTime = 1_s;    // PCIe 9.3.3.3.1
constexpr std::uint16_t kOn = pci::kSriovControlEnable | pci::kSriovControlMemory;

}  // namespace

Result<std::vector<platform::Bdf>> SriovControl::functions(platform::Bdf bdf) {
  const auto sriov = config_.find_extended_capability(bdf, pci::kExtSriov);
  if (sriov == 0) return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no SR-IOV");
  std::vector<platform::Bdf> found;
  const auto control = config_.read16(bdf, sriov + pci::kSriovControl);
  if (control == 0xFFFF || !(control & pci::kSriovControlEnable)) return found;
  const unsigned count = config_.read16(bdf, sriov + pci::kSriovNumVfs);
  const unsigned first = bdf.packed() + config_.read16(bdf, sriov + pci::kSriovVfOffset);
  const unsigned stride = config_.read16(bdf, sriov + pci::kSriovVfStride);
  for (unsigned i = 0; i < count; ++i) {
    found.push_back(platform::Bdf::unpack(first + i * stride));
  }
  return found;
}

std::optional<platform::Bdf> SriovControl::physical_of(platform::Bdf bdf) const {
  if (!config_.headers().knows(bdf)) return std::nullopt;
  return config_.headers().physical_of(bdf);
}

Status SriovControl::set(platform::Bdf bdf, unsigned count) {
  auto there = functions(bdf);
  if (!there) return forward_error(there);
  const auto sriov = config_.find_extended_capability(bdf, pci::kExtSriov);
  const unsigned total = config_.read16(bdf, sriov + pci::kSriovTotalVfs);
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
    disable(bdf, sriov, *there);
    return {};
  }
  return enable(bdf, sriov, count);
}

void SriovControl::disable(platform::Bdf bdf, std::uint32_t sriov,
                           const std::vector<platform::Bdf>& there) {
  for (const auto& each : there) config_.headers().remove(each);
  const auto control = config_.read16(bdf, sriov + pci::kSriovControl);
  config_.write16(bdf, sriov + pci::kSriovControl, static_cast<std::uint16_t>(control & ~kOn));
  clock_.sleep_until(clock_.now() + kDisableTime);
  config_.write16(bdf, sriov + pci::kSriovNumVfs, 0);
}

Status SriovControl::enable(platform::Bdf bdf, std::uint32_t sriov, unsigned count) {
  config_.write16(bdf, sriov + pci::kSriovNumVfs, static_cast<std::uint16_t>(count));
  const auto control = config_.read16(bdf, sriov + pci::kSriovControl);
  config_.write16(bdf, sriov + pci::kSriovControl, static_cast<std::uint16_t>(control | kOn));
  clock_.sleep_until(clock_.now() + kEnableTime);
  auto found = functions(bdf);
  if (!found) return forward_error(found);
  for (const auto& each : *found) {
    // A virtual function has no ids of its own: its class says whether it is there.
    if (found->size() != count || config_.read32(each, pci::kRevision) == pci::kAllOnes) {
      disable(bdf, sriov, *found);
      return fail(ErrorCode::kDeviceLost, to_string(each) + " does not answer");
    }
  }
  show(bdf, sriov, *found);
  return {};
}

void SriovControl::show(platform::Bdf bdf, std::uint32_t sriov,
                        const std::vector<platform::Bdf>& there) {
  VirtualHeader header;
  header.id = std::uint32_t{config_.read16(bdf, sriov + pci::kSriovVfDeviceId)} << 16 |
              config_.read16(bdf, pci::kVendorId);
  header.physical = bdf;
  for (unsigned bar = 0; bar < header.bars.size(); ++bar) {
    header.bars[bar].flags =
        config_.read32(bdf, sriov + pci::kSriovBar0 + 4 * bar) & pci::kBarFlagsMask;
  }
  for (const auto& each : there) {
    if (config_.headers().knows(each)) continue;
    for (unsigned bar = 0; bar < header.bars.size(); ++bar) {
      const auto resource = resources_(each, bar);
      header.bars[bar].address = resource.address;
      header.bars[bar].size = resource.size;
    }
    config_.headers().add(each, header);
  }
}

void SriovControl::follow(platform::Bdf bdf) {
  const auto there = functions(bdf);
  config_.headers().keep(bdf, there ? *there : std::vector<platform::Bdf>());
  if (!there || there->empty()) return;
  show(bdf, config_.find_extended_capability(bdf, pci::kExtSriov), *there);
}

}  // namespace npu::model
