// SPDX-License-Identifier: Apache-2.0
// Which accesses bytes of a memory have seen: for each byte the last write, and the reads since.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/aicore/hazards/clock.hpp"
#include "npu/abi/element.hpp"

namespace npu::model {

// Something that a program does, in a list of such places.
using PlaceNumber = std::uint32_t;

struct Access {
  Moment moment;
  PlaceNumber place = 0;
  std::uint32_t issued = 0;  // its turn among what the core's program has issued
  // A write that needs no order against others that do the same; kNone: any other access.
  abi::ReduceOperation reduction = abi::ReduceOperation::kNone;
};

class AccessMap {
 public:
  // An access to `bytes` bytes from `first` on that is not ordered against `other`.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void unordered(const Access& other, bool other_writes, std::uint64_t first,
                           std::uint64_t bytes) = 0;
  };

  // `known`: what is over for whoever accesses.
  void read(std::uint64_t begin, std::uint64_t end, const Access& access, const Clock& known,
            Listener& listener);
  void write(std::uint64_t begin, std::uint64_t end, const Access& access, const Clock& known,
             Listener& listener);
  void clear() { cells_.clear(); }
  std::size_t cells() const { return cells_.size(); }

 private:
  struct Cell {
    std::uint64_t end = 0;
    Access written;             // number 0: never
    std::vector<Access> reads;  // one of each pipe at most
  };
  using Cells = std::map<std::uint64_t, Cell>;

  // A cell begins at `at`, if one lies over it.
  Cells::iterator cut(std::uint64_t at);

  Cells cells_;  // by their begin; they do not overlap
};

}  // namespace npu::model
