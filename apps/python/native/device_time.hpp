// SPDX-License-Identifier: Apache-2.0
// How long a card works for what a call submits: from the first block's begin to the last one's
// end.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "npu/platform/trace.hpp"

namespace npu::python {

class DeviceTime : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kDmaSubmit) {
      // The cause is the last entry's; others went with it.
      const auto before = std::min<std::uint64_t>(event.detail >> 32, event.cause & 0xFF'FFFF'FFFF);
      for (std::uint64_t i = 0; i <= before; ++i) submitted_.insert(event.cause - i);
    }
    if (event.activity != platform::Activity::kKernelBlock) return;
    const auto [span, is_new] = spans_.try_emplace(event.cause, Span{event.begin, event.end});
    span->second.begin = std::min(span->second.begin, event.begin);
    span->second.end = std::max(span->second.end, event.end);
  }
  // 0: nothing ran.
  Picoseconds time() const {
    const Span* first = nullptr;
    Instant end;
    for (const auto& [cause, span] : spans_) {
      if (submitted_.count(cause) == 0) continue;
      if (first == nullptr || span.begin < first->begin) first = &span;
      end = std::max(end, span.end);
    }
    return first == nullptr ? Picoseconds{} : end - first->begin;
  }

 private:
  struct Span {
    Instant begin, end;
  };
  std::set<std::uint64_t> submitted_;    // causes
  std::map<std::uint64_t, Span> spans_;  // of all blocks, by cause
};

}  // namespace npu::python
