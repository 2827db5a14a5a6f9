// SPDX-License-Identifier: Apache-2.0
// When the kernels of operators ran that are launched one behind the other, without a wait between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::operators {

// From a kernel's first block to the end of its last one.
struct KernelSpan {
  Instant begin, end;
  std::uint64_t cause = 0;
};

class LaunchTimes : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kDmaSubmit) {
      // The cause is the last entry's; others went with it.
      const auto before = std::min<std::uint64_t>(event.detail >> 32, event.cause & 0xFF'FFFF'FFFF);
      for (std::uint64_t i = before + 1; i-- > 0;) submitted_.push_back(event.cause - i);
    }
    if (event.activity != platform::Activity::kKernelBlock) return;
    const auto [span, is_new] =
        spans_.try_emplace(event.cause, KernelSpan{event.begin, event.end, event.cause});
    span->second.begin = std::min(span->second.begin, event.begin);
    span->second.end = std::max(span->second.end, event.end);
  }
  // Entries that the host has submitted so far.
  std::size_t submitted() const { return submitted_.size(); }
  // The kernels among entries `first` to `end`, in the order of their submission.
  std::vector<KernelSpan> each_kernel(std::size_t first, std::size_t end) const {
    std::vector<KernelSpan> all;
    for (std::size_t i = first; i < end; ++i) {
      const auto found = spans_.find(submitted_[i]);
      if (found != spans_.end()) all.push_back(found->second);
    }
    return all;
  }
  // From the first one's begin to the last one's end; none: no kernel ran.
  std::optional<KernelSpan> kernels(std::size_t first, std::size_t end) const {
    std::optional<KernelSpan> all;
    for (const auto& span : each_kernel(first, end)) {
      if (!all) all = span;
      all->end = std::max(all->end, span.end);
    }
    return all;
  }
  // Forgets all of it.
  void clear() {
    submitted_.clear();
    spans_.clear();
  }

 private:
  std::vector<std::uint64_t> submitted_;  // causes, in their order
  std::map<std::uint64_t, KernelSpan> spans_;
};

}  // namespace npu::operators
