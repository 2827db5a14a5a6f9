// SPDX-License-Identifier: Apache-2.0
// DMA memory as devices see it, of a host whose stores leave its cores in any legal order until a
// barrier (host.cpu.order=weak): beside the memory that programs store into there is what has left.
// A word of 8 bytes leaves as a whole; which of them have left before a barrier the run's seed
// says. Small memory only: rings, descriptors, indices, small buffers. Of a large one a store
// buffer holds no more than the last lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class DeviceView {
 public:
  static constexpr Bytes kLargest = 256 * 1024;

  explicit DeviceView(std::uint64_t seed) : seed_(seed) {}

  // Zeroed memory that devices reach at `bus`. Larger than kLargest: what is stored has left.
  void add(ByteSpan memory, std::uint64_t bus);
  void remove(const std::byte* memory) { blocks_.erase(memory); }
  // All that is stored has left.
  void publish();
  // Something that a device may act on is stored behind what is stored now.
  void mark();

  struct Look {
    std::byte* data;     // what the device reads
    unsigned stale = 0;  // words that had been stored before mark() and have not left; each once
    std::uint64_t first = 0;  // the bus address of the first of these
  };
  // A device reads [data, data + length), which lies in one mapping.
  Look look(std::byte* data, Bytes length);
  // A device has written there.
  void written(const std::byte* data, Bytes length);

 private:
  struct Block {
    Bytes size = 0;
    std::uint64_t bus = 0;
    std::vector<std::byte> left;  // what has left
  };
  using Blocks = std::map<const std::byte*, Block>;

  Blocks::iterator find(const std::byte* data, Bytes length);
  bool leaves(std::uint64_t bus) const;

  const std::uint64_t seed_;
  std::uint64_t epoch_ = 0;         // barriers so far
  Blocks blocks_;                   // by address of the program's memory
  std::set<std::uint64_t> marked_;  // bus addresses of words
};

}  // namespace npu::model
