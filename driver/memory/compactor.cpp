// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/compactor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/memory/paging_access.hpp"
#include "driver/support/observation.hpp"
#include "driver/support/spin_lock.hpp"

namespace npu::driver {
namespace {

// In the order in which they follow each other.
enum Part { kPlan, kQuiesce, kCopy, kRemap, kInvalidate, kResume };
constexpr const char* kPartNames[] = {"plan", "quiesce", "copy", "remap", "invalidate", "resume"};
constexpr Picoseconds CompactionReport::*kPartFields[] = {
    &CompactionReport::plan,  &CompactionReport::quiesce,    &CompactionReport::copy,
    &CompactionReport::remap, &CompactionReport::invalidate, &CompactionReport::resume};

}  // namespace

// From the closing of the gate to its opening. Each part ends where the next begins.
class Compactor::Pause {
 public:
  Pause(Compactor& owner, CompactionReport& report)
      : owner_(owner), report_(report), begin_(now()), last_(begin_) {}
  ~Pause() {
    if (closed_) open();
  }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

  Status close() {
    auto status = owner_.queue_.close_gate(begin_ + owner_.timeout_);
    closed_ = status.has_value();
    return status;
  }
  Status hold_compute() {
    if (owner_.compute_ == nullptr) return {};
    held_ = true;
    return owner_.compute_->quiesce(now() + owner_.timeout_);
  }
  void end(Part part, Bytes bytes = 0) {
    const auto time = now();
    report_.*kPartFields[part] += time - last_;
    observe(owner_.link_.platform(), [&](platform::Tracer& tracer, Instant) {
      platform::TraceEvent event;
      event.begin = last_;
      event.end = time;
      event.bytes = bytes;
      event.track = owner_.tracks_[part];
      event.activity = platform::Activity::kStage;
      tracer.emit(event);
    });
    last_ = time;
  }

 private:
  Instant now() { return owner_.link_.clock().now(); }
  void open() {
    if (held_) owner_.compute_->resume();
    owner_.queue_.open_gate();
    end(kResume);
    report_.pause = last_ - begin_;
  }

  Compactor& owner_;
  CompactionReport& report_;
  const Instant begin_;
  Instant last_;
  bool closed_ = false;
  bool held_ = false;
};

Compactor::Compactor(CardLink& link, MemoryManager& memory, DmaQueue& queue, CopyLanes lanes,
                     platform::Mutex& control, Picoseconds timeout)
    : link_(link),
      memory_(memory),
      queue_(queue),
      lanes_(std::move(lanes)),
      control_(control),
      timeout_(timeout) {
  for (std::size_t part = 0; part < tracks_.size(); ++part) {
    tracks_[part] = link.platform().tracer().track(
        fmt::format("driver{}.compaction.{}", link.device_index(), kPartNames[part]));
  }
}

Status Compactor::no_room(Bytes wanted, const char* why) const {
  const auto now = memory_.physical().statistics();
  const auto rest =
      now.quarantined > 0 ? fmt::format(", {} in quarantine", now.quarantined) : std::string();
  return fail(ErrorCode::kOutOfMemory,
              fmt::format("{} bytes of device memory in one piece wanted, {} free, largest free "
                          "block {}{}: {}",
                          wanted, now.free, now.largest_free_block, rest, why));
}

bool Compactor::has_room(Bytes wanted) const {
  return memory_.physical().statistics().largest_free_block >= wanted;
}

Result<CompactionReport> Compactor::run(Bytes wanted) {
  memory_.physical().collect();
  CompactionReport report;
  report.success = has_room(wanted);
  if (report.success) return report;
  const auto before = memory_.physical().statistics();
  if (before.free + before.quarantined < wanted) {
    return forward_error(no_room(wanted, "too little is free"));
  }
  const MutexHolder holder(control_);
  if (auto ok = await_copies(); !ok) return forward_error(ok);
  report.success = has_room(wanted);
  if (report.success) return report;
  if (memory_.physical().statistics().free < wanted) {
    return forward_error(no_room(wanted, "too little is free"));
  }
  if (auto ok = lanes_.open(); !ok) return forward_error(ok);
  const auto status = run_paused(wanted, report);
  lanes_.close(timeout_);
  end_copies();
  report.success = has_room(wanted);
  ++statistics_.runs;
  statistics_.failures += report.success ? 0 : 1;
  statistics_.moved += report.moved;
  statistics_.pause += report.pause;
  statistics_.last = report;
  if (!status) return forward_error(status);
  return report;
}

// What earlier runs have left behind: copies that did not end, translations that were not dropped.
Status Compactor::await_copies() {
  lanes_.reclaim();
  end_copies();
  if (auto ok = invalidate(); !ok) return ok;
  memory_.physical().end_quarantine(Residue::kTranslations);
  return {};
}

void Compactor::end_copies() {
  if (!lanes_.has_abandoned()) memory_.physical().end_quarantine(Residue::kCopies);
}

std::vector<PlacedBlock> Compactor::placed_blocks() const {
  std::vector<PlacedBlock> placed;
  const auto& blocks = memory_.physical().blocks();
  for (std::uint32_t index = 0; index < blocks.size(); ++index) {
    const auto& block = blocks[index];
    if (!block.live() || !block.is_local()) continue;
    const Bytes lower = block.is_split() ? block.head : block.size;
    placed.push_back({block.address, lower, index, block.movable()});
  }
  auto id = static_cast<std::uint32_t>(blocks.size());  // of no block
  for (const auto& block : blocks) {
    if (!block.live() || !block.is_split()) continue;
    placed.push_back({block.rest, block.size - block.head, id++, false});
  }
  for (const auto& place : memory_.physical().quarantined()) {
    placed.push_back({place.address, place.size, id++, false});
  }
  return placed;
}

Result<MoveStages> Compactor::plan(Bytes wanted) {
  const auto total = memory_.physical().allocator().statistics().total;
  auto stages = plan_compaction(placed_blocks(), total, wanted);
  if (!stages) {
    return forward_error(no_room(wanted, "no way was found to move what is in between"));
  }
  if (auto ok = check_tables(*stages); !ok) return forward_error(ok);
  return std::move(*stages);
}

// The plan is made while running work ends. That may need pages, and they the card's memory: then
// it is made again.
Status Compactor::run_paused(Bytes wanted, CompactionReport& report) {
  Pause pause(*this, report);
  if (auto ok = pause.close(); !ok) return ok;
  auto stages = plan(wanted);
  if (!stages) return forward_error(stages);
  pause.end(kPlan);
  MemoryLoan loan(memory_);
  auto idle = queue_.drain(link_.clock().now() + timeout_);
  if (idle) idle = pause.hold_compute();
  const bool changed = loan.end();
  if (!idle) return idle;
  pause.end(kQuiesce);
  if (changed) {
    if (has_room(wanted)) return {};
    stages = plan(wanted);
    if (!stages) return forward_error(stages);
    pause.end(kPlan);
  }
  for (const auto& stage : *stages) {
    if (auto ok = move_stage(stage, pause, report); !ok) return ok;
  }
  return {};
}

// So that no remapping fails, there or back again. A run may end after any stage.
Status Compactor::check_tables(const MoveStages& stages) {
  std::vector<std::vector<std::uint64_t>> targets(memory_.physical().blocks().size());
  for (const auto& stage : stages) {
    for (const auto& move : stage) {
      auto& places = targets[move.id];
      // In two pieces there are no giant pages: one of these two has none either.
      if (move.overlaps_itself()) {
        places.insert(places.end(), {move.to + kPageSize, move.to + 2 * kPageSize});
      }
      places.push_back(move.to);
    }
  }
  std::size_t needed = 0;
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    if (const auto* space = memory_.space(vmid)) needed += space->tables_to_remap(targets);
  }
  if (needed <= memory_.tables().available()) return {};
  return fail(ErrorCode::kOutOfResources,
              fmt::format("{} page tables needed to remap moved blocks, {} left", needed,
                          memory_.tables().available()));
}

Status Compactor::claim(const std::vector<BlockMove>& moves) {
  auto& allocator = memory_.physical().allocator();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto claimed = allocator.allocate_at(DeviceAddress{moves[i].to}, moves[i].size);
    if (claimed) continue;
    release({moves.begin(), moves.begin() + static_cast<std::ptrdiff_t>(i)}, &BlockMove::to);
    return forward_error(claimed);
  }
  return {};
}

void Compactor::release(const std::vector<BlockMove>& moves, std::uint64_t BlockMove::*place) {
  auto& allocator = memory_.physical().allocator();
  for (const auto& move : moves) static_cast<void>(allocator.free(DeviceAddress{move.*place}));
}

// A stage counts when all of it was copied and the card has dropped the translations to the old
// places; only then are these free, for a later stage of the plan, too. If it does not drop them,
// the blocks go back: the old places hold what they held, since nothing ran meanwhile, and
// whichever translation the card uses, it gets there.
Status Compactor::move_stage(const std::vector<BlockMove>& stage, Pause& pause,
                             CompactionReport& report) {
  if (stage.front().overlaps_itself()) return slide(stage.front(), pause, report);
  if (auto ok = claim(stage); !ok) return ok;
  const auto copied = lanes_.copy(stage, timeout_);
  Bytes bytes = 0;
  for (const auto& move : stage) bytes += move.size;
  pause.end(kCopy, copied ? bytes : 0);
  if (!copied) {
    give_up(stage, lanes_.in_flight(), Residue::kCopies);
    return copied;
  }
  relocate(stage, &BlockMove::to);
  Status status = remap(stage);
  pause.end(kRemap);
  if (status) status = invalidate();
  pause.end(kInvalidate);
  if (!status) {
    relocate(stage, &BlockMove::from);
    static_cast<void>(remap(stage));  // check_tables() has seen to the tables
    pause.end(kRemap);
    give_up(stage, true, Residue::kTranslations);
    return status;
  }
  release(stage, &BlockMove::from);
  report.blocks += stage.size();
  report.moved += bytes;
  return {};
}

// A block that goes less than its size destroys its old place on the way, piece by piece. So the
// card drops the translations before, while they may still be wrong: nothing runs that could bring
// them back. Each piece is whole where it was until its copy has ended, so a block whose slide ends
// half way is whole, too, in two pieces with what a stuck copy may write between them.
Status Compactor::slide(const BlockMove& move, Pause& pause, CompactionReport& report) {
  stale_.fill(true);
  const auto dropped = invalidate();
  pause.end(kInvalidate);
  if (!dropped) return dropped;
  Status status;
  const auto done = slide_pieces(move, status);
  pause.end(kCopy, done);
  settle_slide(move, done);
  if (auto ok = remap({move}); !ok && status) status = ok;
  pause.end(kRemap);
  if (auto ok = invalidate(); !ok && status) status = ok;
  pause.end(kInvalidate);
  report.blocks += done == move.size ? 1 : 0;
  report.moved += done;
  return status;
}

// Returns how many bytes have arrived: the lower ones if the block moves down, else the upper ones.
Bytes Compactor::slide_pieces(const BlockMove& move, Status& status) {
  Bytes done = 0;
  while (status && done < move.size) {
    const auto piece = std::min(move.distance(), move.size - done);
    const auto offset = move.to < move.from ? done : move.size - done - piece;
    status = lanes_.copy({{move.id, move.from + offset, move.to + offset, piece}}, timeout_);
    if (status) done += piece;
  }
  return done;
}

// Old and new place together become what they are now: the block, or its pieces, and the hole.
void Compactor::settle_slide(const BlockMove& move, Bytes done) {
  auto& physical = memory_.physical();
  auto& allocator = physical.allocator();
  const auto take = [&](std::uint64_t at, Bytes size) {
    static_cast<void>(allocator.allocate_at(DeviceAddress{at}, size));
  };
  static_cast<void>(allocator.free(DeviceAddress{move.from}));
  const bool down = move.to < move.from;
  const Bytes head = down ? done : move.size - done;  // the piece at the lower address
  const auto lower = std::min(move.from, move.to);
  if (head == 0 || head == move.size) {
    const auto at = done == 0 ? move.from : move.to;
    take(at, move.size);
    physical.relocate(move.id, at);
  } else {
    take(lower, head);
    take(lower + head + move.distance(), move.size - head);
    physical.split(move.id, lower, head, lower + head + move.distance());
  }
  if (done == move.size || !lanes_.in_flight()) return;
  take(lower + head, move.distance());
  physical.quarantine(lower + head, move.distance(), Residue::kCopies);
}

// The new places of the stage are nobody's.
void Compactor::give_up(const std::vector<BlockMove>& stage, bool in_use, Residue residue) {
  if (!in_use) return release(stage, &BlockMove::to);
  for (const auto& move : stage) memory_.physical().quarantine(move.to, move.size, residue);
}

void Compactor::relocate(const std::vector<BlockMove>& stage, std::uint64_t BlockMove::*place) {
  for (const auto& move : stage) memory_.physical().relocate(move.id, move.*place);
}

Status Compactor::remap(const std::vector<BlockMove>& stage) {
  std::vector<bool> moved(memory_.physical().blocks().size());
  for (const auto& move : stage) moved[move.id] = true;
  Status status;
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    auto* space = memory_.space(vmid);
    if (!space) continue;
    bool changed = false;
    if (auto ok = space->remap(moved, changed); !ok && status) status = ok;
    stale_[vmid] = stale_[vmid] || changed;
  }
  return status;
}

// A space that is no more has been invalidated at its end.
Status Compactor::invalidate() {
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) {
    auto* space = memory_.space(vmid);
    if (stale_[vmid] && space) {
      if (auto ok = space->invalidate_all(); !ok) return ok;
    }
    stale_[vmid] = false;
  }
  return {};
}

}  // namespace npu::driver
