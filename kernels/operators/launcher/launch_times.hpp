// SPDX-License-Identifier: Apache-2.0
// When the kernels of operators ran that are launched one behind the other, without a wait between,
// and how long streams waited for what other cards had a part in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kernels/operators/launcher/spans.hpp"
#include "npu/platform/trace.hpp"

namespace npu::operators {

class LaunchTimes : public platform::TraceSink {
 public:
  bool hears(platform::Activity activity) const override {
    return activity == platform::Activity::kDmaSubmit ||
           activity == platform::Activity::kQueueWait ||
           activity == platform::Activity::kKernelBlock;
  }
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kDmaSubmit) {
      // The cause is the last entry's; others went with it.
      const auto before = std::min<std::uint64_t>(event.detail >> 32, event.cause & 0xFF'FFFF'FFFF);
      auto& submitted = submitted_[platform::QueueCause::card(event.cause)];
      for (std::uint64_t i = before + 1; i-- > 0;) submitted.push_back(event.cause - i);
    }
    // The last one: before it an entry may have waited for those in front of it.
    if (event.activity == platform::Activity::kQueueWait) {
      waits_[event.cause] = KernelSpan{event.begin, event.end, event.cause};
    }
    if (event.activity != platform::Activity::kKernelBlock) return;
    const auto [span, is_new] =
        spans_.try_emplace(event.cause, KernelSpan{event.begin, event.end, event.cause});
    span->second.begin = std::min(span->second.begin, event.begin);
    span->second.end = std::max(span->second.end, event.end);
  }
  // Entries that the host has submitted to queues of the card so far.
  std::size_t submitted(std::uint32_t card) const {
    const auto found = submitted_.find(card);
    return found == submitted_.end() ? 0 : found->second.size();
  }
  // The kernels among entries `first` to `end` of the card, in the order of their submission.
  std::vector<KernelSpan> each_kernel(std::uint32_t card, std::size_t first,
                                      std::size_t end) const {
    std::vector<KernelSpan> all;
    for (std::size_t i = first; i < end; ++i) {
      const auto found = spans_.find(submitted_.at(card)[i]);
      if (found != spans_.end()) all.push_back(found->second);
    }
    return all;
  }
  // From the first one's begin to the last one's end; none: no kernel ran.
  std::optional<KernelSpan> kernels(std::uint32_t card, std::size_t first, std::size_t end) const {
    std::optional<KernelSpan> all;
    for (const auto& span : each_kernel(card, first, end)) {
      if (!all) all = span;
      all->end = std::max(all->end, span.end);
    }
    return all;
  }
  // The same of entries with these causes.
  std::optional<KernelSpan> kernels(const std::vector<std::uint64_t>& causes) const {
    std::optional<KernelSpan> all;
    for (const auto cause : causes) {
      const auto found = spans_.find(cause);
      if (found == spans_.end()) continue;
      if (!all) all = found->second;
      all->end = std::max(all->end, found->second.end);
    }
    return all;
  }
  // From when a queue came to this wait until it went on; none: it did not come there.
  std::optional<KernelSpan> wait(std::uint64_t cause) const {
    const auto found = waits_.find(cause);
    return found == waits_.end() ? std::nullopt : std::optional(found->second);
  }
  // Forgets all of it.
  void clear() {
    submitted_.clear();
    spans_.clear();
    waits_.clear();
  }

 private:
  std::map<std::uint32_t, std::vector<std::uint64_t>> submitted_;  // causes in their order, by card
  std::map<std::uint64_t, KernelSpan> spans_, waits_;
};

}  // namespace npu::operators
