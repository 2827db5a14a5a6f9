// SPDX-License-Identifier: Apache-2.0
// Memory of the fake: sparse device memory and mapped host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "npu/platform/memory.hpp"

namespace npu::test {

// Reads as zero where nothing was written.
class SparseBytes {
 public:
  void read(std::uint64_t address, void* data, std::size_t size) const;
  void write(std::uint64_t address, const void* data, std::size_t size);
  // Costs what was ever written in the two ranges, however large they are.
  void copy(std::uint64_t from, std::uint64_t to, Bytes size);

 private:
  static constexpr std::size_t kPage = 4096;
  std::map<std::uint64_t, std::vector<std::byte>> pages_;
};

// Host memory by bus address. Every mapping starts at an address of its own, with a gap behind.
class FakeHostMemory {
 public:
  struct Mapping {
    std::vector<std::uint64_t> words;
    std::byte* bytes = nullptr;  // of `words`, or somebody else's
    Bytes size = 0;
    platform::DmaDirection direction = platform::DmaDirection::kBidirectional;
    std::uint32_t pasid = 0;  // 0: of none
  };

  platform::BusAddress map(Bytes size, Bytes alignment, platform::DmaDirection direction);
  // Memory that somebody else keeps.
  platform::BusAddress import(ByteSpan memory, platform::DmaDirection direction);
  void unmap(platform::BusAddress bus) { mappings_.erase(bus.value); }
  ByteSpan cpu(platform::BusAddress bus);
  // The bytes at `bus` for the device; nullptr if they are not mapped as a whole.
  std::byte* find(std::uint64_t bus, Bytes size);
  // The same for a request with a PASID, which reaches only what is bound to it.
  std::byte* find(std::uint64_t bus, Bytes size, std::uint32_t pasid);
  void bind(platform::BusAddress bus, std::uint32_t pasid) {
    mappings_.at(bus.value).pasid = pasid;
  }
  std::size_t live() const { return mappings_.size(); }

 private:
  std::map<std::uint64_t, Mapping> mappings_;
  std::uint64_t next_ = 0x1'0000'0000;
};

}  // namespace npu::test
