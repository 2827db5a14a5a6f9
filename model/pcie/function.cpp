// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/function.hpp"

#include <algorithm>

#include "model/pcie/error_log.hpp"
#include "npu/abi/layout.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

namespace pci = abi::pci;

EndpointFunction::EndpointFunction(const ChipConfig& chip, unsigned number, unsigned count)
    : number_(number),
      device_(number < chip.physical_functions() ? static_cast<int>(number) : -1),
      capabilities_(build_endpoint(space_, chip, number, count)),
      msix_(has_device() ? chip.pci.msix_vectors : 0) {
  if (has_device()) {
    bar0_.size = chip.pci.bar0_size;
    bar2_.size = chip.pci.bar2_size;
  }
  if (number == 0) {
    virtual_bar0_size_ = chip.pci.sriov_vf_bar0_size;
    virtual_bar2_size_ = chip.pci.sriov_vf_bar2_size;
  }
  power_up_ = space_;
  shown_.generation = chip.link.generation;
  shown_.lanes = chip.link.lanes;
  refresh();
}

EndpointFunction::EndpointFunction(const ConfigSpace& space, const CapabilityOffsets& at,
                                   unsigned number, int device, unsigned vectors)
    : number_(number),
      device_(device),
      space_(space),
      capabilities_(at),
      power_up_(space),
      msix_(vectors) {
  refresh();
}

EndpointFunction EndpointFunction::make_virtual(const ChipConfig& chip, unsigned index) {
  ConfigSpace space;
  const auto at = build_virtual(space, chip);
  const unsigned number = chip.pci.sriov_first_vf_offset + index * chip.pci.sriov_vf_stride;
  const unsigned vectors = virtual_vectors(chip.pci);
  // Without room for interrupts in its BAR it is there in name alone.
  const int device = vectors > 0 ? static_cast<int>(chip.physical_functions() + index) : -1;
  return {space, at, number, device, vectors};
}

bool EndpointFunction::write(std::uint32_t offset, unsigned width, std::uint32_t value) {
  const std::uint32_t number_of_vfs = capabilities_.sriov + pci::kSriovNumVfs;
  const std::uint32_t vfs = capabilities_.sriov ? space_.read(number_of_vfs, 2) : 0;
  space_.write(offset, width, value);
  // Read-only while there are any: software must not change it then (SR-IOV 1.1, 3.3.7).
  if (virtual_functions_.count > 0) space_.set(number_of_vfs, 2, vfs);
  // The reset bit reads as 0 (PCIe 7.5.3.4), so it is seen in what was written.
  const std::uint32_t high = capabilities_.express + pci::kExpDeviceControl + 1;
  const bool covers = offset <= high && high < offset + width;
  const bool reset = covers && (value >> (8 * (high - offset)) & 0x80) != 0;
  refresh();
  return reset;
}

void EndpointFunction::reset(FunctionReset kind, SimTime until) {
  ready_at_ = until;
  const ConfigSpace before = space_;
  space_ = power_up_;
  keep_sticky(space_, before, capabilities_);
  shown_.generation = shown_.lanes = 0;  // what the link has trained to is shown again
  if (kind == FunctionReset::kFunctionLevel) {
    // An operating system saves addresses and interrupt line around such a reset and puts them
    // back; here the function keeps them.
    const auto keep = [&](std::uint32_t offset, unsigned width) {
      space_.set(offset, width, before.read(offset, width));
    };
    for (std::uint32_t i = 0; i < 6; ++i) keep(pci::kBar0 + 4 * i, 4);
    keep(pci::kInterruptLine, 1);
    for (std::uint32_t i = 0; capabilities_.sriov && i < 7; ++i) {
      keep(capabilities_.sriov + pci::kSriovPageSize + 4 * i, 4);
    }
  }
  msix_.reset();
  refresh();
}

void EndpointFunction::refresh() {
  const std::uint32_t command = space_.read(pci::kCommand, 2);
  // A virtual function is powered with the physical one.
  const bool powered =
      capabilities_.power == 0 || (space_.read(capabilities_.power + 4, 1) & 3) == 0;
  memory_ = powered && (command & pci::kCommandMemory);
  bus_master_ = powered && (command & pci::kCommandBusMaster);
  if (bar0_.size) bar0_.base = space_.bar64(pci::kBar0 + 4 * abi::kRegisterBar);
  if (bar2_.size) bar2_.base = space_.bar64(pci::kBar0 + 4 * abi::kMemoryBar);
  if (capabilities_.msix) {
    const std::uint32_t control = space_.read(capabilities_.msix + pci::kMsixControl, 2);
    msix_.set_control(bus_master_ && (control & pci::kMsixControlEnable),
                      control & pci::kMsixControlMaskAll);
  }
  pasid_enabled_ =
      capabilities_.pasid != 0 &&
      (space_.read(capabilities_.pasid + pci::kPasidControl, 2) & pci::kPasidControlEnable) != 0;
  ats_enabled_ = capabilities_.ats != 0 && (space_.read(capabilities_.ats + pci::kAtsControl, 2) &
                                            pci::kAtsControlEnable) != 0;
  refresh_page_requests();
  if (capabilities_.sriov) refresh_virtual_functions();
}

// Enable and Reset together are no request for either (PCIe 10.5.2.2); Stopped says that none are
// outstanding any more, which is so here as soon as the host is told of it.
void EndpointFunction::refresh_page_requests() {
  const std::uint32_t at = capabilities_.pri;
  page_requests_ = 0;
  if (at == 0) return;
  const auto control = space_.read(at + pci::kPriControl, 2);
  if ((control & pci::kPriControlEnable) != 0) {
    page_requests_ =
        std::min(space_.read(at + pci::kPriAllocation, 4), space_.read(at + pci::kPriCapacity, 4));
    space_.clear_bits(at + pci::kPriStatus, 2, pci::kPriStatusStopped);
    return;
  }
  space_.set_bits(at + pci::kPriStatus, 2, pci::kPriStatusStopped);
  if ((control & pci::kPriControlReset) == 0) return;
  space_.clear_bits(at + pci::kPriControl, 2, pci::kPriControlReset);
  space_.clear_bits(at + pci::kPriStatus, 2, pci::kPriStatusFailure | pci::kPriStatusUnexpected);
}

void EndpointFunction::set_page_request_status(std::uint16_t bits) {
  if (capabilities_.pri != 0) space_.set_bits(capabilities_.pri + pci::kPriStatus, 2, bits);
}

// A BAR of a virtual function takes at least a page, so that they can be mapped one by one
// (SR-IOV 1.1, 3.3.13).
void EndpointFunction::resize_virtual_bars() {
  const std::uint32_t pages = space_.read(capabilities_.sriov + pci::kSriovPageSize, 4);
  const Bytes page = pages == 0 ? 4096 : Bytes{4096} << floor_log2(pages);
  auto& now = virtual_functions_;
  const auto resize = [&](VirtualFunctionState::Window& window, Bytes size, std::uint32_t at) {
    window.size = std::max(size, page);
    space_.resize_bar64(capabilities_.sriov + at, window.size);
    window.base = space_.bar64(capabilities_.sriov + at);
  };
  resize(now.bar0, virtual_bar0_size_, pci::kSriovBar0);
  resize(now.bar2, virtual_bar2_size_, pci::kSriovBar0 + 8);
}

void EndpointFunction::refresh_virtual_functions() {
  resize_virtual_bars();
  const std::uint32_t at = capabilities_.sriov;
  const std::uint32_t control = space_.read(at + pci::kSriovControl, 2);
  const std::uint32_t wanted = space_.read(at + pci::kSriovNumVfs, 2);
  const std::uint32_t total = space_.read(at + pci::kSriovTotalVfs, 2);
  virtual_functions_.count = control & pci::kSriovControlEnable ? std::min(wanted, total) : 0;
  virtual_functions_.memory = control & pci::kSriovControlMemory;
}

int EndpointFunction::decode(std::uint64_t address, Bytes length, Bytes& offset) const {
  return memory_ ? bar_of(address, length, offset) : -1;
}

bool EndpointFunction::misses(std::uint64_t address) const {
  Bytes offset = 0;
  return !memory_ && bar_of(address, 1, offset) >= 0;
}

int EndpointFunction::bar_of(std::uint64_t address, Bytes length, Bytes& offset) const {
  const auto inside = [&](const Window& window) {
    offset = address - window.base;
    return address >= window.base && offset < window.size && length <= window.size - offset;
  };
  if (inside(bar0_)) return static_cast<int>(abi::kRegisterBar);
  if (inside(bar2_)) return static_cast<int>(abi::kMemoryBar);
  return -1;
}

void EndpointFunction::set_link_state(const LinkState& link) {
  show_link(space_, capabilities_, shown_, link);
  shown_ = link;
}

void EndpointFunction::set_pending(bool pending) {
  const std::uint32_t status = capabilities_.express + pci::kExpDeviceStatus;
  if (pending) {
    space_.set_bits(status, 2, pci::kExpDeviceStatusPending);
  } else {
    space_.clear_bits(status, 2, pci::kExpDeviceStatusPending);
  }
}

void EndpointFunction::log_uncorrectable(std::uint32_t bit, const TlpHeader& header) {
  model::log_uncorrectable(space_, capabilities_, bit, header);
}

void EndpointFunction::set_status(std::uint16_t bits) {
  space_.set_bits(pci::kStatus, 2, bits);
}

}  // namespace npu::model
