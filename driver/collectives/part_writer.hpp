// SPDX-License-Identifier: Apache-2.0
// Writes a rank's plans as entries of its streams. A transfer is: a record of 8 bytes at the reader
// (the data are there), the reader's wait for it, its copies over HCCS, its record (done), and the
// wait for that. Steps in which several peers take part run on a stream for each of them, between
// a fork and a join.
#pragma once

#include <vector>

#include "driver/collectives/member.hpp"
#include "driver/collectives/plan.hpp"

namespace npu::driver {

class PartWriter {
 public:
  struct Data {
    DeviceAddress from, to;
    abi::ElementType type = abi::ElementType::kInt8;
    abi::ReduceOperation reduction = abi::ReduceOperation::kNone;
  };

  // Under the member's lock, which it outlives. `timeout`: of each wait for a peer.
  PartWriter(CollectiveMember& member, unsigned rank, const Data& data, Picoseconds timeout);

  // The part begins behind the work of `stream`, whose later work waits for its end.
  Result<StreamMark> begin(ExecutionStream& stream);
  Status write(const Plan& plan);
  Status end();

 private:
  using Entries = std::vector<abi::QueueEntry>;

  // Entries of a stream that are submitted at once, so that many steps have few doorbells.
  static constexpr std::size_t kBatch = 100;
  // Largest read of one entry. Its setup is a thirtieth of its time then.
  static constexpr Bytes kPiece = 512_KiB;
  static constexpr Bytes kPieceUnit = 512;  // whole elements, even accesses

  DeviceAddress place(const PlanPlace& at) const;
  void copy(const PlanCopy& copy);
  // Between this card and the peer's.
  struct Move {
    DeviceAddress from, to;
    Bytes size;
    bool reduces;
  };
  void move(Entries& entries, unsigned peer, const Move& all) const;
  void read(Entries& entries, const PlanRead& read) const;
  void write(Entries& entries, const PlanWrite& write) const;
  void tell(Entries& entries, unsigned peer);
  void hear(Entries& entries, unsigned peer);
  void step(const PlanStep& step);
  void step_on_one(const PlanStep& step);
  void step_on_many(const PlanStep& step);
  Status reach(const PlanStep& step);
  Status flush_if_full();
  Status flush();

  CollectiveMember& member_;
  const unsigned rank_;
  const Data data_;
  const Picoseconds timeout_;
  std::vector<Entries> entries_;  // by stream, as the member has them
};

}  // namespace npu::driver
