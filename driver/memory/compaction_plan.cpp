// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/compaction_plan.hpp"

#include <algorithm>

namespace npu::driver {
namespace {

constexpr unsigned kDepth = 3;            // windows for blocks of windows for ...
constexpr unsigned kTries = 1024;         // windows evacuated on trial, per depth, before giving up
constexpr unsigned kRollTries = 64;       // holes grown on trial
constexpr unsigned kTriesPerWindow = 24;  // of them, for one block that does not fit

struct Interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Bytes size() const { return end - begin; }
};

bool overlap(const Interval& a, const Interval& b) {
  return a.begin < b.end && b.begin < a.end;
}

struct Window {
  Interval place;
  Bytes occupied = 0;  // of all blocks it touches
};

// A hole may grow by the next one beyond the blocks that border on it.
struct Reach {
  std::vector<PlacedBlock> blocks;  // in between, the nearest first
  Bytes bytes = 0;                  // of them
  std::uint64_t far_end = 0;        // of the next hole
};

bool begins_before(const PlacedBlock& a, const PlacedBlock& b) {
  return a.begin < b.begin;
}

class Planner {
 public:
  Planner(std::vector<PlacedBlock> blocks, Bytes total)
      : blocks_(std::move(blocks)), total_(total) {
    std::sort(blocks_.begin(), blocks_.end(), begins_before);
  }

  bool make_room(Bytes wanted) {
    for (unsigned depth = 0; depth < kDepth; ++depth) {
      tries_left_ = kTries;
      if (evacuate_some(wanted, depth, kTries)) return true;
    }
    return roll_some(wanted) || slide(wanted);
  }
  const std::vector<BlockMove>& moves() const { return moves_; }

 private:
  bool evacuate_some(Bytes wanted, unsigned depth, unsigned tries);
  bool evacuate(const Interval& place, unsigned depth);
  bool relocate(const PlacedBlock& block, unsigned depth);
  std::vector<Interval> holes() const;
  bool roll_some(Bytes wanted);
  bool roll(Interval hole, Bytes wanted);
  bool slide(Bytes wanted);
  void slide_between(const Interval& lower, const Interval& upper);
  std::optional<Reach> reach_up(const Interval& hole) const;
  std::optional<Reach> reach_down(const Interval& hole) const;
  void place(const PlacedBlock& block, std::uint64_t to);
  std::vector<Window> windows(Bytes wanted) const;
  std::vector<PlacedBlock> blocks_in(const Interval& place) const;
  std::optional<std::uint64_t> best_hole(Bytes size) const;
  bool is_taboo(const Interval& place) const {
    return std::any_of(taboo_.begin(), taboo_.end(),
                       [&](const Interval& other) { return overlap(other, place); });
  }

  std::vector<PlacedBlock> blocks_;  // sorted
  const Bytes total_;
  std::vector<Interval> taboo_;  // windows being evacuated: nothing is put there
  std::vector<BlockMove> moves_;
  unsigned tries_left_ = kTries;
};

// A best window begins or ends at a border of a block: else it could be shifted without touching
// another block.
std::vector<Window> Planner::windows(Bytes wanted) const {
  std::vector<std::uint64_t> begins{0};
  if (total_ >= wanted) begins.push_back(total_ - wanted);
  for (const auto& block : blocks_) {
    if (block.begin >= wanted) begins.push_back(block.begin - wanted);
    if (block.begin + block.size + wanted <= total_) begins.push_back(block.begin + block.size);
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<Window> result;
  // Both edges only move up: every block enters and leaves once.
  std::size_t first = 0, last = 0, fixed = 0;
  Bytes occupied = 0;
  for (const auto begin : begins) {
    const Interval place{begin, begin + wanted};
    for (; last < blocks_.size() && blocks_[last].begin < place.end; ++last) {
      occupied += blocks_[last].size;
      fixed += blocks_[last].movable ? 0 : 1;
    }
    for (; first < last && blocks_[first].begin + blocks_[first].size <= begin; ++first) {
      occupied -= blocks_[first].size;
      fixed -= blocks_[first].movable ? 0 : 1;
    }
    if (fixed == 0 && !is_taboo(place)) result.push_back({place, occupied});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Window& a, const Window& b) { return a.occupied < b.occupied; });
  return result;
}

bool Planner::evacuate_some(Bytes wanted, unsigned depth, unsigned tries) {
  if (wanted > total_) return false;
  for (const auto& window : windows(wanted)) {
    if (tries_left_ == 0 || tries == 0) return false;
    --tries;
    const auto blocks = blocks_;
    const auto moves = moves_.size();
    if (evacuate(window.place, depth)) return true;
    blocks_ = blocks;
    moves_.resize(moves);
  }
  return false;
}

std::vector<PlacedBlock> Planner::blocks_in(const Interval& place) const {
  std::vector<PlacedBlock> found;
  for (const auto& block : blocks_) {
    if (overlap(place, {block.begin, block.begin + block.size})) found.push_back(block);
  }
  // Large ones first: they have the fewest places to go.
  std::stable_sort(found.begin(), found.end(),
                   [](const PlacedBlock& a, const PlacedBlock& b) { return a.size > b.size; });
  return found;
}

bool Planner::evacuate(const Interval& place, unsigned depth) {
  --tries_left_;
  taboo_.push_back(place);
  bool done = true;
  for (const auto& block : blocks_in(place)) {
    // One that stuck out of the window may have been moved for the sake of another.
    const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), block, begins_before);
    if (at == blocks_.end() || at->id != block.id) continue;
    if (!relocate(block, depth)) {
      done = false;
      break;
    }
  }
  taboo_.pop_back();
  return done;
}

bool Planner::relocate(const PlacedBlock& block, unsigned depth) {
  auto hole = best_hole(block.size);
  if (!hole && depth > 0 && tries_left_ > 0 &&
      evacuate_some(block.size, depth - 1, kTriesPerWindow)) {
    hole = best_hole(block.size);
  }
  if (!hole) return false;
  const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), block, begins_before);
  if (at == blocks_.end() || at->id != block.id) return true;  // moved meanwhile, as above
  place(block, *hole);
  return true;
}

void Planner::place(const PlacedBlock& block, std::uint64_t to) {
  moves_.push_back({block.id, block.begin, to, block.size});
  blocks_.erase(std::lower_bound(blocks_.begin(), blocks_.end(), block, begins_before));
  auto moved = block;
  moved.begin = to;
  blocks_.insert(std::lower_bound(blocks_.begin(), blocks_.end(), moved, begins_before), moved);
}

// The begin of the smallest free run that holds `size`, outside all windows; the lowest of equals.
std::optional<std::uint64_t> Planner::best_hole(Bytes size) const {
  std::optional<std::uint64_t> best;
  Bytes best_size = 0;
  const auto consider = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin >= end || end - begin < size || (best && end - begin >= best_size)) return;
    best = begin;
    best_size = end - begin;
  };
  auto taboo = taboo_;
  std::sort(taboo.begin(), taboo.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (auto hole : holes()) {
    for (const auto& window : taboo) {
      if (window.end <= hole.begin || window.begin >= hole.end) continue;
      consider(hole.begin, window.begin);
      hole.begin = std::max(hole.begin, window.end);
    }
    consider(hole.begin, hole.end);
  }
  return best;
}

std::vector<Interval> Planner::holes() const {
  std::vector<Interval> result;
  std::uint64_t end = 0;
  for (const auto& block : blocks_) {
    if (block.begin > end) result.push_back({end, block.begin});
    end = block.begin + block.size;
  }
  if (total_ > end) result.push_back({end, total_});
  return result;
}

// The large holes first: they let large blocks pass.
bool Planner::roll_some(Bytes wanted) {
  auto all = holes();
  std::stable_sort(all.begin(), all.end(),
                   [](const Interval& a, const Interval& b) { return a.size() > b.size(); });
  if (all.size() > kRollTries) all.resize(kRollTries);
  for (const auto& hole : all) {
    const auto blocks = blocks_;
    moves_.clear();
    if (roll(hole, wanted)) return true;
    blocks_ = blocks;
  }
  return false;
}

// Lets a hole wander: the blocks on one side of it go to its other side, one after another, until
// it meets the next hole and is larger by that. The cheaper side first.
bool Planner::roll(Interval hole, Bytes wanted) {
  while (hole.size() < wanted) {
    const auto up = reach_up(hole);
    const auto down = reach_down(hole);
    if (!up && !down) return false;
    if (up && (!down || up->bytes <= down->bytes)) {
      for (const auto& block : up->blocks) {
        place(block, hole.begin);
        hole.begin += block.size;
      }
      hole.end = up->far_end;
    } else {
      for (const auto& block : down->blocks) {
        hole.end -= block.size;
        place(block, hole.end);
      }
      hole.begin = down->far_end;
    }
  }
  return true;
}

std::optional<Reach> Planner::reach_up(const Interval& hole) const {
  Reach reach;
  auto at = hole.end;
  auto next =
      std::lower_bound(blocks_.begin(), blocks_.end(), PlacedBlock{at, 0, 0, true}, begins_before);
  for (; next != blocks_.end() && next->begin == at; ++next) {
    if (!next->movable || next->size > hole.size()) return std::nullopt;
    reach.blocks.push_back(*next);
    reach.bytes += next->size;
    at += next->size;
  }
  reach.far_end = next == blocks_.end() ? total_ : next->begin;
  if (reach.far_end == at) return std::nullopt;  // the end of the memory
  return reach;
}

std::optional<Reach> Planner::reach_down(const Interval& hole) const {
  Reach reach;
  auto at = hole.begin;
  auto next =
      std::lower_bound(blocks_.begin(), blocks_.end(), PlacedBlock{at, 0, 0, true}, begins_before);
  for (; next != blocks_.begin(); --next) {
    const auto& block = *std::prev(next);
    if (block.begin + block.size != at) break;
    if (!block.movable || block.size > hole.size()) return std::nullopt;
    reach.blocks.push_back(block);
    reach.bytes += block.size;
    at = block.begin;
  }
  reach.far_end = next == blocks_.begin() ? 0 : std::prev(next)->begin + std::prev(next)->size;
  if (reach.far_end == at) return std::nullopt;  // the begin of the memory
  return reach;
}

// Between the holes that together have what is wanted with the fewest bytes in between.
bool Planner::slide(Bytes wanted) {
  moves_.clear();
  const auto all = holes();
  const auto fixed_between = [this](const Interval& lower, const Interval& upper) {
    return std::any_of(blocks_.begin(), blocks_.end(), [&](const PlacedBlock& block) {
      return !block.movable && block.begin >= lower.end && block.begin < upper.begin;
    });
  };
  const Interval *best_first = nullptr, *best_last = nullptr;
  Bytes best = 0, room = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < all.size(); ++last) {
    if (last > 0 && fixed_between(all[last - 1], all[last])) {
      first = last;
      room = 0;
    }
    room += all[last].size();
    while (room - all[first].size() >= wanted) room -= all[first++].size();
    const Bytes bytes = all[last].end - all[first].begin - room;
    if (room < wanted || (best_first != nullptr && bytes >= best)) continue;
    best_first = &all[first];
    best_last = &all[last];
    best = bytes;
  }
  if (best_first == nullptr) return false;
  slide_between(*best_first, *best_last);
  return true;
}

// Towards the larger of the two: the longer the way, the fewer the pieces of a copy.
void Planner::slide_between(const Interval& lower, const Interval& upper) {
  const auto by_begin = [](const PlacedBlock& block, std::uint64_t at) { return block.begin < at; };
  std::vector<PlacedBlock> blocks(
      std::lower_bound(blocks_.begin(), blocks_.end(), lower.end, by_begin),
      std::lower_bound(blocks_.begin(), blocks_.end(), upper.begin, by_begin));
  if (lower.size() >= upper.size()) {
    auto to = lower.begin;
    for (const auto& block : blocks) {
      place(block, to);
      to += block.size;
    }
  } else {
    auto to = upper.end;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      to -= block->size;
      place(*block, to);
    }
  }
}

MoveStages in_stages(const std::vector<BlockMove>& moves) {
  MoveStages stages;
  for (const auto& move : moves) {
    const Interval to{move.to, move.to + move.size};
    const auto depends = [&](const BlockMove& earlier) {
      return earlier.id == move.id || overlap(to, {earlier.from, earlier.from + earlier.size});
    };
    const auto alone = [](const BlockMove& other) { return other.overlaps_itself(); };
    if (stages.empty() || alone(move) || alone(stages.back().front()) ||
        std::any_of(stages.back().begin(), stages.back().end(), depends)) {
      stages.emplace_back();
    }
    stages.back().push_back(move);
  }
  return stages;
}

}  // namespace

std::optional<MoveStages> plan_compaction(std::vector<PlacedBlock> blocks, Bytes total,
                                          Bytes wanted) {
  Planner planner(std::move(blocks), total);
  if (!planner.make_room(wanted)) return std::nullopt;
  return in_stages(planner.moves());
}

}  // namespace npu::driver
