// SPDX-License-Identifier: Apache-2.0
// What every card's memory was used for at some moments of a run, from the driver's memory_block
// events: at its end, when most was in use, and before and after blocks were moved.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::timeline {

class MemoryMap : public platform::TraceSink {
 public:
  struct Range {
    std::uint64_t begin, end;
    platform::BlockState state;
  };
  struct Moment {
    Instant when;
    std::string label;
    std::vector<Range> ranges;  // ascending; what none covers is free
  };
  struct Card {
    std::uint32_t track = 0;      // "driver0.memory"
    std::vector<Moment> moments;  // in the order of time
  };

  void on_event(const platform::TraceEvent& event) override;
  std::vector<Card> cards(Instant end) const;  // in the order of their first block

 private:
  struct Block {
    std::uint64_t end;
    platform::BlockState state;
  };
  using Blocks = std::map<std::uint64_t, Block>;  // by begin
  struct State {
    std::uint32_t track = 0;
    Blocks blocks;
    Bytes used = 0;
    Moment fullest;
    Bytes most = 0;
    bool is_fullest = false;  // more than ever, and not in `fullest` yet
    bool moving = false;
    Range freed{};  // last
    std::vector<Moment> moves;
  };

  State& state_of(std::uint32_t track);
  static void clear(State& state, std::uint64_t begin, std::uint64_t end);
  static std::vector<Range> ranges(const State& state);
  static void note_fullest(State& state, Instant when);
  static void note_moves(State& state, platform::BlockState kind, Instant when);

  std::vector<State> states_;
};

}  // namespace npu::timeline
