// SPDX-License-Identifier: Apache-2.0
// Watches the commands of one channel and knows nothing but the table and
// the rules: every command is held
// against all earlier ones it must keep a distance from. Times as JEDEC counts them: an ACT of
// several clocks opens its row with its last one.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/timing/hbm/rules.hpp"

namespace npu::model::test {

class CommandChecker : public hbm::CommandObserver {
 public:
  explicit CommandChecker(const HbmTimings& table) : t_(table) {}

  void on_command(const hbm::Command& command) override {
    ++commands_;
    check_buses(command);
    switch (command.kind) {
      case Kind::kActivate:
        activate(command);
        break;
      case Kind::kPrecharge:
        precharge(command, bank(command));
        break;
      case Kind::kPrechargeAll:
        for_each_bank(command, [&](const hbm::Command& c, Bank& b) {
          if (b.open) precharge(c, b);
        });
        break;
      case Kind::kRead:
      case Kind::kWrite:
        column(command);
        break;
      case Kind::kRefresh:
        for_each_bank(command, [&](const hbm::Command& c, Bank& b) { check_refresh(c, b); });
        for_each_bank(command, [](const hbm::Command& c, Bank& b) { b.record(c); });
        break;
      case Kind::kRefreshBank:
        check_refresh(command, bank(command));
        bank(command).record(command);
        break;
    }
  }
  // Broken rules and how often.
  const std::map<std::string, unsigned>& broken() const { return broken_; }
  std::uint64_t commands() const { return commands_; }

 private:
  static constexpr hbm::Clock kLongAgo = -1'000'000;
  using Place = std::array<std::uint8_t, 4>;  // pseudo channel, stack, group, bank
  struct Bank {
    bool open = false;
    std::uint32_t row = 0;
    std::array<hbm::Clock, 7> last{kLongAgo, kLongAgo, kLongAgo, kLongAgo,
                                   kLongAgo, kLongAgo, kLongAgo};

    void record(const hbm::Command& c) { last[static_cast<std::size_t>(c.kind)] = c.at; }
  };
  static Place place(const hbm::Command& c) { return {c.pseudo_channel, c.stack, c.group, c.bank}; }
  Bank& bank(const hbm::Command& c) { return banks_[place(c)]; }
  // With the command as if it were for that bank alone.
  template <class Function>
  void for_each_bank(hbm::Command c, Function function) {
    for (auto& [where, bank] : banks_) {
      if (where[0] != c.pseudo_channel) continue;
      c.stack = where[1], c.group = where[2], c.bank = where[3];
      function(c, bank);
    }
  }
  void keep(hbm::Clock at, hbm::Clock earlier, std::int64_t distance, const char* rule) {
    if (at - earlier < distance) ++broken_[rule];
  }
  hbm::Clock last_act_clock(hbm::Clock at) const { return at + t_.act_clocks - 1; }

  static bool concerns(const Rule& rule, const Place& earlier, const Place& later) {
    switch (rule.among) {
      case Among::kBank:
        return earlier == later;
      case Among::kGroup:
        return std::equal(earlier.begin(), earlier.begin() + 3, later.begin());
      case Among::kPseudoChannel:
        return earlier[0] == later[0];
      case Among::kOtherStacks:
        return earlier[1] != later[1];
      case Among::kFourth:
        break;
    }
    return false;
  }
  void check_rule(const Rule& rule, const hbm::Command& c, hbm::Clock at) {
    const hbm::Clock clocks = distance(rule, t_, t_.act_clocks - 1);
    if (rule.among == Among::kFourth) {
      const auto& acts = acts_[c.pseudo_channel];
      if (acts.size() >= 4) keep(at, acts[acts.size() - 4], clocks, rule.name);
      return;
    }
    const auto from = static_cast<std::size_t>(rule.from);
    for (const auto& [where, earlier] : banks_) {
      if (concerns(rule, where, place(c))) keep(at, earlier.last[from], clocks, rule.name);
    }
  }
  void check_rules(const hbm::Command& c) {
    const hbm::Clock at = c.kind == Kind::kActivate ? last_act_clock(c.at) : c.at;
    for (const auto& rule : kRules) {
      if (rule.to == c.kind && t_.*rule.clocks != 0) check_rule(rule, c, at);
    }
  }
  // A refresh waits for its bank as an ACT does, and for other refreshes.
  void check_refresh(const hbm::Command& c, const Bank& b) {
    if (b.open) ++broken_["refresh of an open bank"];
    for (const auto& rule : kRules) {
      if (rule.to == Kind::kActivate && holds_refresh(rule) && t_.*rule.clocks != 0) {
        check_rule(rule, c, c.at);
      }
    }
  }

  void check_buses(const hbm::Command& c) {
    const bool is_column = c.kind == hbm::CommandKind::kRead || c.kind == hbm::CommandKind::kWrite;
    auto& free_at = is_column ? column_bus_ : row_bus_;
    if (c.at < free_at) ++broken_[is_column ? "column bus" : "row bus"];
    free_at = c.kind == hbm::CommandKind::kActivate ? last_act_clock(c.at) + 1 : c.at + 1;
  }

  void activate(const hbm::Command& c) {
    Bank& b = bank(c);
    if (b.open) ++broken_["ACT of an open bank"];
    check_rules(c);
    auto& acts = acts_[c.pseudo_channel];
    acts.push_back(c.at);
    if (acts.size() > 8) acts.erase(acts.begin());
    b.open = true;
    b.row = c.row;
    b.record(c);
  }

  void precharge(hbm::Command c, Bank& b) {
    c.kind = Kind::kPrecharge;
    check_rules(c);
    b.open = false;
    b.record(c);
  }

  void column(const hbm::Command& c) {
    Bank& b = bank(c);
    if (!b.open || b.row != c.row) ++broken_["row not open"];
    check_rules(c);
    b.record(c);
  }

  HbmTimings t_;
  std::map<Place, Bank> banks_;
  std::array<std::vector<hbm::Clock>, 2> acts_;
  hbm::Clock row_bus_ = kLongAgo, column_bus_ = kLongAgo;
  std::map<std::string, unsigned> broken_;
  std::uint64_t commands_ = 0;
};

}  // namespace npu::model::test
