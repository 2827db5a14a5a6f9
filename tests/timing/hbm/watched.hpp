// SPDX-License-Identifier: Apache-2.0
// A channel engine, by itself or behind its port, and all that can be seen of it: for comparisons
// of one that takes short cuts with one that does not.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "model/hbm/channel.hpp"

namespace npu::model::test {

// By whose they are: when the last one was issued, and how many there were.
inline auto last_served(const std::vector<hbm::BurstDone>& done) {
  std::map<std::pair<std::uint32_t, bool>, std::pair<hbm::Clock, unsigned>> served;
  for (const auto& d : done) {
    auto& [last, bursts] = served[{d.tag, d.write}];
    last = d.issued;
    bursts += d.bursts;
  }
  return served;
}

class LoneEngine {
 public:
  LoneEngine(const HbmConfig& config, std::vector<hbm::BurstDone>& done) : engine_(config, done) {}
  hbm::ChannelEngine& engine() { return engine_; }

 private:
  hbm::ChannelEngine engine_;
};

class EngineBehindPort {
 public:
  EngineBehindPort(const HbmConfig& config, std::vector<hbm::BurstDone>& done)
      : map_(config), channel_(map_) {
    channel_.use(hbm::ChannelEngine(config, done));
  }
  hbm::Channel& channel() { return channel_; }
  hbm::ChannelEngine& engine() { return channel_.engine(); }

 private:
  hbm::AddressMap map_;
  hbm::Channel channel_;
};

template <class Subject>
class Watched : public hbm::CommandObserver {
 public:
  using Command = std::tuple<hbm::Clock, int, int, int, int, int, std::uint32_t>;

  Watched(const HbmConfig& config, bool short_cuts) : subject(config, done) {
    subject.engine().take_short_cuts(short_cuts);
    subject.engine().watch(this);
  }
  // PRE and REF of an idle channel may be skipped; an ACT shows when they ended.
  void on_command(const hbm::Command& c) override {
    using hbm::CommandKind;
    if (c.kind != CommandKind::kActivate && c.kind != CommandKind::kRead &&
        c.kind != CommandKind::kWrite) {
      return;
    }
    commands.emplace_back(c.at, static_cast<int>(c.kind), c.pseudo_channel, c.stack, c.group,
                          c.bank, c.row);
    if (c.kind != CommandKind::kActivate) columns.push_back(commands.back());
  }
  auto served() const { return last_served(done); }
  auto counts() {
    const auto& c = subject.engine().counts();
    return std::make_tuple(c.reads, c.writes, c.row_hits, c.activates, c.precharges, c.refreshes);
  }
  auto bus(unsigned pseudo_channel, hbm::Clock now) {
    const auto& b = subject.engine().bus(pseudo_channel, now);
    return std::make_tuple(b.data, b.idle, b.refresh, b.turnaround, b.row, b.column);
  }

  std::vector<hbm::BurstDone> done;
  Subject subject;
  std::vector<Command> commands;
  std::vector<Command> columns;  // RDs and WRs of them
};

}  // namespace npu::model::test
