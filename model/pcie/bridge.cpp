// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/bridge.hpp"

namespace npu::model {

namespace pci = abi::pci;

BridgeFunction::BridgeFunction(const BridgeIdentity& identity)
    : capabilities_(build_bridge(space_, identity)), power_up_(space_) {
  shown_.generation = identity.link.generation;
  shown_.lanes = identity.link.lanes;
  refresh();
}

void BridgeFunction::write(std::uint32_t offset, unsigned width, std::uint32_t value) {
  space_.write(offset, width, value);
  refresh();
}

void BridgeFunction::access(ConfigRequest& request) {
  if (request.is_write) {
    write(request.offset, request.width, request.value);
  } else {
    request.value = read(request.offset, request.width);
  }
}

void BridgeFunction::reset() {
  const ConfigSpace before = space_;
  space_ = power_up_;
  keep_sticky(space_, before, capabilities_);
  shown_.generation = shown_.lanes = 0;  // what the link has trained to is shown again
  refresh();
}

void BridgeFunction::set_link_state(const LinkState& link) {
  show_link(space_, capabilities_, shown_, link);
  if (link.transitions != shown_.transitions) {
    const std::uint32_t express = capabilities_.express;
    space_.set_bits(express + pci::kExpSlotStatus, 2, pci::kExpSlotStatusLinkChanged);
    if (link.active) {
      space_.set_bits(express + pci::kExpLinkStatus, 2, pci::kExpLinkStatusActive);
    } else {
      space_.clear_bits(express + pci::kExpLinkStatus, 2, pci::kExpLinkStatusActive);
    }
  }
  shown_ = link;
}

void BridgeFunction::refresh() {
  const std::uint32_t command = space_.read(pci::kCommand, 2);
  memory_ = command & pci::kCommandMemory;
  bus_master_ = command & pci::kCommandBusMaster;
  resets_secondary_ = space_.read(pci::kBridgeControl, 2) & pci::kBridgeControlBusReset;
  forwards_ari_ = space_.read(capabilities_.express + pci::kExpDeviceControl2, 2) &
                  pci::kExpDevice2AriForwarding;
  secondary_ = static_cast<std::uint8_t>(space_.read(pci::kSecondaryBus, 1));
  subordinate_ = static_cast<std::uint8_t>(space_.read(pci::kSubordinateBus, 1));
  const auto base = [this](std::uint32_t offset) {
    return std::uint64_t{space_.read(offset, 2) & 0xFFF0} << 16;
  };
  plain_ = {base(pci::kMemoryBase), base(pci::kMemoryLimit) | 0xFFFFF};
  const auto upper = [this](std::uint32_t offset) {
    return std::uint64_t{space_.read(offset, 4)} << 32;
  };
  prefetchable_ = {upper(pci::kPrefetchBaseUpper) | base(pci::kPrefetchBase),
                   upper(pci::kPrefetchLimitUpper) | base(pci::kPrefetchLimit) | 0xFFFFF};
}

}  // namespace npu::model
