// SPDX-License-Identifier: Apache-2.0
// Virtual functions, as Linux makes them (Documentation/PCI/pci-iov-howto).
#pragma once

#include <optional>
#include <vector>

#include "model/host/bar_resource.hpp"
#include "model/host/host_pci.hpp"
#include "npu/base/result.hpp"

namespace npu::model {

class SriovControl {
 public:
  SriovControl(HostPci& config, platform::Clock& clock, const ResourceLookup& resources)
      : config_(config), clock_(clock), resources_(resources) {}

  HostPci& config() const { return config_; }
  // Those of a physical function, as platform::Platform has it.
  Result<std::vector<platform::Bdf>> functions(platform::Bdf bdf);
  Status set(platform::Bdf bdf, unsigned count);
  // Somebody else may have changed which there are.
  void follow(platform::Bdf bdf);
  // Of a virtual function that is there; of others none.
  std::optional<platform::Bdf> physical_of(platform::Bdf bdf) const;

 private:
  void disable(platform::Bdf bdf, std::uint32_t sriov, const std::vector<platform::Bdf>& there);
  Status enable(platform::Bdf bdf, std::uint32_t sriov, unsigned count);
  void show(platform::Bdf bdf, std::uint32_t sriov, const std::vector<platform::Bdf>& there);

  HostPci& config_;
  platform::Clock& clock_;
  const ResourceLookup& resources_;
};

}  // namespace npu::model
