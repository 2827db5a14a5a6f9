// SPDX-License-Identifier: Apache-2.0
// Memory for the arguments of launches that are run again and again: each launch has a place for
// good, in host memory and on the card.
#pragma once

#include <memory>
#include <vector>

#include "npu/driver/process.hpp"

namespace npu::driver {

class ArgumentChunks {
 public:
  struct Place {
    ByteSpan host;
    platform::BusAddress bus;
    DeviceAddress device;
  };

  explicit ArgumentChunks(ProcessContext& process) : process_(process) {}
  // Nothing on the card uses it any more.
  ~ArgumentChunks();
  ArgumentChunks(const ArgumentChunks&) = delete;
  ArgumentChunks& operator=(const ArgumentChunks&) = delete;

  // At most kChunk bytes, aligned to 64 on the card. kOutOfMemory.
  Result<Place> take(Bytes size);
  // What copies all that was taken to the card.
  std::vector<abi::QueueEntry> copies() const;

  static constexpr Bytes kChunk = 64_KiB;

 private:
  struct Chunk {
    std::unique_ptr<platform::DmaMemory> host;
    DeviceAddress device;
    Bytes used = 0;
  };

  ProcessContext& process_;
  std::vector<Chunk> chunks_;
};

}  // namespace npu::driver
