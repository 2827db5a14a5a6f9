// SPDX-License-Identifier: Apache-2.0
// platform::ProcessAddresses on the modelled host: the processes' page tables, and the function's
// page requests as the operating system hands them out.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "model/host/host_memory.hpp"
#include "model/host/vector_wait.hpp"
#include "npu/platform/platform.hpp"

namespace npu::model {

class HostPlatform;
class MemoryWork;

class SharedProcesses : public platform::ProcessAddresses {
 public:
  // Requests of the function come with `vector` already.
  SharedProcesses(HostPlatform& host, HostCpus& cpus, HostMemory& memory, MemoryWork& work,
                  platform::Bdf bdf, std::shared_ptr<VectorState> vector);
  ~SharedProcesses() override;

  Result<std::unique_ptr<platform::DmaMemory>> allocate(Bytes size) override;
  Result<std::unique_ptr<platform::DmaMemory>> import(ByteSpan memory) override;
  Status attach(std::uint32_t pasid) override;
  Status map(std::uint32_t pasid, std::uint64_t address, platform::DmaMemory& memory,
             bool write) override;
  Status unmap(std::uint32_t pasid, std::uint64_t address) override;
  std::optional<platform::PageRequest> take() override;
  void respond(const platform::PageRequest& request, platform::PageResponse response) override;
  platform::InterruptVector& arrivals() override { return arrivals_; }

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // PASID, address
  void charge_call();

  HostPlatform& host_;
  HostCpus& cpus_;
  HostMemory& memory_;
  MemoryWork& work_;
  const platform::Bdf bdf_;
  VectorWait arrivals_;
  std::map<Place, Iommu::Mapping> mappings_;
};

}  // namespace npu::model
