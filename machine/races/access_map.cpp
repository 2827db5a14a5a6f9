// SPDX-License-Identifier: Apache-2.0
#include "machine/races/access_map.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace npu::races {

AccessMap::Cells::iterator AccessMap::cut(std::uint64_t at) {
  auto next = cells_.lower_bound(at);
  if (next == cells_.begin() || (next != cells_.end() && next->first == at)) return next;
  auto& cell = std::prev(next)->second;
  if (cell.end <= at) return next;
  const auto rest = cells_.emplace_hint(next, at, cell);
  cell.end = at;
  return rest;
}

void AccessMap::meet(std::uint64_t begin, Cell& cell, const Access& access, const Clock& known,
                     Listener& listener) {
  const auto bytes = cell.end - begin;
  bool ignored = false;
  const auto check = [&](const Access& earlier) {
    if (earlier.moment.number == 0 || known.covers(earlier.moment)) return;
    ignored = listener.unordered(earlier, access, begin, bytes) || ignored;
  };
  check(cell.written);
  if (access.kind != AccessKind::kRead) {
    for (const auto& read : cell.reads) check(read);
  }
  if (ignored) return;
  if (access.kind != AccessKind::kRead) {
    cell.written = access;
    cell.reads.clear();
    return;
  }
  // Those that the reader knows of say nothing more than it does.
  auto& reads = cell.reads;
  reads.erase(std::remove_if(reads.begin(), reads.end(),
                             [&](const Access& each) { return known.covers(each.moment); }),
              reads.end());
  reads.push_back(access);
}

void AccessMap::add(std::uint64_t begin, std::uint64_t end, const Access& access,
                    const Clock& known, Listener& listener) {
  if (begin >= end) return;
  cut(begin);
  cut(end);
  auto next = cells_.lower_bound(begin);
  for (std::uint64_t at = begin; at < end;) {
    if (next == cells_.end() || next->first > at) {
      const auto gap = next == cells_.end() ? end : std::min(end, next->first);
      next = cells_.emplace_hint(next, at, Cell{gap, {}, {}});
    }
    meet(at, next->second, access, known, listener);
    at = next->second.end;
    // Neighbours that one write has left are one.
    if (access.kind != AccessKind::kRead && next != cells_.begin()) {
      const auto before = std::prev(next);
      const auto& moment = before->second.written.moment;
      const bool same = before->second.end == next->first && before->second.reads.empty() &&
                        next->second.reads.empty() && moment.who == access.moment.who &&
                        moment.number == access.moment.number &&
                        next->second.written.moment.who == moment.who &&
                        next->second.written.moment.number == moment.number;
      if (same) {
        before->second.end = at;
        cells_.erase(next);
        next = before;
      }
    }
    ++next;
  }
}

Access AccessMap::last_write(std::uint64_t address) const {
  auto found = cells_.upper_bound(address);
  if (found == cells_.begin()) return {};
  --found;
  return found->second.end > address ? found->second.written : Access{};
}

}  // namespace npu::races
