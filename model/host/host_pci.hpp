// SPDX-License-Identifier: Apache-2.0
// Configuration space as the host's software sees it: what the functions answer, with headers for
// virtual functions, which have none of their own.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "model/host/bar_resource.hpp"
#include "model/host/host_bus.hpp"
#include "model/host/virtual_headers.hpp"
#include "npu/abi/pci.hpp"

namespace npu::model {

class HostPci final : public platform::PciAccess {
 public:
  HostPci(HostBus& bus, std::vector<platform::HostBridge> bridges)
      : bus_(bus), bridges_(std::move(bridges)) {}

  std::vector<platform::HostBridge> host_bridges() const override { return bridges_; }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;

  bool present(platform::Bdf bdf) { return read32(bdf, 0) != abi::pci::kAllOnes; }
  // Offset of a capability; 0: the function has none of that id.
  std::uint32_t find_capability(platform::Bdf bdf, std::uint8_t id);
  std::uint32_t find_extended_capability(platform::Bdf bdf, std::uint16_t id);
  // Puts BARs that software has moved back to where they lie, as an operating system does around a
  // reset. Nothing is written to those that nobody has moved.
  void restore_bars(platform::Bdf bdf, const ResourceLookup& resources);
  // Of the virtual functions that there are.
  VirtualHeaders& headers() { return headers_; }
  const VirtualHeaders& headers() const { return headers_; }

 private:
  std::uint32_t shown(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value);

  HostBus& bus_;
  const std::vector<platform::HostBridge> bridges_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint32_t> extended_;  // found: BDF, id
  VirtualHeaders headers_;
  // What was last written to BARs, by their number: of functions that have such registers.
  std::map<std::uint32_t, std::map<unsigned, std::uint32_t>> written_;
};

}  // namespace npu::model
