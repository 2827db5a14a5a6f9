// SPDX-License-Identifier: Apache-2.0
#include "workloads/replay/replay_controller.hpp"

#include <algorithm>

#include "model/hbm/channel_engine.hpp"
#include "workloads/replay/bank_queue_engine.hpp"

namespace npu::replay {
namespace {

using model::hbm::BurstDone;
using model::hbm::ChannelEngine;
using model::hbm::CommandObserver;
using model::hbm::Location;

class EngineController : public ReplayController {
 public:
  explicit EngineController(const HbmConfig& config)
      : engine_(config, done_), shared_(config.policy == HbmPolicy::kSharedQueue) {}

  Clock enter(const Location& where, bool write, std::uint32_t tag, Clock from) override {
    const auto lane = engine_.lane(where.pseudo_channel, where.stack, where.group, where.bank);
    const Clock offered = std::max(from, free_at_);
    Clock entered = offered;
    engine_.advance(entered);
    while (!engine_.room(write)) {
      entered = engine_.next_decision();
      engine_.step();
    }
    engine_.accept({where.row, tag, lane, write}, entered);
    free_at_ = entered + 1;
    collect();
    return shared_ ? offered : entered;
  }
  void advance(Clock until) override {
    engine_.advance(until);
    collect();
  }
  Clock next_decision() const override { return engine_.idle() ? kNever : engine_.next_decision(); }
  Clock earliest_response() override {
    if (engine_.idle()) return kNever;
    const Clock write = shared_ ? engine_.write_latency() : 0;
    return engine_.earliest_service() + std::min(engine_.read_latency(), write);
  }
  void watch(CommandObserver* observer) override { engine_.watch(observer); }

 private:
  void collect() {
    for (const auto& burst : done_) {
      Clock at = burst.issued;
      if (!burst.write) {
        at += engine_.read_latency();
      } else if (shared_) {
        at += engine_.write_latency();
      }
      if (shared_) at = last_response_ = std::max(at, last_response_ + 1);
      responses_.push_back({at, burst.tag});
    }
    done_.clear();
  }

  std::vector<BurstDone> done_;
  ChannelEngine engine_;
  bool shared_;
  Clock free_at_ = 0;
  Clock last_response_ = -1;
};

class BankQueueController : public ReplayController {
 public:
  explicit BankQueueController(const ReplayConfig& config) : engine_(config, done_) {}

  Clock enter(const Location& where, bool write, std::uint32_t tag, Clock from) override {
    Clock at = std::max(from, free_at_);
    engine_.advance(at - 1);
    while (!engine_.room(write)) {
      at = engine_.next_decision() + 1;
      engine_.advance(at - 1);
    }
    engine_.accept({where.row, tag, engine_.lane(where.group, where.bank), write}, at);
    free_at_ = at + 1;
    if (write) responses_.push_back({at + 1, tag});
    collect();
    return at;
  }
  void advance(Clock until) override {
    engine_.advance(until);
    collect();
  }
  Clock next_decision() const override { return engine_.idle() ? kNever : engine_.next_decision(); }
  Clock earliest_response() override {
    return engine_.idle() ? kNever : engine_.next_decision() + engine_.read_latency();
  }
  void watch(CommandObserver* observer) override { engine_.watch(observer); }
  Clock notice() const override { return 1; }

 private:
  void collect() {
    for (const auto& burst : done_) {
      if (!burst.write) responses_.push_back({burst.issued + engine_.read_latency(), burst.tag});
    }
    done_.clear();
  }

  std::vector<BurstDone> done_;
  BankQueueEngine engine_;
  Clock free_at_ = 0;
};

}  // namespace

std::unique_ptr<ReplayController> make_controller(const ReplayConfig& config) {
  if (config.policy == ReplayPolicy::kBankQueues) {
    return std::make_unique<BankQueueController>(config);
  }
  return std::make_unique<EngineController>(config.hbm);
}

bool can_replay(const ReplayConfig& config) {
  const HbmTimings& t = config.hbm.timings;
  return config.policy != ReplayPolicy::kBankQueues ||
         (t.pseudo_channels == 1 && t.stacks == 1 && t.act_clocks == 1 && t.trfc_pb == 0);
}

}  // namespace npu::replay
