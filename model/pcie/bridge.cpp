// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/bridge.hpp"

namespace npu::model {

namespace pci = abi::pci;

BridgeFunction::BridgeFunction(const BridgeIdentity& identity)
    : capabilities_(build_bridge(space_, identity)) {
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

void BridgeFunction::refresh() {
  const std::uint32_t command = space_.read(pci::kCommand, 2);
  memory_ = command & pci::kCommandMemory;
  bus_master_ = command & pci::kCommandBusMaster;
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
