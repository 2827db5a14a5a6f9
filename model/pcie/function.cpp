// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/function.hpp"

#include "npu/abi/layout.hpp"

namespace npu::model {

namespace pci = abi::pci;

EndpointFunction::EndpointFunction(const ChipConfig& chip, unsigned number, unsigned count)
    : capabilities_(build_endpoint(space_, chip, number, count)),
      msix_(number == 0 ? chip.pci.msix_vectors : 0) {
  if (number == 0) {
    bar0_.size = chip.pci.bar0_size;
    bar2_.size = chip.pci.bar2_size;
  }
  power_up_ = space_;
  refresh();
}

bool EndpointFunction::write(std::uint32_t offset, unsigned width, std::uint32_t value) {
  space_.write(offset, width, value);
  // The reset bit reads as 0 (PCIe 7.5.3.4), so it is seen in what was written.
  const std::uint32_t high = capabilities_.express + pci::kExpDeviceControl + 1;
  const bool covers = offset <= high && high < offset + width;
  const bool reset = covers && (value >> (8 * (high - offset)) & 0x80) != 0;
  refresh();
  return reset;
}

void EndpointFunction::reset() {
  // Sticky: what the link and error logging own survives (PCIe 6.6.2).
  const ConfigSpace before = space_;
  space_ = power_up_;
  const auto keep = [&](std::uint32_t offset, unsigned width) {
    space_.set(offset, width, before.read(offset, width));
  };
  keep(capabilities_.express + 0x10, 2);
  keep(capabilities_.express + 0x30, 2);
  for (std::uint32_t i = 4; i < 0x2C; i += 4) keep(capabilities_.aer + i, 4);
  // An operating system saves BARs and interrupt line around a reset and puts them back; here the
  // function keeps them.
  for (std::uint32_t i = 0; i < 6; ++i) keep(pci::kBar0 + 4 * i, 4);
  keep(pci::kInterruptLine, 1);
  msix_.reset();
  refresh();
}

void EndpointFunction::refresh() {
  const std::uint32_t command = space_.read(pci::kCommand, 2);
  const bool powered = (space_.read(capabilities_.power + 4, 1) & 3) == 0;
  memory_ = powered && (command & pci::kCommandMemory);
  bus_master_ = powered && (command & pci::kCommandBusMaster);
  if (bar0_.size) bar0_.base = space_.bar64(pci::kBar0 + 4 * abi::kRegisterBar);
  if (bar2_.size) bar2_.base = space_.bar64(pci::kBar0 + 4 * abi::kMemoryBar);
  if (capabilities_.msix) {
    const std::uint32_t control = space_.read(capabilities_.msix + pci::kMsixControl, 2);
    msix_.set_control(bus_master_ && (control & pci::kMsixControlEnable),
                      control & pci::kMsixControlMaskAll);
  }
}

int EndpointFunction::decode(std::uint64_t address, Bytes length, Bytes& offset) const {
  if (!memory_) return -1;
  const auto inside = [&](const Window& window) {
    offset = address - window.base;
    return address >= window.base && offset < window.size && length <= window.size - offset;
  };
  if (inside(bar0_)) return static_cast<int>(abi::kRegisterBar);
  if (inside(bar2_)) return static_cast<int>(abi::kMemoryBar);
  return -1;
}

void EndpointFunction::set_pending(bool pending) {
  const std::uint32_t status = capabilities_.express + pci::kExpDeviceStatus;
  if (pending) {
    space_.set_bits(status, 2, pci::kExpDeviceStatusPending);
  } else {
    space_.clear_bits(status, 2, pci::kExpDeviceStatusPending);
  }
}

void EndpointFunction::log_uncorrectable(std::uint32_t bit,
                                         const std::array<std::uint32_t, 4>& header) {
  const std::uint32_t aer = capabilities_.aer;
  const bool masked = space_.read(aer + 0x08, 4) & bit;
  const bool first = (space_.read(aer + 0x04, 4) & ~space_.read(aer + 0x08, 4)) == 0;
  space_.set_bits(aer + 0x04, 4, bit);
  if (!masked && first) {
    for (std::uint32_t i = 0; i < 4; ++i) space_.set(aer + 0x1C + 4 * i, 4, header[i]);
    std::uint32_t number = 0;
    while (!(bit >> number & 1)) ++number;
    const std::uint32_t control = space_.read(aer + 0x18, 4);
    space_.set(aer + 0x18, 4, (control & ~0x1FU) | number);  // first error pointer
  }
  const bool fatal = space_.read(aer + 0x0C, 4) & bit;
  std::uint32_t status = fatal ? 0x4 : 0x2;
  if (bit == pci::kAerUnsupportedRequest) status |= 0x8;
  space_.set_bits(capabilities_.express + pci::kExpDeviceStatus, 2, status);
}

void EndpointFunction::set_status(std::uint16_t bits) {
  space_.set_bits(pci::kStatus, 2, bits);
}

}  // namespace npu::model
