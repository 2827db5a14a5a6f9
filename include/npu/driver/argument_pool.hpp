// SPDX-License-Identifier: Apache-2.0
// Memory for the kernel arguments of one process, shared by its ExecutionStreams. Each stream uses
// one piece: host memory, and the device memory that it is copied to. All members may be called
// from several tasks at once.
#pragma once

#include <memory>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/driver/process.hpp"

namespace npu::driver {

class NPU_API ArgumentPool {
 public:
  static constexpr Bytes kPiece = 64_KiB;

  struct Piece {
    ByteSpan host;
    platform::BusAddress bus;
    DeviceAddress device;
  };

  // `process` outlives it.
  explicit ArgumentPool(ProcessContext& process);
  // All pieces must have been returned.
  ~ArgumentPool();
  ArgumentPool(const ArgumentPool&) = delete;
  ArgumentPool& operator=(const ArgumentPool&) = delete;

  // Allocates the pieces of the first 32 streams now. Errors as take().
  Status prepare();
  // For a stream.
  // kOutOfMemory: no memory on the host or the card.
  // Also the errors of ProcessContext::allocate_host() and AddressSpace::allocate().
  Result<Piece> take();
  void give_back(const Piece& piece);

 private:
  struct Block {
    std::unique_ptr<platform::DmaMemory> host;
    DeviceAddress device;
  };
  Status add_block();

  ProcessContext& process_;
  std::unique_ptr<platform::Mutex> lock_;
  std::vector<Block> blocks_;
  std::vector<Piece> free_;
};

}  // namespace npu::driver
