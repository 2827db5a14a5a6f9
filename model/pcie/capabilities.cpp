// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/capabilities.hpp"

#include "model/pcie/error_log.hpp"
#include "model/pcie/express_capability.hpp"
#include "npu/abi/identity.hpp"
#include "npu/abi/layout.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr std::uint32_t kCommandWritable = pci::kCommandIo | pci::kCommandMemory |
                                           pci::kCommandBusMaster | pci::kCommandParity |
                                           pci::kCommandSerr | pci::kCommandIntxDisable;
constexpr std::uint32_t kStatusClears = 0xF900;  // bits 15-11 and 8
constexpr std::uint32_t kBridgeClass = 0x060400;
// HiSilicon's own ports, as the PCI id list names them.
constexpr std::uint16_t kRootPortDevice = 0xA120, kSwitchPortDevice = 0xA121;

void common_header(ConfigSpace& space, std::uint16_t device, std::uint32_t revision,
                   std::uint32_t class_code) {
  space.set(pci::kVendorId, 2, abi::kVendorId);
  space.set(pci::kDeviceId, 2, device);
  space.writable(pci::kCommand, 2, kCommandWritable);
  space.write_one_to_clear(pci::kStatus, 2, kStatusClears);
  space.set(pci::kRevision, 4, revision | class_code << 8);
  space.writable(pci::kCacheLine, 1, 0xFF);
  space.writable(pci::kInterruptLine, 1, 0xFF);
}

std::uint32_t power_management(ConfigSpace& space) {
  const auto at = space.add_capability(pci::kCapPowerManagement, 8);
  space.set(at + 2, 2, 0x0003);  // version 3
  space.set(at + 4, 2, 0x0008);  // no soft reset
  space.writable(at + 4, 2, 0x0003);
  return at;
}

std::uint32_t msix(ConfigSpace& space, unsigned vectors) {
  const auto at = space.add_capability(pci::kCapMsix, 12);
  space.set(at + pci::kMsixControl, 2, vectors - 1);
  space.writable(at + pci::kMsixControl, 2, pci::kMsixControlEnable | pci::kMsixControlMaskAll);
  space.set(at + pci::kMsixTable, 4, abi::kMsixTableOffset | abi::kRegisterBar);
  space.set(at + pci::kMsixPba, 4, abi::kMsixPbaOffset | abi::kRegisterBar);
  return at;
}

void serial_number(ConfigSpace& space, std::uint64_t serial) {
  const auto at = space.add_extended(pci::kExtSerialNumber, 1, 12);
  space.set(at + 4, 4, static_cast<std::uint32_t>(serial));
  space.set(at + 8, 4, static_cast<std::uint32_t>(serial >> 32));
}

void alternative_routing(ConfigSpace& space, unsigned next_function) {
  const auto at = space.add_extended(pci::kExtAri, 1, 8);
  space.set(at + 4, 2, next_function << 8);
}

std::uint32_t single_root_iov(ConfigSpace& space, const PciFunctionConfig& config) {
  const auto at = space.add_extended(pci::kExtSriov, 1, 0x40);
  space.set(at + 0x04, 4, 0x2);  // ARI capable hierarchy preserved
  // VF enable, VF memory space enable, ARI.
  space.writable(at + pci::kSriovControl, 2, 0x0019);
  space.set(at + 0x0C, 2, config.sriov_total_vfs);
  space.set(at + pci::kSriovTotalVfs, 2, config.sriov_total_vfs);
  space.writable(at + pci::kSriovNumVfs, 2, 0xFFFF);
  space.set(at + pci::kSriovVfOffset, 2, config.sriov_first_vf_offset);
  space.set(at + pci::kSriovVfStride, 2, config.sriov_vf_stride);
  space.set(at + pci::kSriovVfDeviceId, 2, config.sriov_vf_device_id);
  space.set(at + 0x1C, 4, 0x553);  // 4 KiB .. 4 MiB pages, as SR-IOV 3.3.12 requires
  space.set(at + pci::kSriovPageSize, 4, 1);
  space.writable(at + pci::kSriovPageSize, 4, 0x553);
  space.add_bar64(at + pci::kSriovBar0, config.sriov_vf_bar0_size, false);
  space.add_bar64(at + pci::kSriovBar0 + 8, config.sriov_vf_bar2_size, true);
  return at;
}

std::uint32_t address_translation_services(ConfigSpace& space) {
  const auto at = space.add_extended(pci::kExtAts, 1, 8);
  space.set(at + 4, 2, 0x0020);  // page aligned requests
  space.writable(at + pci::kAtsControl, 2, pci::kAtsControlEnable | pci::kAtsControlStuMask);
  return at;
}

// What compute queues do in host memory: address translation, process address spaces.
void address_translation(ConfigSpace& space, CapabilityOffsets& at) {
  at.ats = address_translation_services(space);
  at.pasid = space.add_extended(pci::kExtPasid, 1, 8);
  space.set(at.pasid + 4, 2, 16 << 8);  // 16 bits
  space.writable(at.pasid + pci::kPasidControl, 2, pci::kPasidControlEnable);
}

// Of cards that use the host's pages; others make no page requests.
std::uint32_t page_requests(ConfigSpace& space, unsigned capacity) {
  const auto at = space.add_extended(pci::kExtPri, 1, 16);
  space.writable(at + pci::kPriControl, 2, pci::kPriControlEnable | pci::kPriControlReset);
  space.set(at + pci::kPriStatus, 2, pci::kPriStatusStopped | pci::kPriStatusPasid);
  space.write_one_to_clear(at + pci::kPriStatus, 2,
                           pci::kPriStatusFailure | pci::kPriStatusUnexpected);
  space.set(at + pci::kPriCapacity, 4, capacity);
  space.writable(at + pci::kPriAllocation, 4, pci::kAllOnes);
  return at;
}

void latency_tolerance(ConfigSpace& space) {
  const auto at = space.add_extended(pci::kExtLtr, 1, 8);
  space.writable(at + 4, 4, 0x1FFF1FFF);
}

void access_control(ConfigSpace& space) {
  const auto at = space.add_extended(pci::kExtAcs, 1, 8);
  space.set(at + 4, 2, 0x001F);
  space.writable(at + 6, 2, 0x001F);
}

}  // namespace

unsigned virtual_vectors(const PciFunctionConfig& config) {
  return config.sriov_vf_bar0_size > abi::kMsixPbaOffset ? config.msix_vectors : 0;
}

CapabilityOffsets build_endpoint(ConfigSpace& space, const ChipConfig& chip, unsigned number,
                                 unsigned count) {
  const auto& config = chip.pci;
  CapabilityOffsets at;
  common_header(space, config.device_id, config.revision, abi::kClassProcessingAccelerator);
  space.set(pci::kHeaderType, 1, count > 1 ? pci::kHeaderMultiFunction : 0);
  space.set(pci::kSubsystemVendor, 2, config.subsystem_vendor_id);
  space.set(pci::kSubsystemId, 2, config.subsystem_id);
  const bool has_device = number < chip.physical_functions();
  if (has_device) {
    space.add_bar64(pci::kBar0 + 4 * abi::kRegisterBar, config.bar0_size, false);
    space.add_bar64(pci::kBar0 + 4 * abi::kMemoryBar, config.bar2_size, true);
  }
  at.power = power_management(space);
  if (has_device) at.msix = msix(space, config.msix_vectors);
  at.express = add_express(space, {PortType::kEndpoint, 0, 0, true, chip.link});
  at.aer = add_error_reporting(space, false);
  alternative_routing(space, number + 1 < count ? number + 1 : 0);
  serial_number(space, config.serial_number);
  if (number == 0 && config.sriov_total_vfs > 0) at.sriov = single_root_iov(space, config);
  if (has_device) address_translation(space, at);
  if (has_device && chip.mmu.fault_policy == PageFaultPolicy::kAts) {
    at.pri = page_requests(space, chip.mmu.max_page_requests);
  }
  if (number == 0) {
    latency_tolerance(space);
    add_link_capabilities(space, chip.link);
  }
  return at;
}

// SR-IOV 1.1, 3.4: ids are read in the physical function, BARs and memory decoding live there.
CapabilityOffsets build_virtual(ConfigSpace& space, const ChipConfig& chip) {
  const auto& config = chip.pci;
  CapabilityOffsets at;
  space.set(pci::kVendorId, 4, pci::kAllOnes);
  space.writable(pci::kCommand, 2, pci::kCommandBusMaster);
  space.write_one_to_clear(pci::kStatus, 2, kStatusClears);
  space.set(pci::kRevision, 4, config.revision | abi::kClassProcessingAccelerator << 8);
  space.set(pci::kSubsystemVendor, 2, config.subsystem_vendor_id);
  space.set(pci::kSubsystemId, 2, config.subsystem_id);
  const unsigned vectors = virtual_vectors(config);
  if (vectors > 0) at.msix = msix(space, vectors);
  at.express = add_virtual_express(space, {PortType::kEndpoint, 0, 0, true, chip.link});
  alternative_routing(space, 0);
  // Each has translations of its own; PASIDs are enabled in the physical function for all of them
  // (PCIe 6.20).
  if (vectors > 0) at.ats = address_translation_services(space);
  return at;
}

void keep_sticky(ConfigSpace& space, const ConfigSpace& before, const CapabilityOffsets& at) {
  const auto keep = [&](std::uint32_t offset, unsigned width) {
    space.set(offset, width, before.read(offset, width));
  };
  keep(at.express + 0x10, 2);
  keep(at.express + 0x30, 2);
  for (std::uint32_t i = 4; at.aer != 0 && i < 0x2C; i += 4) keep(at.aer + i, 4);
}

void show_link(ConfigSpace& space, const CapabilityOffsets& at, const LinkState& shown,
               const LinkState& link) {
  if (link.generation != shown.generation || link.lanes != shown.lanes) {
    const std::uint32_t status = at.express + pci::kExpLinkStatus;
    space.set(status, 2,
              (space.read(status, 2) & ~std::uint32_t{pci::kExpLinkStatusTrained}) |
                  link.generation | link.lanes << pci::kExpLinkStatusWidthShift);
  }
  log_port_errors(space, at, shown, link);
}

CapabilityOffsets build_bridge(ConfigSpace& space, const BridgeIdentity& identity) {
  CapabilityOffsets at;
  const bool is_root = identity.type == PortType::kRootPort;
  common_header(space, is_root ? kRootPortDevice : kSwitchPortDevice, 0x21, kBridgeClass);
  const std::uint8_t multi = identity.more_functions ? pci::kHeaderMultiFunction : 0;
  space.set(pci::kHeaderType, 1, pci::kHeaderTypeBridge | multi);
  space.writable(pci::kPrimaryBus, 4, 0x00FFFFFF);
  space.writable(pci::kIoBase, 2, 0xF0F0);
  space.write_one_to_clear(pci::kSecondaryStatus, 2, kStatusClears);
  space.writable(pci::kMemoryBase, 4, 0xFFF0FFF0);
  space.set(pci::kPrefetchBase, 4, 0x00010001);  // 64-bit addresses
  space.writable(pci::kPrefetchBase, 4, 0xFFF0FFF0);
  space.writable(pci::kPrefetchBaseUpper, 4, 0xFFFFFFFF);
  space.writable(pci::kPrefetchLimitUpper, 4, 0xFFFFFFFF);
  // Parity and SERR forwarding.
  space.writable(pci::kBridgeControl, 2, 0x0003 | pci::kBridgeControlBusReset);
  at.power = power_management(space);
  at.express = add_express(space, identity);
  at.aer = add_error_reporting(space, is_root);
  at.is_root = is_root;
  if (identity.type != PortType::kUpstream) access_control(space);
  add_link_capabilities(space, identity.link);
  return at;
}

}  // namespace npu::model
