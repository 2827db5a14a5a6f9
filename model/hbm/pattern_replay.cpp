// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/pattern_replay.hpp"

#include <algorithm>
#include <memory>
#include <queue>

namespace npu::model::hbm {
namespace {

class SplitMix64 {
 public:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_ = 12345;
};

// One channel as the source sees it.
struct Port {
  Clock free_at = 0;  // earliest clock of the next acceptance
  std::unique_ptr<ChannelEngine> engine;
};

class Replay {
 public:
  explicit Replay(const HbmConfig& config)
      : map_(config), burst_(config.timings.burst), ports_(config.channels) {
    for (auto& port : ports_) port.engine = std::make_unique<ChannelEngine>(config, done_);
    shared_ = config.policy == HbmPolicy::kSharedQueue;
  }

  ReplayResult run(const std::vector<std::uint64_t>& addresses, std::uint64_t outstanding);

 private:
  // The clock at which the channel takes the burst, not before `from`.
  Clock inject(std::uint64_t burst, Clock from, std::uint32_t tag);
  Clock next_data();
  void collect();

  AddressMap map_;
  Bytes burst_;
  bool shared_;
  std::vector<BurstDone> done_;
  std::vector<Port> ports_;
  Clock last_data_ = 0;
  Clock latency_sum_ = 0;
  std::uint64_t served_ = 0;
  std::priority_queue<Clock, std::vector<Clock>, std::greater<>> in_flight_;
};

Clock Replay::inject(std::uint64_t burst, Clock from, std::uint32_t tag) {
  const std::uint64_t index = map_.index(burst);
  Port& port = ports_[map_.channel(burst)];
  ChannelEngine& engine = *port.engine;
  const Location where = map_.locate(index);
  const Clock offered = std::max(from, port.free_at);
  Clock entered = offered;
  engine.advance(entered);
  while (!engine.room(false)) {
    entered = engine.next_decision();
    engine.step();
  }
  engine.accept({where.row, tag,
                 engine.lane(where.pseudo_channel, where.stack, where.group, where.bank), false},
                entered);
  port.free_at = entered + 1;
  return shared_ ? offered : entered;
}

void Replay::collect() {
  for (const auto& burst : done_) {
    const Clock data = burst.issued + ports_[0].engine->read_latency();
    in_flight_.push(data);
    last_data_ = std::max(last_data_, data);
    latency_sum_ += data;
  }
  served_ += done_.size();
  done_.clear();
}

// The clock at which the next data arrives; it is no longer in flight then.
Clock Replay::next_data() {
  while (true) {
    collect();
    Clock service = kNever;
    Clock decision = kNever;
    for (const auto& port : ports_) {
      service = std::min(service, port.engine->earliest_service());
      if (!port.engine->idle()) decision = std::min(decision, port.engine->next_decision());
    }
    if (!in_flight_.empty() && in_flight_.top() <= service + ports_[0].engine->read_latency()) {
      const Clock data = in_flight_.top();
      in_flight_.pop();
      return data;
    }
    for (auto& port : ports_) port.engine->advance(decision);
  }
}

ReplayResult Replay::run(const std::vector<std::uint64_t>& addresses, std::uint64_t outstanding) {
  Clock now = 0;
  std::uint64_t finished = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (outstanding != 0 && i - finished == outstanding) {
      now = std::max(now, next_data());
      ++finished;
    }
    now = inject(addresses[i] / burst_, now, static_cast<std::uint32_t>(i));
    latency_sum_ -= now;
  }
  for (auto& port : ports_) {
    while (!port.engine->idle()) port.engine->step();
  }
  collect();
  ReplayResult result;
  result.requests = served_;
  result.clocks = last_data_;
  result.latency_clocks = static_cast<double>(latency_sum_) / static_cast<double>(served_);
  return result;
}

}  // namespace

std::vector<std::uint64_t> make_pattern(Pattern pattern, std::uint64_t count, Bytes request,
                                        Bytes span) {
  constexpr unsigned kStreams = 16;
  SplitMix64 random;
  std::vector<std::uint64_t> bases;
  if (pattern == Pattern::kStreams16) {
    for (unsigned k = 0; k < kStreams; ++k) {
      bases.push_back(k * (span / kStreams) + random.next() % (span / 32 / 64) * 64);
    }
  }
  const std::uint64_t pages = span / 4096;
  std::vector<std::uint64_t> addresses(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    switch (pattern) {
      case Pattern::kSequential:
        addresses[i] = i * request % span;
        break;
      case Pattern::kRandom:
        addresses[i] = random.next() % (span / request) * request;
        break;
      case Pattern::kStride4K:
        addresses[i] = i % pages * 4096 + i / pages * request % 4096;
        break;
      case Pattern::kStreams16:
        addresses[i] = (bases[i % kStreams] + i / kStreams * request) % span;
        break;
    }
  }
  return addresses;
}

ReplayResult replay_reads(const HbmConfig& config, const std::vector<std::uint64_t>& addresses,
                          std::uint64_t outstanding) {
  ReplayResult result = Replay(config).run(addresses, outstanding);
  const HbmTimings& t = config.timings;
  const double peak =
      static_cast<double>(config.channels * t.pseudo_channels) / t.burst_clocks;  // per clock
  result.bandwidth_fraction =
      static_cast<double>(result.requests) / (static_cast<double>(result.clocks) * peak);
  return result;
}

}  // namespace npu::model::hbm
