// SPDX-License-Identifier: Apache-2.0
// What a function needs to work in the addresses of processes: PASIDs, and for whole address spaces
// translations and page requests.
#pragma once

#include <memory>

#include "model/host/host_memory.hpp"
#include "model/host/host_pci.hpp"
#include "model/host/memory_work.hpp"
#include "model/host/sriov_control.hpp"

namespace npu::model {

class HostPlatform;

class ProcessSharing {
 public:
  // `host`: what address spaces that are opened go on with.
  ProcessSharing(HostPlatform& host, HostCpus& cpus, HostMemory& memory, MemoryWork& work,
                 const SriovControl& sriov)
      : host_(host),
        cpus_(cpus),
        memory_(memory),
        work_(work),
        config_(sriov.config()),
        sriov_(sriov) {}

  // Memory of `requester` at `bus` is in that address space.
  Status bind(std::uint32_t requester, std::uint64_t bus, std::uint32_t pasid);
  // PASIDs, translations and, behind these, page requests, all that the function can have open.
  Result<std::unique_ptr<platform::ProcessAddresses>> open(platform::Bdf bdf);
  // The function is to make no more page requests.
  void stop_page_requests(platform::Bdf bdf);

 private:
  Status enable_pasids(platform::Bdf bdf);

  HostPlatform& host_;
  HostCpus& cpus_;
  HostMemory& memory_;
  MemoryWork& work_;
  HostPci& config_;
  const SriovControl& sriov_;
};

}  // namespace npu::model
