// SPDX-License-Identifier: Apache-2.0
#include "workloads/replay/pattern_replay.hpp"

#include <algorithm>
#include <optional>
#include <queue>

#include "model/hbm/address_map.hpp"
#include "workloads/replay/replay_controller.hpp"

namespace npu::replay {
namespace {

using model::hbm::AddressMap;
using model::hbm::Location;

class Replay {
 public:
  // Of all channels, or of `only` one.
  Replay(const ReplayConfig& config, const std::vector<Access>& accesses, Bytes request,
         std::optional<unsigned> only)
      : map_(config.hbm),
        burst_(config.hbm.timings.burst),
        bursts_(static_cast<std::uint32_t>(std::max<Bytes>(request / burst_, 1))),
        accesses_(accesses),
        states_(accesses.size(), State{0, 0, bursts_}),
        first_(only.value_or(0)) {
    const unsigned count = only ? 1 : config.hbm.channels;
    for (unsigned i = 0; i < count; ++i) channels_.push_back(make_controller(config));
  }

  ReplayResult run(std::uint64_t outstanding);

 private:
  struct State {
    Clock accepted;
    Clock responded;        // latest burst so far
    std::uint32_t missing;  // bursts without response
  };
  Clock inject(std::uint32_t request, Clock from);
  Clock next_response();
  void collect();
  void finish(const Response& response);

  AddressMap map_;
  Bytes burst_;
  std::uint32_t bursts_;
  const std::vector<Access>& accesses_;
  std::vector<State> states_;
  unsigned first_;  // of channels_
  std::vector<std::unique_ptr<ReplayController>> channels_;
  ReplayResult result_;
  std::priority_queue<Clock, std::vector<Clock>, std::greater<>> finished_;
};

// Returns the clock at which the last burst of the request was accepted.
Clock Replay::inject(std::uint32_t request, Clock from) {
  const Access& access = accesses_[request];
  const std::uint64_t first = access.address / burst_;
  for (std::uint64_t burst = first; burst < first + bursts_; ++burst) {
    const Location where = map_.locate(map_.index(burst));
    from = channels_[map_.channel(burst) - first_]->enter(where, access.write, request, from);
    if (burst == first) states_[request].accepted = from;
  }
  return from;
}

void Replay::finish(const Response& response) {
  State& state = states_[response.tag];
  state.responded = std::max(state.responded, response.at);
  if (--state.missing != 0) return;
  result_.clocks = std::max(result_.clocks, state.responded);
  LatencySum& sum = accesses_[response.tag].write ? result_.writes : result_.reads;
  ++sum.requests;
  sum.clocks += state.responded - state.accepted;
  finished_.push(state.responded);
}

void Replay::collect() {
  for (auto& channel : channels_) {
    for (const auto& response : channel->responses()) finish(response);
    channel->responses().clear();
  }
}

// The clock at which the next request is finished; it is forgotten then.
Clock Replay::next_response() {
  while (true) {
    collect();
    Clock earliest = kNever;
    Clock decision = kNever;
    for (const auto& channel : channels_) {
      earliest = std::min(earliest, channel->earliest_response());
      decision = std::min(decision, channel->next_decision());
    }
    if (!finished_.empty() && finished_.top() <= earliest) {
      const Clock at = finished_.top();
      finished_.pop();
      return at;
    }
    for (auto& channel : channels_) channel->advance(decision);
  }
}

ReplayResult Replay::run(std::uint64_t outstanding) {
  Clock now = 0;
  std::uint64_t waiting = 0;
  for (std::uint32_t i = 0; i < accesses_.size(); ++i) {
    if (outstanding != 0 && waiting == outstanding) {
      now = std::max(now, next_response() + channels_[0]->notice());
      --waiting;
    }
    now = inject(i, now);
    ++waiting;
  }
  for (auto& channel : channels_) {
    while (channel->next_decision() != kNever) channel->advance(channel->next_decision());
  }
  collect();
  result_.bytes = result_.requests() * bursts_ * burst_;
  return result_;
}

void add(LatencySum& sum, const LatencySum& more) {
  sum.requests += more.requests;
  sum.clocks += more.clocks;
}

ReplayResult replay_per_channel(const ReplayConfig& config, const std::vector<Access>& accesses,
                                Bytes request, std::uint64_t outstanding) {
  const AddressMap map(config.hbm);
  std::vector<std::vector<Access>> of_channel(config.hbm.channels);
  for (const auto& access : accesses) {
    of_channel[map.channel(access.address / config.hbm.timings.burst)].push_back(access);
  }
  ReplayResult all;
  for (unsigned c = 0; c < of_channel.size(); ++c) {
    const auto one = Replay(config, of_channel[c], request, c).run(outstanding);
    all.clocks = std::max(all.clocks, one.clocks);
    all.bytes += one.bytes;
    add(all.reads, one.reads);
    add(all.writes, one.writes);
  }
  return all;
}

}  // namespace

bool in_one_channel(const ReplayConfig& config, const std::vector<Access>& accesses,
                    Bytes request) {
  const AddressMap map(config.hbm);
  const Bytes burst = config.hbm.timings.burst;
  return std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    // The replay's bursts, from the one with the first byte on.
    const std::uint64_t first = access.address / burst;
    const std::uint64_t end = first + std::max<Bytes>(request / burst, 1);
    for (std::uint64_t each = first + 1; each < end; ++each) {
      if (map.channel(each) != map.channel(first)) return false;
    }
    return true;
  });
}

ReplayResult replay(const ReplayConfig& config, const std::vector<Access>& accesses, Bytes request,
                    std::uint64_t outstanding, ReplaySource source) {
  ReplayResult result = source == ReplaySource::kPerChannel
                            ? replay_per_channel(config, accesses, request, outstanding)
                            : Replay(config, accesses, request, {}).run(outstanding);
  const HbmTimings& t = config.hbm.timings;
  result.bus_bytes = t.burst * t.pseudo_channels * config.hbm.channels;
  result.bus_clocks = t.burst_clocks;
  return result;
}

}  // namespace npu::replay
