// SPDX-License-Identifier: Apache-2.0
// Arguments of a stream's kernels on their way: a ring in a piece of the process' pool. A launch
// has its place until it has ended, and only launches of this stream wait for it.
#pragma once

#include <deque>
#include <optional>

#include "npu/driver/argument_pool.hpp"
#include "npu/driver/execution_stream.hpp"

namespace npu::driver {

class ArgumentArena {
 public:
  explicit ArgumentArena(ArgumentPool& pool) : pool_(pool) {}
  ~ArgumentArena() { release(); }
  ArgumentArena(const ArgumentArena&) = delete;
  ArgumentArena& operator=(const ArgumentArena&) = delete;

  struct Place {
    ByteSpan host;
    platform::BusAddress bus;
    DeviceAddress device;
  };
  // Room for `size` bytes, 1 .. abi::kMaxArgumentBytes, behind what was taken before. Nothing: the
  // ring is full, oldest() is to be waited for. What ArgumentPool::take() says.
  Result<std::optional<Place>> take(Bytes size);
  // The last place that was taken is that of a launch.
  void used(StreamMark launch);
  // The last place that was taken is free again.
  void give_back();
  const StreamMark& oldest() const { return taken_.front().mark; }
  // Its launch has ended.
  void drop_oldest();
  // The piece goes back to the pool: nothing uses it any more.
  void release();

 private:
  struct Taken {
    Bytes begin = 0, end = 0;
    StreamMark mark;
  };

  ArgumentPool& pool_;
  std::optional<ArgumentPool::Piece> piece_;
  std::deque<Taken> taken_;  // oldest first
};

}  // namespace npu::driver
