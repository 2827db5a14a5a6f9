// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/hazards/access_map.hpp"

#include <algorithm>

namespace npu::model {

AccessMap::Cells::iterator AccessMap::cut(std::uint64_t at) {
  const auto next = cells_.lower_bound(at);
  if (next == cells_.begin() || (next != cells_.end() && next->first == at)) return next;
  auto& before = std::prev(next)->second;
  if (before.end <= at) return next;
  Cell rest = before;
  before.end = at;
  return cells_.emplace_hint(next, at, std::move(rest));
}

void AccessMap::read(std::uint64_t begin, std::uint64_t end, const Access& access,
                     const Clock& known, Listener& listener) {
  if (begin >= end) return;
  cut(end);
  auto cell = cut(begin);
  std::uint64_t at = begin;
  const auto same_pipe = [&](const Access& other) {
    return other.moment.core == access.moment.core && other.moment.pipe == access.moment.pipe;
  };
  while (at < end) {
    if (cell == cells_.end() || cell->first > at) {
      const std::uint64_t gap = cell == cells_.end() ? end : std::min(end, cell->first);
      cell = cells_.emplace_hint(cell, at, Cell{gap, {}, {access}});
    } else {
      const Access& written = cell->second.written;
      auto& reads = cell->second.reads;
      if (written.moment.number != 0 && !known.covers(written.moment)) {
        listener.unordered(written, true, cell->first, cell->second.end - cell->first);
      }
      const auto own = std::find_if(reads.begin(), reads.end(), same_pipe);
      if (own == reads.end()) {
        reads.push_back(access);
      } else {
        *own = access;
      }
    }
    at = cell->second.end;
    ++cell;
  }
}

void AccessMap::write(std::uint64_t begin, std::uint64_t end, const Access& access,
                      const Clock& known, Listener& listener) {
  if (begin >= end) return;
  const auto last = cut(end);
  auto cell = cut(begin);
  for (; cell != last; cell = cells_.erase(cell)) {
    const auto& [to, written, reads] = cell->second;
    for (const auto& read : reads) {
      if (!known.covers(read.moment))
        listener.unordered(read, false, cell->first, to - cell->first);
    }
    const bool any_order =
        access.reduction != abi::ReduceOperation::kNone && access.reduction == written.reduction;
    if (written.moment.number != 0 && !any_order && !known.covers(written.moment)) {
      listener.unordered(written, true, cell->first, to - cell->first);
    }
  }
  cells_.emplace_hint(cell, begin, Cell{end, access, {}});
}

}  // namespace npu::model
