// SPDX-License-Identifier: Apache-2.0
// Where a program's instructions lie, as far as a core has executed them. What a program executes
// from one call of its port to the next is a block, known by the two calls: functions are inlined
// on an AI Core, so that another way between calls is other code. Blocks lie one behind the other
// in the order in which the core first came to them. The host's object says nothing of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "npu/base/units.hpp"

namespace npu::model {

class CodeLayout {
 public:
  struct Extent {
    Bytes first = 0;  // from the begin of the program's code
    Bytes bytes = 0;
  };
  // Instructions of a block: more are rounds of a loop that calls nothing.
  static constexpr std::uint64_t kLongest = 256;

  // A call of the port behind the call before; nullptr: the program's begin or end. `instructions`:
  // that the program executed in between. `each`: bytes of one instruction.
  Extent run(const void* before, const void* call, std::uint64_t instructions, Bytes each) {
    const auto [found, is_new] = blocks_.try_emplace(Way{before, call});
    if (is_new) {
      found->second = {end_, (std::min(instructions, kLongest) + 1) * each};
      end_ += found->second.bytes;
    }
    return found->second;
  }
  Bytes bytes() const { return end_; }

 private:
  struct Way {
    const void* before;
    const void* call;
    bool operator==(const Way& other) const { return before == other.before && call == other.call; }
  };
  struct Hash {
    std::size_t operator()(const Way& way) const {
      constexpr std::uintptr_t kOdd = 0x9E37'79B9'7F4A'7C15;
      const auto before = reinterpret_cast<std::uintptr_t>(way.before);
      return (before * kOdd) ^ reinterpret_cast<std::uintptr_t>(way.call);
    }
  };

  std::unordered_map<Way, Extent, Hash> blocks_;
  Bytes end_ = 0;
};

}  // namespace npu::model
