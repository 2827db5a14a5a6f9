// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/compaction_plan.hpp"

#include <algorithm>

namespace npu::driver {
namespace {

constexpr unsigned kDepth = 3;            // windows for blocks of windows for ...
constexpr unsigned kTries = 1024;         // windows evacuated on trial, per depth, before giving up
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
    return false;
  }
  const std::vector<BlockMove>& moves() const { return moves_; }

 private:
  bool evacuate_some(Bytes wanted, unsigned depth, unsigned tries);
  bool evacuate(const Interval& place, unsigned depth);
  bool relocate(const PlacedBlock& block, unsigned depth);
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
  const auto consider_outside = [&](std::uint64_t begin, std::uint64_t end) {
    for (const auto& window : taboo) {
      if (window.end <= begin || window.begin >= end) continue;
      consider(begin, window.begin);
      begin = std::max(begin, window.end);
    }
    consider(begin, end);
  };
  std::uint64_t end = 0;
  for (const auto& block : blocks_) {
    if (block.begin > end) consider_outside(end, block.begin);
    end = block.begin + block.size;
  }
  if (total_ > end) consider_outside(end, total_);
  return best;
}

MoveStages in_stages(const std::vector<BlockMove>& moves) {
  MoveStages stages;
  for (const auto& move : moves) {
    const Interval to{move.to, move.to + move.size};
    const auto depends = [&](const BlockMove& earlier) {
      return earlier.id == move.id || overlap(to, {earlier.from, earlier.from + earlier.size});
    };
    if (stages.empty() || std::any_of(stages.back().begin(), stages.back().end(), depends)) {
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
