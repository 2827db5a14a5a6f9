// SPDX-License-Identifier: Apache-2.0
// Moves blocks of device memory so that a wanted size is free in one piece (requirements.md M2):
// holds submissions up, waits for running work, copies, points the page tables to the new places,
// makes the card drop the old translations, goes on. Users notice time only.
#pragma once

#include <array>
#include <vector>

#include "driver/memory/compaction_plan.hpp"
#include "driver/memory/compute_work.hpp"
#include "driver/memory/copy_lanes.hpp"
#include "driver/memory/memory_manager.hpp"
#include "npu/driver/compaction.hpp"

namespace npu::driver {

class Compactor {
 public:
  // `control`: of creating and destroying streams and events. `timeout`: for the queue to become
  // idle, and for the copies to get on.
  Compactor(CardLink& link, MemoryManager& memory, DmaQueue& queue, CopyLanes lanes,
            platform::Mutex& control, Picoseconds timeout);

  // `compute` is held while blocks move. Under the memory manager's mutex.
  void attach(ComputeWork& compute) { compute_ = &compute; }
  // Under the memory manager's mutex. kOutOfMemory: not enough is free, or no plan was found;
  // kOutOfResources: no stream or page table left; otherwise what failed. After an error nothing is
  // lost: every block is as a whole where it was, or where it was moved to. Places that the card
  // may still use then are in quarantine until a later run finds that it does not.
  Result<CompactionReport> run(Bytes wanted);
  const CompactionStatistics& statistics() const { return statistics_; }

 private:
  class Pause;

  std::vector<PlacedBlock> placed_blocks() const;
  Result<MoveStages> plan(Bytes wanted);
  Status run_paused(Bytes wanted, CompactionReport& report);
  Status check_tables(const MoveStages& stages);
  Status move_stage(const std::vector<BlockMove>& stage, Pause& pause, CompactionReport& report);
  Status slide(const BlockMove& move, Pause& pause, CompactionReport& report);
  Bytes slide_pieces(const BlockMove& move, Status& status);
  void settle_slide(const BlockMove& move, Bytes done);
  Status claim(const std::vector<BlockMove>& moves);
  void release(const std::vector<BlockMove>& moves, std::uint64_t BlockMove::*place);
  void give_up(const std::vector<BlockMove>& stage, bool in_use, Residue residue);
  void relocate(const std::vector<BlockMove>& stage, std::uint64_t BlockMove::*place);
  Status remap(const std::vector<BlockMove>& stage);
  Status invalidate();
  Status await_copies();
  void end_copies();
  bool has_room(Bytes wanted) const;
  Status no_room(Bytes wanted, const char* why) const;

  CardLink& link_;
  MemoryManager& memory_;
  DmaQueue& queue_;
  CopyLanes lanes_;
  platform::Mutex& control_;
  ComputeWork* compute_ = nullptr;
  const Picoseconds timeout_;
  std::array<std::uint32_t, 6> tracks_;
  std::array<bool, abi::kVmids> stale_{};  // spaces whose translations must be dropped
  CompactionStatistics statistics_;
};

}  // namespace npu::driver
