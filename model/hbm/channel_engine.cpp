// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_engine.hpp"

#include <systemc>

#include "model/hbm/address_map.hpp"

namespace npu::model::hbm {

ChannelEngine::ChannelEngine(const HbmConfig& config, std::vector<BurstDone>& done)
    : commands_(config, done),
      refresh_(commands_),
      t_(config.timings),
      read_latency_(t_.cl + t_.tdqsck + t_.burst_clocks),
      write_latency_(t_.cwl + t_.burst_clocks),
      takes_runs_(config.policy == HbmPolicy::kSplitQueues && t_.burst_clocks > 1) {}

std::uint16_t ChannelEngine::lane(unsigned pseudo_channel, unsigned stack, unsigned group,
                                  unsigned bank) const {
  return lane_number(t_, pseudo_channel, stack, group, bank);
}

void ChannelEngine::enter(const Burst& burst, Clock at) {
  if (lone_.waits()) {
    queue_lone();
    advance(at);
  }
  const bool was_idle = idle();
  commands_.account().queued(commands_.layout().pseudo_channel_of(burst.lane), at + 1);
  if (!was_idle || !plan_lone(burst, at)) enqueue(burst, at);
}

void ChannelEngine::enqueue(const Burst& burst, Clock at) {
  commands_.not_before(at + 1);
  commands_.follow(commands_.now());
  commands_.append(burst, at, Traffic::kAny);
}

void ChannelEngine::enter_ahead(const Burst& burst, Clock at) {
  commands_.account().queued(commands_.layout().pseudo_channel_of(burst.lane), at + 1);
  if (burst.write) {
    commands_.append(burst, at, Traffic::kWrites);
  } else {
    commands_.append(burst, at, Traffic::kReads);
  }
}

void ChannelEngine::enter_ahead(const BurstTurns& bursts, Clock at) {
  const unsigned pseudo_channel = commands_.layout().pseudo_channel_of(bursts.lane[0]);
  for (unsigned i = 0; i < bursts.count; ++i) {
    commands_.account().queued(pseudo_channel, at + i + 1);
  }
  if (bursts.write) {
    commands_.append_turns(bursts, at, Traffic::kWrites);
  } else {
    commands_.append_turns(bursts, at, Traffic::kReads);
  }
}

[[gnu::noinline]] unsigned ChannelEngine::enter_run(const BurstTurns& bursts, Clock at,
                                                    Clock until) {
  // Of two the second may come when the first is served, and be alone, too; of a few most would be
  // left for the general way.
  const Clock enough = 2 * Clock{bursts.count};
  if (bursts.count <= 2 || until - at < enough) return 0;
  if (bursts.count > commands_.window(bursts.write)) return 0;
  const bool near = commands_.refreshes().pending() || refresh_.next() - 1 - at < enough;
  if (near && !LoneRun::passes_refreshes(commands_, bursts, at)) return 0;
  run_.emplace(commands_, refresh_, bursts, at);
  if (run_->decide(until)) run_.reset();
  return bursts.count;
}

// Plans the commands of a burst accepted at `at`; false: the general way is needed.
[[gnu::noinline]] bool ChannelEngine::plan_lone(const Burst& burst, Clock at) {
  if (!short_cuts_ || commands_.refreshes().pending()) return false;
  if (!commands_.holds_two_of_each()) return false;  // room() counts the queue alone
  commands_.not_before(at + 1);
  const Clock now = commands_.now();
  commands_.follow(now);
  const Bank& bank = commands_.queue().bank(burst.lane);
  const Clock allowed = commands_.timing().column_from(bank.clocks, burst.lane, burst.write);
  const Clock column = commands_.columns().from(burst.lane, burst.write, allowed);
  const LoneBurst lone(burst, at, bank, commands_.timing(),
                       {std::max(now, commands_.rows().free()), std::max(now, column)});
  if (refresh_.next() <= lone.column()) return false;
  lone_ = lone;
  commands_.expect_only_column(lone.column());
  return true;
}

// It is not alone any more: as if it had gone the general way from the start.
[[gnu::noinline]] void ChannelEngine::queue_lone() {
  const LoneBurst lone = lone_.take();
  commands_.expect_nothing();
  enqueue(lone.burst(), lone.arrived());
}

[[gnu::noinline]] void ChannelEngine::queue_rest() {
  run_->hand_over();
  run_.reset();
}

[[gnu::noinline]] void ChannelEngine::serve_lone() {
  commands_.expect_nothing();
  commands_.serve(lone_.take());
}

// Inlines what it calls: that is what a burst's time is spent on.
[[gnu::flatten, gnu::noinline]] void ChannelEngine::decide(Clock until) {
  if (run_) {
    if (!run_->decide(until)) return;
    run_.reset();
  }
  switch (traffic()) {
    case Traffic::kReads:
      return decide(until, Traffic::kReads);
    case Traffic::kWrites:
      return decide(until, Traffic::kWrites);
    case Traffic::kAny:
      return decide(until, Traffic::kAny);
  }
}

void ChannelEngine::decide(Clock until, Traffic traffic) {
  for (Clock at = next_decision(); at <= until; at = next_decision()) {
    if (traffic == Traffic::kReads && !commands_.columns().any_hit() && !idle() &&
        OpenedReads(commands_, refresh_, at, until).decide()) {
      continue;
    }
    if (traffic != Traffic::kAny && serve_hits(at, until, traffic)) continue;
    if (refresh_.next() == at && idle()) {
      while_idle(until);
    } else {
      step(at, traffic);
    }
  }
}

// If nothing comes at `at` but the RD or WR of a row hit: that and what follows of the kind.
bool ChannelEngine::serve_hits(Clock at, Clock until, Traffic traffic) {
  if (!commands_.columns().any_hit() || commands_.rows().next().at <= at) return false;
  const Clock other = std::min(refresh_.next(), commands_.activated_from(traffic));
  if (other <= at) return false;
  commands_.follow(at);
  commands_.serve_hits(std::min({until, other - 1, at + OpenedReads::kAhead}), traffic);
  return true;
}

[[gnu::noinline]] void ChannelEngine::while_idle(Clock until) {
  commands_.expect_nothing();
  if (short_cuts_) refresh_.run_idle(commands_, until);
  const Clock at = next_decision();
  if (at <= until) step(at, Traffic::kAny);
}

void ChannelEngine::step(Clock at, Traffic traffic) {
  commands_.follow(at);
  commands_.come_to(at);
  if (refresh_.next() == at) refresh_.step(commands_, at);
  if (commands_.columns().next().at == at) {
    if (traffic == Traffic::kAny && lone_.waits()) return serve_lone();
    if (commands_.step_columns(at, traffic)) refresh_.schedule(commands_);
  }
  commands_.come_to(at + 1);
  if (commands_.rows().next().at == at) commands_.step_rows(at, traffic);
}

Clock ChannelEngine::earliest_service() {
  if (idle()) return kNever;
  if (lone_.waits()) return lone_.column();
  if (!run_) commands_.find_next();
  if (commands_.refreshes().pending()) refresh_.schedule(commands_);
  // A burst that is no candidate yet needs an ACT first, or a change between reads and writes,
  // which the ACT of the last burst of the other kind may bring about.
  const auto& trcd = commands_.timing().limits().act_to_column;
  const Clock wait = commands_.mixed() ? 1 : std::min(trcd[0], trcd[1]);
  const Clock row = std::min(commands_.rows().next().at, refresh_.next());
  return std::min(commands_.columns().next().at, row + wait);
}

}  // namespace npu::model::hbm
