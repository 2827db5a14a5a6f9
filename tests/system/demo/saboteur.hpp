// SPDX-License-Identifier: Apache-2.0
// A platform that hands everything on to another one, except for what it is told to do wrong.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "npu/platform/platform.hpp"

namespace npu::test {

class Saboteur : public platform::Platform, private platform::PciAccess {
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

  Saboteur(platform::Platform& inner, Plan plan) : inner_(inner), plan_(std::move(plan)) {}

  platform::PciAccess& pci() override { return *this; }
  platform::Clock& clock() override { return inner_.clock(); }
  platform::Tasks& tasks() override { return inner_.tasks(); }
  platform::Tracer& tracer() override { return inner_.tracer(); }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override;
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override;
  void copy(ByteSpan to, ConstByteSpan from) override { inner_.copy(to, from); }
  Status bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) override;
  Result<std::unique_ptr<platform::ProcessAddresses>> open_process_addresses(
      platform::Bdf bdf) override {
    return inner_.open_process_addresses(bdf);
  }
  Result<platform::BusAddress> peer_address(platform::Bdf bdf, platform::Bdf owner, unsigned bar,
                                            Bytes offset) override {
    return inner_.peer_address(bdf, owner, bar, offset);
  }
  Result<std::unique_ptr<platform::DmaMemory>> import_dma(platform::Bdf bdf, ByteSpan memory,
                                                          platform::DmaDirection direction,
                                                          platform::HostPages pages) override {
    return inner_.import_dma(bdf, memory, direction, pages);
  }
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override {
    return inner_.share_dma(memory, bdf);
  }
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override;
  Status reset_function(platform::Bdf bdf) override;
  void write_barrier() override { inner_.write_barrier(); }
  void read_barrier() override { inner_.read_barrier(); }

  // The DMA memory that was allocated last and still is.
  ByteSpan newest() const { return live_.empty() ? ByteSpan{} : live_.back(); }
  // The first of a size; empty: there is none.
  ByteSpan of_size(Bytes size) const;

 private:
  class Memory;
  class Region;
  class Vector;

  std::vector<platform::HostBridge> host_bridges() const override {
    return inner_.pci().host_bridges();
  }
  std::uint32_t read(platform::Bdf bdf, std::uint32_t offset, unsigned width) override;
  void write(platform::Bdf bdf, std::uint32_t offset, unsigned width, std::uint32_t value) override;

  platform::Platform& inner_;
  Plan plan_;
  std::vector<ByteSpan> live_;
  std::vector<std::unique_ptr<platform::DmaMemory>> kept_;
};

}  // namespace npu::test
