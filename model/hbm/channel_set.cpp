// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_set.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::model::hbm {

ChannelSet::ChannelSet(const HbmConfig& config, std::vector<BurstDone>& done)
    : map_(config),
      busy_(ceil_div(config.channels, 64U)),
      pseudo_channels_(config.timings.pseudo_channels) {
  for (unsigned c = 0; c < config.channels; ++c) {
    if (config.fidelity == HbmFidelity::kRun) {
      planners_.emplace_back(config, map_);
    } else {
      channels_.emplace_back(map_);
    }
  }
  if (!planned()) untouched_ = std::make_unique<ChannelEngine>(config, done);
}

Clock ChannelSet::submit(std::uint32_t tag, std::uint64_t first, std::uint64_t end, Clock arrived,
                         bool write) {
  if (end - first == 1) {
    return submit_run(map_.channel(first), {map_.index(first), 1, tag, arrived, write});
  }
  return submit_many(first, end, {0, 0, tag, arrived, write});
}

[[gnu::noinline]] Clock ChannelSet::submit_many(std::uint64_t first, std::uint64_t end,
                                                const BurstRun& like) {
  const unsigned interleave = map_.interleave();
  Clock last = 0;
  BurstRun run = like;
  if (end - first <= std::uint64_t{map_.channels()} * interleave / 2) {
    while (first != end) {  // few of them fall on the same channel again
      const std::uint64_t next = std::min(end, (first | (interleave - 1)) + 1);
      run.index = map_.index(first);
      run.count = static_cast<std::uint32_t>(next - first);
      last = std::max(last, submit_run(map_.channel(first), run));
      first = next;
    }
    return last;
  }
  const auto begin = map_.below(first);
  const auto behind = map_.below(end);
  for (unsigned c = 0; c < map_.channels(); ++c) {
    run.index = map_.index_below(begin, c);
    run.count = static_cast<std::uint32_t>(map_.index_below(behind, c) - run.index);
    if (run.count != 0) last = std::max(last, submit_run(c, run));
  }
  return last;
}

// The run waits until all channels are advanced together: what it does is not needed earlier, and
// a channel's state is then in the cache for all its bursts of the time since.
Clock ChannelSet::submit_run(unsigned channel, const BurstRun& run) {
  if (planned()) return planners_[channel].plan(run);
  use(channels_[channel]);
  channels_[channel].push(run);
  busy_[channel / 64] |= std::uint64_t{1} << channel % 64;
  return kNever;
}

std::uint64_t ChannelSet::touched_by(std::uint64_t first, std::uint64_t last) const {
  const std::uint64_t every =
      map_.channels() < 64 ? (std::uint64_t{1} << map_.channels()) - 1 : ~std::uint64_t{0};
  // Of so many one round of all channels is whole.
  if (last - first >= 2 * std::uint64_t{map_.channels()} * map_.interleave()) return every;
  std::uint64_t mask = 0;
  for (auto burst = first; burst <= last && mask != every;
       burst = (burst | (map_.interleave() - 1)) + 1) {
    mask |= std::uint64_t{1} << map_.channel(burst) % 64;
  }
  return mask;
}

ChannelSet::Sums ChannelSet::sums(Clock now) {
  Sums sums;
  if (untouched_ != nullptr) untouched_->advance(now);
  for (auto& channel : channels_) {
    ChannelEngine& engine = channel.used() ? channel.engine() : *untouched_;
    sums.counts += engine.counts();
    for (unsigned p = 0; p < pseudo_channels_; ++p) sums.bus += engine.bus(p, now);
  }
  for (const auto& planner : planners_) {
    sums.counts += planner.counts(now);
    for (unsigned p = 0; p < pseudo_channels_; ++p) sums.bus += planner.bus(p, now);
  }
  return sums;
}

}  // namespace npu::model::hbm
