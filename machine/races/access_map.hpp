// SPDX-License-Identifier: Apache-2.0
// Which accesses bytes of a memory have seen: for each byte the last write, and the reads since.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "machine/races/clock.hpp"

namespace npu::races {

// What has accessed, as Detector numbers it.
using WorkNumber = std::uint32_t;

enum class AccessKind : std::uint8_t { kRead, kWrite, kFree };

struct Access {
  Moment moment;  // number 0: there was none
  WorkNumber work = 0;
  std::uint32_t label = 0;  // Work::label
  AccessKind kind = AccessKind::kRead;
};

class AccessMap {
 public:
  // The access to [first, first + bytes) is not ordered against an earlier one. True: nothing is
  // kept of the later one there.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual bool unordered(const Access& earlier, const Access& later, std::uint64_t first,
                           std::uint64_t bytes) = 0;
  };

  // `known`: what is over for whoever accesses [begin, end).
  void add(std::uint64_t begin, std::uint64_t end, const Access& access, const Clock& known,
           Listener& listener);
  // Who wrote the byte last; number 0: nobody.
  Access last_write(std::uint64_t address) const;
  std::size_t cells() const { return cells_.size(); }

 private:
  struct Cell {
    std::uint64_t end = 0;
    Access written;
    std::vector<Access> reads;  // one of each queue at most
  };
  using Cells = std::map<std::uint64_t, Cell>;

  void meet(std::uint64_t begin, Cell& cell, const Access& access, const Clock& known,
            Listener& listener);
  // A cell begins at `at`, if one lies over it.
  Cells::iterator cut(std::uint64_t at);

  Cells cells_;  // by their begin; they do not overlap
};

}  // namespace npu::races
