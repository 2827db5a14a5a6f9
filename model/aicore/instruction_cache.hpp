// SPDX-License-Identifier: Apache-2.0
// Which lines of programs a core's instruction cache holds: the last used ones, of any set. A line
// is known by its program's place in memory and its number there; a program by its digest, so that
// another one in its place is not taken for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/aicore/code_layout.hpp"
#include "model/core/space_id.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class InstructionCache {
 public:
  using Digest = std::array<std::uint8_t, 32>;
  // One that the core has run since a reset.
  class Program {
   public:
    CodeLayout code;

   private:
    friend class InstructionCache;
    Digest digest_{};
    std::vector<std::uint64_t> used_;  // by line, when last; 0: not held
  };

  InstructionCache(Bytes size, Bytes line) : most_(std::max<Bytes>(size / line, 1)) {}

  // Some of what was at this address is held.
  bool knows(SpaceId space, std::uint64_t image) const {
    return programs_.count({space, image}) != 0;
  }
  // The program there: what was held of another one is dropped. Valid until clear().
  Program& at(SpaceId space, std::uint64_t image, const Digest& digest) {
    auto& program = programs_[{space, image}];
    if (program.digest_ == digest) return program;
    for (auto& line : program.used_) drop(line);
    program = {};
    program.digest_ = digest;
    return program;
  }
  // Also makes it the one that was used last.
  bool holds(Program& program, std::uint64_t line) {
    if (line >= program.used_.size() || program.used_[line] == 0) return false;
    program.used_[line] = ++now_;
    return true;
  }
  void fill(Program& program, std::uint64_t line) {
    if (line >= program.used_.size()) program.used_.resize(line + 1);
    if (program.used_[line] == 0 && held_++ == most_) drop_oldest();
    program.used_[line] = ++now_;
  }
  std::uint64_t held() const { return held_; }  // lines
  void clear() {
    programs_.clear();
    held_ = 0;
  }

 private:
  void drop(std::uint64_t& line) {
    if (line != 0) --held_;
    line = 0;
  }
  void drop_oldest() {
    std::uint64_t* oldest = nullptr;
    for (auto& [place, program] : programs_) {
      for (auto& line : program.used_) {
        if (line != 0 && (oldest == nullptr || line < *oldest)) oldest = &line;
      }
    }
    if (oldest != nullptr) drop(*oldest);
  }

  const std::uint64_t most_;  // lines
  std::map<std::pair<SpaceId, std::uint64_t>, Program> programs_;
  std::uint64_t held_ = 0;
  std::uint64_t now_ = 0;
};

}  // namespace npu::model
