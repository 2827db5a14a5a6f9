// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/engine_shares.hpp"

#include <algorithm>

#include "npu/abi/dma.hpp"

namespace npu::workloads {
namespace {

// Of what the spans cover in [begin, end).
Picoseconds covered(std::vector<std::pair<Instant, Instant>> spans, Instant begin, Instant end) {
  std::sort(spans.begin(), spans.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  Picoseconds sum;
  Instant done = begin;
  for (const auto& [first, last] : spans) {
    const Instant from = std::max(first, done), to = std::min(last, end);
    if (from >= to) continue;
    sum += to - from;
    done = to;
  }
  return sum;
}

}  // namespace

bool EngineShares::is_engine(std::uint32_t track) {
  const auto known = tracks_.find(track);
  if (known != tracks_.end()) return known->second;
  const bool engine = source_.track_name(track).rfind("card0.dma.engine", 0) == 0;
  tracks_[track] = engine;
  return engine;
}

void EngineShares::on_event(const platform::TraceEvent& event) {
  if (event.activity != platform::Activity::kCommand || !is_engine(event.track)) return;
  all_.emplace_back(event.begin, event.end);
  const auto* const operation =
      abi::find_dma_operation(static_cast<std::uint8_t>(event.detail >> 16));
  if (operation != nullptr && operation->peer) transfers_.emplace_back(event.begin, event.end);
}

EngineShares::Shares EngineShares::between(Instant begin, Instant end) const {
  Shares shares;
  shares.transfer = covered(transfers_, begin, end);
  shares.copy = covered(all_, begin, end) - shares.transfer;
  shares.rest = end - begin - shares.transfer - shares.copy;
  return shares;
}

}  // namespace npu::workloads
