// SPDX-License-Identifier: Apache-2.0
#include "driver/heap/heap_room.hpp"

#include <iterator>

#include "npu/base/checked.hpp"
#include "npu/driver/memory.hpp"

namespace npu::driver {
namespace {

std::uint64_t page_of(std::uint64_t at) {
  return align_down(at, kPageSize);
}
std::uint64_t page_from(std::uint64_t at) {
  return page_of(at + kPageSize - 1);
}

}  // namespace

HeapRoom::Run::Run(std::uint64_t from, std::uint64_t to)
    : begin(from), end(to), first(page_from(from)), last(page_of(to)) {}

void HeapRoom::insert(const Run& run) {
  runs_[run.begin] = run.end;
  lengths_.insert({run.end - run.begin, run.begin});
  if (!run.has_pages()) {
    rooms_.insert({run.end - run.begin, run.begin});
    return;
  }
  if (run.first != run.begin) rooms_.insert({run.first - run.begin, run.begin});
  if (run.last != run.end) rooms_.insert({run.end - run.last, run.last});
  heads_.insert({run.first - run.begin, ~run.begin});
  tails_.insert({run.end - run.last, ~run.begin});
}

void HeapRoom::erase(const Run& run) {
  runs_.erase(run.begin);
  lengths_.erase({run.end - run.begin, run.begin});
  if (!run.has_pages()) {
    rooms_.erase({run.end - run.begin, run.begin});
    return;
  }
  rooms_.erase({run.first - run.begin, run.begin});
  rooms_.erase({run.end - run.last, run.last});
  heads_.erase({run.first - run.begin, ~run.begin});
  tails_.erase({run.end - run.last, ~run.begin});
}

HeapRoom::Run HeapRoom::run_of(std::uint64_t at) const {
  const auto run = std::prev(runs_.upper_bound(at));
  return {run->first, run->second};
}

void HeapRoom::add_range(std::uint64_t begin, Bytes size) {
  borders_.insert(begin);
  insert({begin, begin + size});
}

void HeapRoom::remove_range(std::uint64_t begin, Bytes size) {
  erase({begin, begin + size});
  borders_.erase(begin);
}

std::optional<std::uint64_t> HeapRoom::find(Bytes size) const {
  const auto room = rooms_.lower_bound({size, 0});
  if (room != rooms_.end()) return room->second;
  const auto shortest = lengths_.lower_bound({size, 0});
  if (shortest == lengths_.end()) return std::nullopt;
  std::uint64_t best = shortest->second;
  Bytes pages = UINT64_MAX;
  const auto look_at = [&](std::uint64_t at) {
    const Bytes needed = empty_pages(at, size).size;
    if (needed >= pages) return;
    best = at;
    pages = needed;
  };
  if (!heads_.empty()) {
    const Run run = run_of(~heads_.rbegin()->second);
    if (run.end - run.begin >= size) look_at(run.begin);
  }
  if (!tails_.empty()) {
    const Run run = run_of(~tails_.rbegin()->second);
    if (run.end - run.begin >= size) look_at(run.end - size);
  }
  look_at(shortest->second);
  return best;
}

HeapRoom::Pages HeapRoom::empty_pages(std::uint64_t at, Bytes size) const {
  const Run run = run_of(at);
  const auto begin = std::max(page_of(at), run.first),
             end = std::min(page_from(at + size), run.last);
  return begin < end ? Pages{begin, end - begin} : Pages{};
}

void HeapRoom::take(std::uint64_t at, Bytes size) {
  const Run run = run_of(at);
  erase(run);
  if (run.begin < at) insert({run.begin, at});
  if (at + size < run.end) insert({at + size, run.end});
}

void HeapRoom::give(std::uint64_t at, Bytes size) {
  std::uint64_t begin = at, end = at + size;
  const auto above = runs_.find(end);
  if (above != runs_.end() && borders_.count(end) == 0) {
    end = above->second;
    erase({above->first, end});
  }
  const auto next = runs_.lower_bound(begin);
  if (next != runs_.begin() && borders_.count(begin) == 0) {
    const auto below = std::prev(next);
    if (below->second == begin) {
      begin = below->first;
      erase({begin, below->second});
    }
  }
  insert({begin, end});
}

}  // namespace npu::driver
