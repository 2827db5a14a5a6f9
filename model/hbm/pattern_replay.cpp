// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/pattern_replay.hpp"

#include <algorithm>
#include <queue>

#include "model/hbm/replay_controller.hpp"

namespace npu::model::hbm {
namespace {

class Replay {
 public:
  Replay(const ReplayConfig& config, const std::vector<Access>& accesses, Bytes request)
      : map_(config.hbm),
        burst_(config.hbm.timings.burst),
        bursts_(static_cast<std::uint32_t>(std::max<Bytes>(request / burst_, 1))),
        accesses_(accesses),
        states_(accesses.size(), State{0, 0, bursts_}) {
    for (unsigned i = 0; i < config.hbm.channels; ++i) channels_.push_back(make_controller(config));
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
    from = channels_[map_.channel(burst)]->enter(where, access.write, request, from);
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

}  // namespace

ReplayResult replay(const ReplayConfig& config, const std::vector<Access>& accesses, Bytes request,
                    std::uint64_t outstanding) {
  ReplayResult result = Replay(config, accesses, request).run(outstanding);
  const HbmTimings& t = config.hbm.timings;
  result.bus_bytes = t.burst * t.pseudo_channels * config.hbm.channels;
  result.bus_clocks = t.burst_clocks;
  return result;
}

}  // namespace npu::model::hbm
