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
  // The same in place of launch `number`, and where its arguments are. No run is in flight, or
  // has_room_for(). `copies`: the next run copies the arguments, else the caller.
  Result<DeviceAddress> replace(std::size_t number, const KernelLaunch& launch, bool copies);
  // kOutOfRange: the graph has no such launch.
  Status has(std::size_t number) const;
  // Whether the launch differs from launch `number` in arguments alone, which fit in its place.
  bool has_room_for(std::size_t number, const KernelLaunch& launch) const;
  // Of the arguments that have changed, and of all if the last run has failed.
  std::vector<LaneWork> copies();
  // The copies, or a run that begins with them, which ends with `mark`.
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
  void changed(const Place& place, Bytes bytes);
  abi::QueueEntry entry_of(const KernelLaunch& launch, const Place& place) const;

  ArgumentPool& pool;
  bool is_captured = false;  // by a stream, now
  std::vector<Piece> pieces;
  std::vector<LaneWork> captured;
  std::vector<Launch> launches;
  std::vector<Kept> kept;
  StreamMark last_run;
  bool run_copies = false;  // the last run reads the pieces' host memory
};

}  // namespace npu::driver
