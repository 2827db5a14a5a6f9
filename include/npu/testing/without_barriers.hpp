// SPDX-License-Identifier: Apache-2.0
// The platform as a driver without barriers would use it: what a test of barriers must fail on.
// With `cpu.order=weak` the driver's stores overtake each other, and the fixture says which.
#pragma once

#include "npu/platform/platform.hpp"

namespace npu::testkit {

class WithoutBarriers : public platform::Platform {
 public:
  enum class Without { kWriteBarriers, kReadBarriers, kBoth };

  // `inner` outlives it.
  explicit WithoutBarriers(platform::Platform& inner, Without without = Without::kBoth)
      : inner_(inner), without_(without) {}

  void write_barrier() override {
    if (without_ == Without::kReadBarriers) inner_.write_barrier();
  }
  void read_barrier() override {
    if (without_ == Without::kWriteBarriers) inner_.read_barrier();
  }

  platform::PciAccess& pci() override { return inner_.pci(); }
  platform::Clock& clock() override { return inner_.clock(); }
  platform::Tasks& tasks() override { return inner_.tasks(); }
  platform::Tracer& tracer() override { return inner_.tracer(); }
  Result<std::unique_ptr<platform::MmioRegion>> map_bar(platform::Bdf bdf, unsigned bar,
                                                        Bytes offset, Bytes size,
                                                        platform::Caching caching) override {
    return inner_.map_bar(bdf, bar, offset, size, caching);
  }
  Result<std::unique_ptr<platform::DmaMemory>> allocate_dma(
      platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) override {
    return inner_.allocate_dma(bdf, size, alignment, direction);
  }
  void copy(ByteSpan to, ConstByteSpan from) override { inner_.copy(to, from); }
  Status bind_pasid(platform::DmaMemory& memory, std::uint32_t pasid) override {
    return inner_.bind_pasid(memory, pasid);
  }
  Result<platform::BusAddress> share_dma(platform::DmaMemory& memory, platform::Bdf bdf) override {
    return inner_.share_dma(memory, bdf);
  }
  Result<platform::BusAddress> peer_address(platform::Bdf bdf, platform::Bdf owner, unsigned bar,
                                            Bytes offset) override {
    return inner_.peer_address(bdf, owner, bar, offset);
  }
  Result<std::unique_ptr<platform::ProcessAddresses>> open_process_addresses(
      platform::Bdf bdf) override {
    return inner_.open_process_addresses(bdf);
  }
  Result<std::unique_ptr<platform::InterruptVector>> open_vector(platform::Bdf bdf,
                                                                 unsigned vector) override {
    return inner_.open_vector(bdf, vector);
  }
  Status reset_function(platform::Bdf bdf) override { return inner_.reset_function(bdf); }
  Result<std::vector<platform::Bdf>> virtual_functions(platform::Bdf bdf) override {
    return inner_.virtual_functions(bdf);
  }
  Status set_virtual_functions(platform::Bdf bdf, unsigned count) override {
    return inner_.set_virtual_functions(bdf, count);
  }

 private:
  platform::Platform& inner_;
  const Without without_;
};

}  // namespace npu::testkit
