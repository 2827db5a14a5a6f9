// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/memory_map.hpp"

#include <algorithm>
#include <iterator>

namespace npu::timeline {
namespace {

using platform::BlockState;

constexpr std::size_t kMostMoves = 16;  // moments kept of runs that move blocks often

}  // namespace

MemoryMap::State& MemoryMap::state_of(std::uint32_t track) {
  for (auto& state : states_) {
    if (state.track == track) return state;
  }
  states_.emplace_back();
  states_.back().track = track;
  return states_.back();
}

// What lies in [begin, end) is free; blocks that reach into it are cut.
void MemoryMap::clear(State& state, std::uint64_t begin, std::uint64_t end) {
  auto& blocks = state.blocks;
  auto it = blocks.lower_bound(begin);
  if (it != blocks.begin() && std::prev(it)->second.end > begin) --it;
  while (it != blocks.end() && it->first < end) {
    const auto [from, block] = *it;
    it = blocks.erase(it);
    state.used -= block.end - from;
    if (from < begin) {
      blocks[from] = {begin, block.state};
      state.used += begin - from;
    }
    if (block.end > end) {
      it = std::next(blocks.emplace(end, block).first);
      state.used += block.end - end;
    }
  }
}

std::vector<MemoryMap::Range> MemoryMap::ranges(const State& state) {
  std::vector<Range> result;
  for (const auto& [begin, block] : state.blocks) result.push_back({begin, block.end, block.state});
  return result;
}

void MemoryMap::note_fullest(State& state, Instant when) {
  if (!state.is_fullest) return;
  state.fullest = {when, "most in use", ranges(state)};
  state.is_fullest = false;
}

// A move is told of as free, then moved: before it, its old place was what it was.
void MemoryMap::note_moves(State& state, BlockState kind, Instant when) {
  const bool has_room = state.moves.size() + 1 < kMostMoves;
  if (kind == BlockState::kMoved && !state.moving && has_room) {
    auto before = ranges(state);
    const auto behind = std::find_if(before.begin(), before.end(), [&](const Range& range) {
      return range.begin > state.freed.begin;
    });
    before.insert(behind, state.freed);
    state.moves.push_back({when, "before blocks are moved", std::move(before)});
  }
  const bool is_next = kind == BlockState::kAllocated || kind == BlockState::kPinned;
  if (is_next && state.moving && !state.moves.empty()) {
    state.moves.push_back({when, "blocks have been moved", ranges(state)});
  }
  state.moving = kind == BlockState::kMoved || (state.moving && kind == BlockState::kFree);
}

void MemoryMap::on_event(const platform::TraceEvent& event) {
  if (event.activity != platform::Activity::kMemoryBlock) return;
  constexpr unsigned kStateShift = 60;
  State& state = state_of(event.track);
  const auto kind = static_cast<BlockState>(event.detail >> kStateShift);
  const std::uint64_t begin = event.detail & ((std::uint64_t{1} << kStateShift) - 1);
  const std::uint64_t end = begin + event.bytes;
  note_moves(state, kind, event.begin);
  if (kind == BlockState::kFree) {
    note_fullest(state, event.begin);
    const auto was = state.blocks.find(begin);
    state.freed = {begin, end,
                   was == state.blocks.end() ? BlockState::kAllocated : was->second.state};
  }
  clear(state, begin, end);
  if (kind == BlockState::kFree) return;
  state.blocks[begin] = {end, kind};
  state.used += event.bytes;
  if (state.used <= state.most) return;
  state.most = state.used;
  state.is_fullest = true;
}

std::vector<MemoryMap::Card> MemoryMap::cards(Instant end) const {
  std::vector<Card> result;
  for (const auto& state : states_) {
    Card card;
    card.track = state.track;
    card.moments = state.moves;
    if (!state.is_fullest && state.most != 0) card.moments.push_back(state.fullest);
    card.moments.push_back({end, "end of the run", ranges(state)});
    std::stable_sort(card.moments.begin(), card.moments.end(),
                     [](const Moment& a, const Moment& b) { return a.when < b.when; });
    result.push_back(std::move(card));
  }
  return result;
}

}  // namespace npu::timeline
