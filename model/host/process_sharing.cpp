// SPDX-License-Identifier: Apache-2.0
#include "model/host/process_sharing.hpp"

#include <fmt/format.h>

#include "model/host/platform.hpp"
#include "model/host/process_addresses.hpp"

namespace npu::model {

namespace pci = abi::pci;

Status ProcessSharing::bind(std::uint32_t requester, std::uint64_t bus, std::uint32_t pasid) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (pasid == 0 || pasid >= 1U << 20) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} is no PASID", pasid));
  }
  if (auto enabled = enable_pasids(platform::Bdf::unpack(requester)); !enabled) return enabled;
  memory_.iommu().bind(requester, bus, pasid);
  return {};
}

Result<std::unique_ptr<platform::ProcessAddresses>> ProcessSharing::open(platform::Bdf bdf) {
  cpus_.charge(cpus_.config().call);
  cpus_.synchronise();
  if (!config_.present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  const auto pri = config_.find_extended_capability(bdf, pci::kExtPri);
  const auto ats = config_.find_extended_capability(bdf, pci::kExtAts);
  if (pri == 0 || ats == 0) {
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " makes no page requests");
  }
  auto vector = memory_.page_requests().open(bdf.packed());
  if (!vector) {
    return fail(ErrorCode::kAlreadyExists, "page requests of " + to_string(bdf) + " are served");
  }
  auto opened =
      std::make_unique<SharedProcesses>(host_, cpus_, memory_, work_, bdf, std::move(vector));
  if (auto enabled = enable_pasids(bdf); !enabled) return forward_error(enabled);
  config_.write16(bdf, ats + pci::kAtsControl, pci::kAtsControlEnable);
  config_.write16(bdf, pri + pci::kPriControl, pci::kPriControlReset);
  config_.write32(bdf, pri + pci::kPriAllocation, config_.read32(bdf, pri + pci::kPriCapacity));
  config_.write16(bdf, pri + pci::kPriControl, pci::kPriControlEnable);
  return opened;
}

void ProcessSharing::stop_page_requests(platform::Bdf bdf) {
  const auto pri = config_.find_extended_capability(bdf, pci::kExtPri);
  if (pri != 0) config_.write16(bdf, pri + pci::kPriControl, 0);
}

Status ProcessSharing::enable_pasids(platform::Bdf bdf) {
  if (!config_.present(bdf)) return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
  if (const auto physical = sriov_.physical_of(bdf)) bdf = *physical;
  const auto capability = config_.find_extended_capability(bdf, pci::kExtPasid);
  if (capability == 0) return fail(ErrorCode::kUnsupported, to_string(bdf) + " has no PASIDs");
  const std::uint32_t control = capability + pci::kPasidControl;
  if ((config_.read16(bdf, control) & pci::kPasidControlEnable) == 0) {
    config_.write16(bdf, control, pci::kPasidControlEnable);
  }
  return {};
}

}  // namespace npu::model
