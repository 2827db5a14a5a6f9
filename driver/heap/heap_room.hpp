// SPDX-License-Identifier: Apache-2.0
// Which addresses of a heap are free, and where a block fits with the fewest pages that nothing is
// in yet. Pure bookkeeping, O(log n) in the number of free runs; same calls, same addresses.
//
// A page that lies in a free run as a whole is empty: it has no memory. So a free run is a head in
// a page that is in use, empty pages, and a tail in the next page in use; or, if it has no whole
// page, all of it is room in pages in use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "npu/base/units.hpp"

namespace npu::driver {

class HeapRoom {
 public:
  struct Pages {
    std::uint64_t begin = 0;
    Bytes size = 0;  // 0: none
  };

  // Free addresses of whole pages; no block extends over an end of them.
  void add_range(std::uint64_t begin, Bytes size);
  // All free.
  void remove_range(std::uint64_t begin, Bytes size);
  // The smallest room in pages in use; else where the fewest empty pages are needed, by the longest
  // head or tail. nullopt: no run is as long.
  std::optional<std::uint64_t> find(Bytes size) const;
  // Pages that are empty and have a part of these addresses, which are free.
  Pages empty_pages(std::uint64_t at, Bytes size) const;
  // All free.
  void take(std::uint64_t at, Bytes size);
  // None free.
  void give(std::uint64_t at, Bytes size);

  const std::map<std::uint64_t, std::uint64_t>& free_runs() const { return runs_; }

 private:
  // Of the same length the one at the lowest address is the last.
  using Lengths = std::set<std::pair<Bytes, std::uint64_t>>;
  struct Run {
    std::uint64_t begin, end;
    std::uint64_t first, last;  // its whole pages; none: first >= last

    Run(std::uint64_t from, std::uint64_t to);
    bool has_pages() const { return first < last; }
  };

  void insert(const Run& run);
  void erase(const Run& run);
  Run run_of(std::uint64_t at) const;

  std::map<std::uint64_t, std::uint64_t> runs_;  // ends by begins
  Lengths rooms_;                                // in pages in use: length, address
  Lengths lengths_;                              // of all runs: length, begin
  Lengths heads_, tails_;                        // of runs with empty pages: length, ~begin
  std::set<std::uint64_t> borders_;              // where ranges begin
};

}  // namespace npu::driver
