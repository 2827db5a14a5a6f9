// SPDX-License-Identifier: Apache-2.0
// What a graph holds: entries in the order of their capture, and arguments in pieces of the pool.
// Launch i is one entry. Its place for arguments has room for what it was captured with; an update
// with more arguments gets a new place.
#pragma once

#include <memory>
#include <vector>

#include "driver/runtime/stream_lanes.hpp"
#include "npu/driver/stream_graph.hpp"

namespace npu::driver {

struct StreamGraph::Impl {
  using Kept = std::shared_ptr<const void>;

  explicit Impl(ArgumentPool& arguments) : pool(arguments) {}
  ~Impl();

  // Copies the entries; they are for the cores of the work before.
  void add(const abi::QueueEntry* entries, std::size_t count, Kept keep);
  // Errors of KernelLaunch::write and ArgumentPool::take().
  Status add(const KernelLaunch& launch);
  // The same in place of launch `number`. No run is in flight.
  Status replace(std::size_t number, const KernelLaunch& launch);
  // For a run: copies of the arguments that have changed, and of all if the last run has failed,
  // and then what was captured.
  std::vector<LaneWork> work();
  // A run with all of that, which ends with `mark`.
  void submitted(const StreamMark& mark);

  struct Place {
    std::size_t piece = 0;
    Bytes begin = 0, room = 0;  // room 0: no arguments
  };
  struct Launch {
    std::size_t work = 0;
    Place place;
    Kept module;
  };
  struct Piece {
    ArgumentPool::Piece memory;
    Bytes used = 0;
    Bytes changed_begin = 0, changed_end = 0;  // not on the card yet
  };

  Status write(const KernelLaunch& launch, Place& place);
  abi::QueueEntry entry_of(const KernelLaunch& launch, const Place& place) const;

  ArgumentPool& pool;
  bool is_captured = false;  // by a stream, now
  std::vector<Piece> pieces;
  std::vector<LaneWork> captured;
  std::vector<Launch> launches;
  std::vector<Kept> kept;
  StreamMark last_run;  // it reads the pieces' host memory
};

}  // namespace npu::driver
