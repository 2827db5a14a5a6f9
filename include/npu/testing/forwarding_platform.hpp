// SPDX-License-Identifier: Apache-2.0
// A platform that forwards every call to another one. A test that changes one function derives from
// it and overrides that function.
#pragma once

#include "npu/platform/platform.hpp"

namespace npu::testkit {

class ForwardingPlatform : public platform::Platform {
 public:
  // `inner` outlives it.
  explicit ForwardingPlatform(platform::Platform& inner) : inner_(inner) {}

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
  Result<std::unique_ptr<platform::DmaMemory>> import_dma(platform::Bdf bdf, ByteSpan memory,
                                                          platform::DmaDirection direction,
                                                          platform::HostPages pages) override {
    return inner_.import_dma(bdf, memory, direction, pages);
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
  void note_never_freed(std::string_view kind, std::uint64_t count, Bytes size) override {
    inner_.note_never_freed(kind, count, size);
  }
  void note_program(ConstByteSpan file) override { inner_.note_program(file); }
  void write_barrier() override { inner_.write_barrier(); }
  void read_barrier() override { inner_.read_barrier(); }

 protected:
  platform::Platform& inner() const { return inner_; }

 private:
  platform::Platform& inner_;
};

}  // namespace npu::testkit
