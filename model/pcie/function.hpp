// SPDX-License-Identifier: Apache-2.0
// A function of the card: its configuration space and what its registers make it do.
#pragma once

#include <cstdint>

#include "model/config/chip_config.hpp"
#include "model/core/simulation.hpp"
#include "model/pcie/capabilities.hpp"
#include "model/pcie/config_space.hpp"
#include "model/pcie/msix.hpp"

namespace npu::model {

// What the physical function's SR-IOV capability says at present.
struct VirtualFunctionState {
  struct Window {
    std::uint64_t base = 0;  // of the first virtual function's BAR
    Bytes size = 0;          // of each one's
  };
  unsigned count = 0;  // 0: VF Enable is off
  bool memory = false;
  Window bar0;
  Window bar2;
};

enum class FunctionReset : std::uint8_t { kFunctionLevel, kConventional };

class EndpointFunction {
 public:
  // The chip's physical functions have BARs and MSI-X, others of the device's `count` none of
  // these; function 0 has SR-IOV. `number`: the low eight bits of the routing id.
  EndpointFunction(const ChipConfig& chip, unsigned number, unsigned count);
  // Virtual function `index` of function 0.
  static EndpointFunction make_virtual(const ChipConfig& chip, unsigned index);

  unsigned number() const { return number_; }
  // Registers and memory of the card are behind its BARs.
  bool has_device() const { return device_ >= 0; }
  // The chip's function that they are of, if there is one.
  unsigned device() const { return static_cast<unsigned>(device_); }

  std::uint32_t read(std::uint32_t offset, unsigned width) const {
    return space_.read(offset, width);
  }
  // True if the write asks for a function level reset.
  bool write(std::uint32_t offset, unsigned width, std::uint32_t value);
  // Registers back to their values at power-up; sticky ones stay (PCIe 6.6.1, 6.6.2). Nothing
  // answers before `until`.
  void reset(FunctionReset kind, SimTime until);
  // The same without a time in which it does not answer.
  void reset_at_once() { reset(FunctionReset::kFunctionLevel, ready_at_); }
  SimTime ready_at() const { return ready_at_; }
  bool in_reset() const { return sim_now() < ready_at_; }

  // The BAR that decodes [address, address + length), or -1; `offset` is from its start.
  int decode(std::uint64_t address, Bytes length, Bytes& offset) const;
  // The same address would be decoded if memory decoding were on.
  bool misses(std::uint64_t address) const;
  bool bus_master() const { return bus_master_; }
  // Requests may carry a PASID (PCIe 7.8.8.3).
  bool pasid_enabled() const { return pasid_enabled_; }
  // The function may ask for translations (PCIe 10.5.1.3).
  bool ats_enabled() const { return ats_enabled_; }
  // That it may have outstanding; 0: Page Request Enable is off (PCIe 10.5.2).
  unsigned page_requests() const { return page_requests_; }
  void set_page_request_status(std::uint16_t bits);
  MsixTable& msix() { return msix_; }
  const MsixTable& msix() const { return msix_; }
  const VirtualFunctionState& virtual_functions() const { return virtual_functions_; }
  // Of the link above; not for virtual functions.
  void set_link_state(const LinkState& link);
  // PCIe device status: requests outstanding.
  void set_pending(bool pending);

  // An uncorrectable error: status, header log of the first one, device status (PCIe 6.2).
  void log_uncorrectable(std::uint32_t bit, const TlpHeader& header);
  void set_status(std::uint16_t bits);

 private:
  struct Window {
    std::uint64_t base = 0;
    Bytes size = 0;
  };
  EndpointFunction(const ConfigSpace& space, const CapabilityOffsets& at, unsigned number,
                   int device, unsigned vectors);
  int bar_of(std::uint64_t address, Bytes length, Bytes& offset) const;
  void refresh();
  void resize_virtual_bars();
  void refresh_virtual_functions();
  void refresh_page_requests();

  unsigned number_;
  int device_;  // -1: none
  SimTime ready_at_ = 0;
  ConfigSpace space_;
  CapabilityOffsets capabilities_;
  ConfigSpace power_up_;
  MsixTable msix_;
  Bytes virtual_bar0_size_ = 0;  // with the smallest page size
  Bytes virtual_bar2_size_ = 0;
  VirtualFunctionState virtual_functions_;
  Window bar0_;
  Window bar2_;
  bool memory_ = false;
  bool bus_master_ = false;
  bool pasid_enabled_ = false;
  bool ats_enabled_ = false;
  unsigned page_requests_ = 0;
  LinkState shown_;  // of the link
};

}  // namespace npu::model
