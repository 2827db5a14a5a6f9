// SPDX-License-Identifier: Apache-2.0
// Memory for the arguments of kernels of one process: pieces of host memory, each with a piece of
// the card's memory that it is copied to. Each stream has a piece of its own.
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
  // All pieces are back.
  ~ArgumentPool();
  ArgumentPool(const ArgumentPool&) = delete;
  ArgumentPool& operator=(const ArgumentPool&) = delete;

  // The memory of the first streams, so that no launch waits for it. Errors as of take().
  Status prepare();
  // kOutOfMemory, of the host or the card.
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
