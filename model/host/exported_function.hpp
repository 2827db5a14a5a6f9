// SPDX-License-Identifier: Apache-2.0
// A PCI function of the machine lent to a vfio-user client, as an operating system's VFIO lends
// one: BARs, message addresses and the MSI-X table stay the machine's own and the client sees
// images of them; everything else it does reaches the function.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/host/bar_images.hpp"
#include "model/host/exported_interrupts.hpp"
#include "model/host/platform.hpp"
#include "model/host/vfio_user/served_device.hpp"

namespace npu::model {

// What a client did and what the function did for it.
struct ExportStatistics {
  std::uint64_t config_reads = 0;
  std::uint64_t config_writes = 0;
  std::uint64_t reads = 0;  // of BARs
  std::uint64_t writes = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t resets = 0;
  SimTime read_time = 0;  // simulated, of all BAR reads together
  SimTime longest_read = 0;
};

class ExportedFunction : public vfio_user::ServedDevice {
 public:
  // To be used by a host task only.
  ExportedFunction(HostPlatform& host, HostMemory& memory, Interrupts& interrupts,
                   const ResourceLookup& resources, platform::Bdf bdf);

  // Reads the function's capabilities and resets it. kNotFound: no such function; kUnsupported: it
  // has no MSI-X or cannot be reset.
  Status prepare();
  // `hook` is called before every access of the client.
  void before_access(std::function<void()> hook) { before_access_ = std::move(hook); }
  // `hook` is called when the client may have changed which virtual functions there are. It must
  // not end anybody's session: it is called from within one.
  void on_virtual_functions(std::function<void()> hook) { on_virtual_functions_ = std::move(hook); }
  platform::Bdf bdf() const { return bdf_; }
  bool has_virtual_functions() const { return sriov_ != 0; }
  const ExportStatistics& statistics() const { return statistics_; }

  // vfio_user::ServedDevice
  Bytes region_size(unsigned region) const override;
  unsigned irq_count(unsigned index) const override;
  int read(unsigned region, Bytes offset, std::byte* data, Bytes count) override;
  int write(unsigned region, Bytes offset, const std::byte* data, Bytes count) override;
  void set_trigger(unsigned index, unsigned vector, int eventfd) override;
  void mask(unsigned index, unsigned vector, bool masked) override;
  int map(const vfio_user::DmaMapping& mapping) override;
  void unmap(std::uint64_t iova, Bytes size) override;
  void reset() override;
  void client_gone() override;

 private:
  std::uint32_t read_config(std::uint32_t offset, unsigned width);
  void write_config(std::uint32_t offset, unsigned width, std::uint32_t value);
  void prepare_virtual_bars();
  bool write_virtual_bars(std::uint32_t offset, unsigned width, std::uint32_t value);
  void virtual_functions_changed();

  HostPlatform& host_;
  HostMemory& memory_;
  ResourceLookup resources_;
  platform::Bdf bdf_;
  std::array<BarResource, 6> bars_;
  BarImages bar_images_;
  BarImages virtual_bar_images_;  // of its virtual functions, in the SR-IOV capability
  std::uint32_t express_ = 0;     // offsets of capabilities
  std::uint32_t sriov_ = 0;
  // A virtual function's link is the physical one's, and its own link status reads as zeros (SR-IOV
  // 1.1, 3.5): a client, who has no physical function, is shown that one's.
  std::optional<platform::Bdf> physical_;
  std::uint32_t physical_express_ = 0;
  std::function<void()> before_access_, on_virtual_functions_;
  ExportStatistics statistics_;
  ExportedInterrupts interrupts_;
};

}  // namespace npu::model
