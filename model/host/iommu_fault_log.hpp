// SPDX-License-Identifier: Apache-2.0
// What the IOMMU refused: the first records in full, and how many there were of each function.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"

namespace npu::model {

// A DMA request the IOMMU refused, and nothing was read or written; or an invalidation that the
// function did not answer.
struct IommuFault {
  SimTime when;
  std::uint32_t requester;  // packed BDF
  std::uint32_t pasid;
  std::uint64_t bus;
  bool device_writes;
  // kUnsupportedRequest: no mapping; kPermission: wrong direction; kTimeout: not invalidated
  Completion reason;
};

class IommuFaultLog {
 public:
  static constexpr std::size_t kKept = 4096;

  explicit IommuFaultLog(Simulation& simulation)
      : simulation_(simulation), track_(simulation.recorder.track("host.iommu")) {}

  // Now; also a kFault of the event stream.
  void record(const IommuFault& fault, std::uint64_t cause) {
    ++counts_[fault.requester];
    if (faults_.size() < kKept) faults_.push_back(fault);
    simulation_.emit(track_, platform::Activity::kFault, fault.when, fault.when, cause, 0,
                     static_cast<std::uint64_t>(code_of(fault.reason)));
  }
  // The first kKept of them.
  const std::vector<IommuFault>& faults() const { return faults_; }
  std::uint64_t count(std::uint32_t requester) const {
    const auto found = counts_.find(requester);
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  static abi::FaultCode code_of(Completion reason) {
    if (reason == Completion::kTimeout) return abi::FaultCode::kCompletionTimeout;
    return reason == Completion::kPermission ? abi::FaultCode::kHostPermission
                                             : abi::FaultCode::kHostAddress;
  }

  Simulation& simulation_;
  const std::uint32_t track_;
  std::vector<IommuFault> faults_;
  std::map<std::uint32_t, std::uint64_t> counts_;  // by requester
};

}  // namespace npu::model
