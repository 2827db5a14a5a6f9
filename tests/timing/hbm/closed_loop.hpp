// SPDX-License-Identifier: Apache-2.0
// Agents that each wait for one request before they make the next, on a channel that is exact and
// on one that is planned.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/hbm/channel.hpp"
#include "model/hbm/run_planner.hpp"

namespace npu::model::test {

struct Loop {
  const char* name;
  unsigned agents;
  const char* kinds;  // of the requests of an agent, in turn: "RW"
  unsigned bursts;    // of a request
  bool random;        // where requests go; or each agent goes on behind its last one
  hbm::Clock think;   // from an answer to the next request
};

struct LoopResult {
  std::uint64_t requests = 0;
  hbm::Clock latency = 0;  // of all
  double mean() const { return static_cast<double>(latency) / static_cast<double>(requests); }
};

class ClosedLoop {
 public:
  ClosedLoop(const HbmConfig& config, const Loop& loop, bool exact)
      : loop_(loop),
        map_(config),
        exact_(exact),
        channel_(map_),
        planner_(config, map_),
        space_(config.installed / config.timings.burst / config.channels),
        latency_{config.timings.cl + config.timings.tdqsck + config.timings.burst_clocks,
                 config.timings.cwl + config.timings.burst_clocks} {
    channel_.use(hbm::ChannelEngine(config, done_));
    for (unsigned i = 0; i < loop.agents; ++i) {
      agents_.push_back({{start(), start()}, 0, 0});
      after(i * 7, [this, i] { ask(i); });
    }
  }
  LoopResult run(hbm::Clock until) {
    for (; now_ < until; ++now_) {
      if (exact_) serve();
      while (!events_.empty() && events_.begin()->first <= now_) {
        const auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        event();
      }
    }
    return result_;
  }

 private:
  struct Agent {
    std::array<std::uint64_t, 2> next;  // burst, of reads and of writes
    std::size_t step;
    hbm::Clock asked;
  };
  struct Waiting {
    std::size_t agent;
    hbm::Clock last;
    unsigned remaining;
  };

  std::uint64_t start() { return random_() % space_ / 64 * 64; }
  void after(hbm::Clock at, std::function<void()> what) { events_.emplace(at, std::move(what)); }
  bool writes(const Agent& agent) const { return loop_.kinds[agent.step] == 'W'; }

  void ask(std::size_t number) {
    Agent& agent = agents_[number];
    const bool write = writes(agent);
    agent.asked = now_;
    std::uint64_t& next = agent.next[write ? 1 : 0];
    const std::uint64_t at = loop_.random ? start() / loop_.bursts * loop_.bursts : next;
    next = (next + loop_.bursts) % space_;
    const auto tag = static_cast<std::uint32_t>(waiting_.size());
    waiting_.push_back({number, 0, loop_.bursts});
    const hbm::BurstRun run(at, loop_.bursts, tag, now_, write);
    if (exact_) return channel_.push(run);
    const auto end = planner_.plan(run) + latency_[write ? 1 : 0];
    after(end, [this, number] { answer(number); });
  }
  void answer(std::size_t number) {
    Agent& agent = agents_[number];
    ++result_.requests;
    result_.latency += now_ - agent.asked;
    ++agent.step;
    if (loop_.kinds[agent.step] == 0) agent.step = 0;
    after(now_ + loop_.think, [this, number] { ask(number); });
  }
  void serve() {
    channel_.advance(now_);
    for (const auto& burst : done_) {
      Waiting& waiting = waiting_[burst.tag];
      waiting.last = std::max(waiting.last, burst.issued + latency_[burst.write ? 1 : 0]);
      waiting.remaining -= burst.bursts;
      if (waiting.remaining != 0) continue;
      after(waiting.last, [this, agent = waiting.agent] { answer(agent); });
    }
    done_.clear();
  }

  const Loop loop_;
  hbm::AddressMap map_;
  bool exact_;
  std::vector<hbm::BurstDone> done_;
  hbm::Channel channel_;
  hbm::RunPlanner planner_;
  std::uint64_t space_;
  std::array<hbm::Clock, 2> latency_;
  std::mt19937_64 random_{3};
  std::vector<Agent> agents_;
  std::vector<Waiting> waiting_;
  std::multimap<hbm::Clock, std::function<void()>> events_;
  hbm::Clock now_ = 0;
  LoopResult result_;
};

}  // namespace npu::model::test
