// SPDX-License-Identifier: Apache-2.0
// A platform that hands everything on to another one, except for what it is told to do wrong.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "npu/testing/forwarding_platform.hpp"

namespace npu::test {

class Saboteur : public testkit::ForwardingPlatform, private platform::PciAccess {
 public:
  // What goes wrong.
  struct Plan {
    bool map_read_write = false;  // DMA memory is mapped for both directions whatever was asked
    bool never_unmap = false;     // DMA memory stays mapped when it is given back
    bool silent_vectors = false;  // interrupts are lost
    bool no_reset = false;        // a reset says it has been done
    std::function<void()> before_interrupt_returns;
    // Of BAR0 and of configuration space: what the driver gets in place of `value`.
    std::function<std::uint64_t(Bytes offset, std::uint64_t value)> on_register;
    std::function<std::uint32_t(std::uint32_t offset, std::uint32_t value)> on_config;
  };

  Saboteur(platform::Platform& inner, Plan plan)
      : ForwardingPlatform(inner), plan_(std::move(plan)) {}

  platform::PciAccess& pci() override { return *this; }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  Status bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) override;
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;

  // Of what is made from now on.
  void set_plan(Plan plan) { plan_ = std::move(plan); }
  // The DMA memory that was allocated last and still is.
  ByteSpan newest() const { return live_.empty() ? ByteSpan{} : live_.back(); }
  // The first of a size; empty: there is none.
  ByteSpan of_size(Bytes size) const;

 private:
  class Memory;
  class Region;
  class Vector;

  std::vector<platform::HostBridge> host_bridges() const override {
    return inner().pci().host_bridges();
  }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;

  Plan plan_;
  std::vector<ByteSpan> live_;
  std::vector<std::unique_ptr<platform::DmaMemory>> kept_;
};

}  // namespace npu::test
