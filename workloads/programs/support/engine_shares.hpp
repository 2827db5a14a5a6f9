// SPDX-License-Identifier: Apache-2.0
// What the DMA engines of card 0 do over a time, from their events: copies between cards, copies on
// the card alone, or nothing.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "workloads/framework/trace_session.hpp"

namespace npu::workloads {

class EngineShares : public platform::TraceSink {
 public:
  explicit EngineShares(const TraceSource& source) : source_(source) {}

  void on_event(const platform::TraceEvent& event) override;

  struct Shares {
    Picoseconds transfer;  // an engine has a copy from or to another card
    Picoseconds copy;      // none has, but one has another copy
    Picoseconds rest;      // records, waits, decoding
  };
  Shares between(Instant begin, Instant end) const;

 private:
  using Span = std::pair<Instant, Instant>;

  bool is_engine(std::uint32_t track);

  const TraceSource& source_;
  std::map<std::uint32_t, bool> tracks_;
  std::vector<Span> transfers_, all_;
};

}  // namespace npu::workloads
