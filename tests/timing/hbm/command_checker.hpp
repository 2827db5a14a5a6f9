// SPDX-License-Identifier: Apache-2.0
// Watches the commands of one channel and knows nothing but the table: every command is held
// against all earlier ones it must keep a distance from. Times as JEDEC counts them: an ACT of
// several clocks opens its row with its last one.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/config/chip_config.hpp"
#include "model/hbm/command.hpp"

namespace npu::model::test {

class CommandChecker : public hbm::CommandObserver {
 public:
  explicit CommandChecker(const HbmTimings& table) : t_(table) {}

  void on_command(const hbm::Command& command) override {
    ++commands_;
    check_buses(command);
    switch (command.kind) {
      case hbm::CommandKind::kActivate:
        activate(command);
        break;
      case hbm::CommandKind::kPrecharge:
        precharge(command, bank(command));
        break;
      case hbm::CommandKind::kPrechargeAll:
        for_each_bank(command, [&](Bank& b) {
          if (b.open) precharge(command, b);
        });
        break;
      case hbm::CommandKind::kRead:
      case hbm::CommandKind::kWrite:
        column(command);
        break;
      case hbm::CommandKind::kRefresh:
        for_each_bank(command, [&](Bank& b) { refresh(command, b, "tRFC"); });
        break;
      case hbm::CommandKind::kRefreshBank:
        for (const auto at : bank_refreshes_[command.pseudo_channel]) {
          keep(command.at, at, t_.trrefd, "tRREFD");
        }
        refresh(command, bank(command), "tRFCpb");
        bank_refreshes_[command.pseudo_channel] = {command.at};
        break;
    }
  }
  // Broken rules and how often.
  const std::map<std::string, unsigned>& broken() const { return broken_; }
  std::uint64_t commands() const { return commands_; }

 private:
  static constexpr hbm::Clock kLongAgo = -1'000'000;
  struct Bank {
    bool open = false;
    std::uint32_t row = 0;
    hbm::Clock act = kLongAgo, pre = kLongAgo, read = kLongAgo, write = kLongAgo;
    hbm::Clock refresh = kLongAgo;
    const char* refresh_rule = "tRFC";
  };
  Bank& bank(const hbm::Command& c) { return banks_[{c.pseudo_channel, c.stack, c.group, c.bank}]; }
  template <class Function>
  void for_each_bank(const hbm::Command& c, Function function) {
    for (auto& [where, bank] : banks_) {
      if (where[0] == c.pseudo_channel) function(bank);
    }
  }
  void keep(hbm::Clock at, hbm::Clock earlier, std::int64_t distance, const char* rule) {
    if (at - earlier < distance) ++broken_[rule];
  }
  hbm::Clock last_act_clock(hbm::Clock at) const { return at + t_.act_clocks - 1; }
  std::int64_t data_end(const hbm::Command& c) const {  // of a write
    return c.at + t_.cwl + t_.burst_clocks;
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
    const hbm::Clock opens = last_act_clock(c.at);
    keep(c.at, b.act, t_.trc, "tRC");
    keep(opens, b.pre, t_.trp, "tRP");
    keep(opens, b.refresh,
         b.refresh == kLongAgo || b.refresh_rule == std::string("tRFC") ? t_.trfc : t_.trfc_pb,
         b.refresh_rule);
    for (const auto at : bank_refreshes_[c.pseudo_channel]) keep(opens, at, t_.trrefd, "tRREFD");
    auto& acts = acts_[c.pseudo_channel];
    for (const auto& earlier : acts) {
      const bool same = earlier.stack == c.stack && earlier.group == c.group;
      keep(c.at, earlier.at, same ? t_.trrd_l : t_.trrd_s, same ? "tRRD_L" : "tRRD_S");
    }
    if (acts.size() >= 4) keep(c.at, acts[acts.size() - 4].at, t_.tfaw, "tFAW");
    acts.push_back(c);
    if (acts.size() > 8) acts.erase(acts.begin());
    b.open = true;
    b.row = c.row;
    b.act = c.at;
  }

  void precharge(const hbm::Command& c, Bank& b) {
    keep(c.at, last_act_clock(b.act), t_.tras, "tRAS");
    keep(c.at, b.read, t_.trtp, "tRTP");
    keep(c.at, b.write + t_.cwl + t_.burst_clocks, t_.twr, "tWR");
    b.open = false;
    b.pre = c.at;
  }

  void column(const hbm::Command& c) {
    Bank& b = bank(c);
    const bool write = c.kind == hbm::CommandKind::kWrite;
    if (!b.open || b.row != c.row) ++broken_["row not open"];
    keep(c.at, last_act_clock(b.act), write ? t_.trcd_wr : t_.trcd_rd,
         write ? "tRCD_WR" : "tRCD_RD");
    for (const auto& earlier : columns_) keep_column_distance(c, write, earlier);
    columns_.push_back(c);
    if (columns_.size() > 64) columns_.erase(columns_.begin());
    (write ? b.write : b.read) = c.at;
  }

  void keep_column_distance(const hbm::Command& c, bool write, const hbm::Command& earlier) {
    const bool was_write = earlier.kind == hbm::CommandKind::kWrite;
    const bool same_channel = earlier.pseudo_channel == c.pseudo_channel;
    const bool same_group = same_channel && earlier.stack == c.stack && earlier.group == c.group;
    if (!write && !was_write && earlier.stack != c.stack) {
      keep(c.at, earlier.at, t_.tccd_r, "tCCD_R");
    }
    if (!same_channel) return;
    if (write == was_write) {
      keep(c.at, earlier.at, t_.tccd_s, "tCCD_S");
      if (same_group) keep(c.at, earlier.at, t_.tccd_l, "tCCD_L");
    } else if (write) {
      keep(c.at, earlier.at, t_.trtw, "tRTW");
    } else {
      keep(c.at, data_end(earlier), t_.twtr_s, "tWTR_S");
      if (same_group) keep(c.at, data_end(earlier), t_.twtr_l, "tWTR_L");
    }
  }

  void refresh(const hbm::Command& c, Bank& b, const char* rule) {
    if (b.open) ++broken_["refresh of an open bank"];
    keep(c.at, b.pre, t_.trp, "tRP");
    keep(c.at, last_act_clock(b.act), t_.trc, "tRC");
    b.refresh = c.at;
    b.refresh_rule = rule;
  }

  HbmTimings t_;
  std::map<std::array<unsigned, 4>, Bank> banks_;
  std::array<std::vector<hbm::Command>, 2> acts_;
  std::array<std::vector<hbm::Clock>, 2> bank_refreshes_;
  std::vector<hbm::Command> columns_;
  hbm::Clock row_bus_ = kLongAgo, column_bus_ = kLongAgo;
  std::map<std::string, unsigned> broken_;
  std::uint64_t commands_ = 0;
};

}  // namespace npu::model::test
