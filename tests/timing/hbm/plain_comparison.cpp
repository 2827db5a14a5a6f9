// SPDX-License-Identifier: Apache-2.0
#include "tests/timing/hbm/plain_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/timing/hbm/plain_account.hpp"

namespace npu::model::test {
namespace {

using hbm::Clock;
using hbm::Command;
using hbm::CommandKind;

const char* name_of(CommandKind kind) {
  constexpr const char* kNames[] = {"ACT", "PRE", "PREab", "RD", "WR", "REF", "REFpb"};
  return kNames[static_cast<std::size_t>(kind)];
}

// A command as text, so that a difference reads well; `position` sorts it.
std::string text_of(const Command& c) {
  const bool all = c.kind == CommandKind::kPrechargeAll || c.kind == CommandKind::kRefresh;
  const bool row = c.kind != CommandKind::kPrecharge && c.kind != CommandKind::kRefreshBank;
  std::string text =
      std::to_string(c.at) + " " + name_of(c.kind) + " pc" + std::to_string(c.pseudo_channel);
  if (all) return text;
  text += " bank " + std::to_string(c.stack) + "." + std::to_string(c.group) + "." +
          std::to_string(c.bank);
  return row ? text + " row " + std::to_string(c.row) : text;
}

bool of_a_burst(CommandKind kind) {
  return kind == CommandKind::kActivate || kind == CommandKind::kRead ||
         kind == CommandKind::kWrite;
}

std::vector<hbm::BusClocks> plain_buses(const HbmConfig& config, const PlainController& controller,
                                        const std::vector<PlainArrival>& traffic,
                                        const std::vector<Clock>& accepted, Clock end) {
  std::vector<PlainAccount> accounts;
  for (unsigned p = 0; p < config.timings.pseudo_channels; ++p) accounts.emplace_back(config, p);
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    accounts[traffic[i].burst.at.pseudo_channel].accepted(accepted[i]);
  }
  std::size_t served = 0;
  for (const auto& command : controller.commands()) {
    const bool column = command.kind == CommandKind::kRead || command.kind == CommandKind::kWrite;
    const Clock from = column ? accepted[controller.done()[served++].tag] : 0;
    accounts[command.pseudo_channel].command(command, from);
  }
  std::vector<hbm::BusClocks> buses;
  buses.reserve(accounts.size());
  for (const auto& account : accounts) buses.push_back(account.finish(end));
  return buses;
}

}  // namespace

Outcome run_plain(const HbmConfig& config, const std::vector<PlainArrival>& traffic) {
  PlainController controller(config);
  std::vector<Clock> accepted;
  Clock now = 0;
  // On after the last burst until the refreshes that fell due during it have been issued.
  Clock end = traffic.back().from + 10'000;
  const Clock deadline = end + 1000 * static_cast<Clock>(traffic.size());
  for (; now <= end; ++now) {
    controller.tick(now);
    const bool busy = !controller.idle() || accepted.size() < traffic.size();
    if (busy) end = std::max(end, now + 2'000);
    if (now > deadline) {
      ADD_FAILURE() << "bursts wait for ever";
      break;
    }
    const std::size_t next = accepted.size();
    if (next == traffic.size() || traffic[next].from > now) continue;
    if (!controller.room(traffic[next].burst.write)) continue;
    controller.accept(traffic[next].burst);
    accepted.push_back(now);
  }
  // The last clock that was looked at; the accounts end when the last data has surely moved.
  const Clock last = now - 1;
  return {last,
          controller.commands(),
          controller.done(),
          controller.counts(),
          plain_buses(config, controller, traffic, accepted, last + 100),
          0};
}

namespace {

class Engine : public hbm::CommandObserver {
 public:
  Engine(const HbmConfig& config, bool short_cuts)
      : engine_(config, outcome_.done), pseudo_channels_(config.timings.pseudo_channels) {
    engine_.take_short_cuts(short_cuts);
    engine_.watch(this);
  }
  void on_command(const Command& command) override { outcome_.commands.push_back(command); }

  Outcome run(const std::vector<PlainArrival>& traffic, Clock end) {
    outcome_.end = end;
    for (const auto& arrival : traffic) enter(arrival);
    while (!engine_.idle()) engine_.step();
    engine_.advance(end);
    outcome_.counts = engine_.counts();
    for (unsigned p = 0; p < pseudo_channels_; ++p) {
      outcome_.buses.push_back(engine_.bus(p, end + 100));
    }
    return std::move(outcome_);
  }

 private:
  void enter(const PlainArrival& arrival) {
    const auto& [bank, row, tag, write] = arrival.burst;
    Clock at = std::max(arrival.from, port_free_);
    if (tag % 7 == 0) engine_.advance(std::max(port_free_, at - 1));
    engine_.advance(at);
    while (!engine_.room(write)) {
      at = engine_.next_decision();
      engine_.step();
    }
    check_bound();
    const auto lane = engine_.lane(bank.pseudo_channel, bank.stack, bank.group, bank.bank);
    engine_.accept({row, tag, lane, write}, at);
    port_free_ = at + 1;
    served_ = outcome_.done.size();
    bound_ = engine_.earliest_service();
  }
  // What was served since the last arrival came no earlier than announced then.
  void check_bound() {
    if (served_ < outcome_.done.size() && outcome_.done[served_].issued < bound_) ++outcome_.early;
  }

  Outcome outcome_;
  hbm::ChannelEngine engine_;
  unsigned pseudo_channels_;
  Clock port_free_ = 0;  // it takes one burst per clock
  std::size_t served_ = 0;
  Clock bound_ = 0;
};

std::vector<std::string> texts_of(std::vector<Command> commands, bool all) {
  if (!all) {
    commands.erase(std::remove_if(commands.begin(), commands.end(),
                                  [](const Command& c) { return !of_a_burst(c.kind); }),
                   commands.end());
  }
  // Commands of one clock come in any order.
  std::stable_sort(commands.begin(), commands.end(), [](const Command& a, const Command& b) {
    return std::tie(a.at, a.kind) < std::tie(b.at, b.kind);
  });
  std::vector<std::string> texts;
  texts.reserve(commands.size());
  for (const auto& command : commands) texts.push_back(text_of(command));
  return texts;
}

// Three lines before the first difference, and what either side says then.
std::string difference(const std::vector<std::string>& engine,
                       const std::vector<std::string>& plain) {
  std::size_t i = 0;
  while (i < std::min(engine.size(), plain.size()) && engine[i] == plain[i]) ++i;
  if (i == engine.size() && i == plain.size()) return {};
  std::string text;
  for (std::size_t k = i < 12 ? 0 : i - 12; k < i; ++k) text += "  both   " + plain[k] + "\n";
  for (std::size_t k = i; k < i + 4; ++k) {
    text += "  engine " + (k < engine.size() ? engine[k] : "ends") + "   plain " +
            (k < plain.size() ? plain[k] : "ends") + "\n";
  }
  return text;
}

std::vector<std::string> bursts_of(const Outcome& outcome) {
  std::vector<std::string> texts;
  for (const auto& d : outcome.done) {
    texts.push_back(std::to_string(d.issued) + " burst " + std::to_string(d.tag) +
                    (d.write ? " written" : " read"));
  }
  return texts;
}

auto as_tuple(const hbm::ChannelCounts& c) {
  return std::make_tuple(c.reads, c.writes, c.row_hits, c.activates, c.precharges, c.refreshes);
}

void expect_same_buses(const std::vector<hbm::BusClocks>& engine,
                       const std::vector<hbm::BusClocks>& plain) {
  for (std::size_t p = 0; p < plain.size(); ++p) {
    const auto& a = engine[p];
    const auto& b = plain[p];
    EXPECT_EQ(a.data, b.data);
    EXPECT_EQ(a.idle, b.idle);
    EXPECT_EQ(a.refresh, b.refresh);
    EXPECT_EQ(a.turnaround, b.turnaround);
    EXPECT_EQ(a.row, b.row);
    EXPECT_EQ(a.column, b.column);
  }
}

}  // namespace

void expect_equal(const HbmConfig& config, const std::vector<PlainArrival>& traffic,
                  const Outcome& plain) {
  ASSERT_EQ(plain.done.size(), traffic.size());
  for (const bool short_cuts : {false, true}) {
    SCOPED_TRACE(short_cuts ? "with short cuts" : "without short cuts");
    const Outcome engine = Engine(config, short_cuts).run(traffic, plain.end);
    // PRE and REF of an idle channel may be skipped by a short cut.
    const bool all = !short_cuts;
    ASSERT_EQ(difference(texts_of(engine.commands, all), texts_of(plain.commands, all)), "");
    ASSERT_EQ(difference(bursts_of(engine), bursts_of(plain)), "");
    ASSERT_EQ(as_tuple(engine.counts), as_tuple(plain.counts));
    ASSERT_EQ(engine.early, 0U);
    expect_same_buses(engine.buses, plain.buses);
  }
}

}  // namespace npu::model::test
