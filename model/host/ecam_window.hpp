// SPDX-License-Identifier: Apache-2.0
// The whole PCI hierarchy behind one function, for a client that would hide parts of a single
// function's configuration space (QEMU hides SR-IOV, ARI and resizable BARs). Its driver in the
// client is tests/guest/ecam: a host bridge of its own, on which a stock kernel enumerates root
// ports, cards and their virtual functions.
//
//   BAR0  configuration space, enhanced configuration access mechanism (PCIe 7.2.2): bus << 20 |
//         device << 15 | function << 12 | offset
//   BAR2  the machine's PCI addresses below 4 GiB
//   BAR4  its 64-bit prefetchable PCI addresses
// A vendor-specific capability (id 0x09) says where the windows lie in the machine: byte 3 the last
// bus, bytes 4..7 the address behind BAR2, 8..15 the address behind BAR4.
// DMA and interrupts of the functions behind the window reach nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/host/platform.hpp"
#include "model/host/vfio_user/served_device.hpp"
#include "model/pcie/config_space.hpp"
#include "model/pcie/firmware.hpp"

namespace npu::model {

class EcamWindow : public vfio_user::ServedDevice {
 public:
  // Identity of the window itself: a vendor id that nobody owns, as emulators use it.
  static constexpr std::uint16_t kVendor = 0x1234, kDevice = 0xECA0;

  // `functions`: what the machine had at boot.
  EcamWindow(HostPlatform& host, const std::vector<FoundFunction>& functions);

  // `hook` is called before every access of the client.
  void before_access(std::function<void()> hook) { before_access_ = std::move(hook); }

  Bytes region_size(unsigned region) const override;
  unsigned irq_count(unsigned) const override { return 0; }
  int read(unsigned region, Bytes offset, std::byte* data, Bytes count) override;
  int write(unsigned region, Bytes offset, const std::byte* data, Bytes count) override;
  void set_trigger(unsigned, unsigned, int) override {}
  void mask(unsigned, unsigned, bool) override {}
  int map(const vfio_user::DmaMapping&) override { return 0; }
  void unmap(std::uint64_t, Bytes) override {}
  void reset() override;
  void client_gone() override { reset(); }

 private:
  std::uint64_t load(unsigned region, Bytes offset, unsigned width);
  void store(unsigned region, Bytes offset, unsigned width, std::uint64_t value);

  HostPlatform& host_;
  std::function<void()> before_access_;
  std::uint8_t last_bus_ = 0;
  Bytes high_size_ = 0;  // of BAR4
  ConfigSpace power_up_;
  ConfigSpace config_;
};

}  // namespace npu::model
