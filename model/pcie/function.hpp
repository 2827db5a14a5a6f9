// SPDX-License-Identifier: Apache-2.0
// A function of the card: its configuration space and what its registers make it do.
#pragma once

#include <array>
#include <cstdint>

#include "model/config/chip_config.hpp"
#include "model/pcie/capabilities.hpp"
#include "model/pcie/config_space.hpp"
#include "model/pcie/msix.hpp"

namespace npu::model {

class EndpointFunction {
 public:
  // Function 0 has BARs, MSI-X and SR-IOV; others have none of these. `count`: functions of the
  // device.
  EndpointFunction(const ChipConfig& chip, unsigned number, unsigned count);

  std::uint32_t read(std::uint32_t offset, unsigned width) const {
    return space_.read(offset, width);
  }
  // True if the write asks for a function level reset.
  bool write(std::uint32_t offset, unsigned width, std::uint32_t value);
  // Conventional registers back to their values at power-up; sticky ones stay (PCIe 6.6.2).
  void reset();

  // The BAR that decodes [address, address + length), or -1; `offset` is from its start.
  int decode(std::uint64_t address, Bytes length, Bytes& offset) const;
  bool bus_master() const { return bus_master_; }
  MsixTable& msix() { return msix_; }
  const MsixTable& msix() const { return msix_; }
  // PCIe device status: requests outstanding.
  void set_pending(bool pending);

  // An uncorrectable error: status, header log of the first one, device status (PCIe 6.2).
  void log_uncorrectable(std::uint32_t bit, const std::array<std::uint32_t, 4>& header);
  void set_status(std::uint16_t bits);

 private:
  struct Window {
    std::uint64_t base = 0;
    Bytes size = 0;
  };
  void refresh();

  ConfigSpace space_;
  ConfigSpace power_up_;
  CapabilityOffsets capabilities_;
  MsixTable msix_;
  Window bar0_;
  Window bar2_;
  bool memory_ = false;
  bool bus_master_ = false;
};

}  // namespace npu::model
