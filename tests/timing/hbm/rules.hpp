// SPDX-License-Identifier: Apache-2.0
// The rules between the commands of a DRAM, typed in from the standards (JESD235, JESD238) and not
// taken from the model: what `CommandChecker` and `PlainController` know, and with what value each
// is held at n and n - 1. Times as JEDEC counts them: an ACT of several clocks opens its row with
// its last one.
#pragma once

#include "model/config/chip_config.hpp"
#include "model/hbm/command.hpp"

namespace npu::model::test {

using Kind = hbm::CommandKind;

enum class Among { kBank, kGroup, kPseudoChannel, kOtherStacks, kFourth };

struct Rule {
  const char* name;
  unsigned HbmTimings::*clocks;
  Kind from, to;
  Among among;
  bool after_data;  // of a WR
  unsigned held;    // large enough to be what holds a command back
};

inline constexpr Rule kRules[] = {
    {"tRCD_RD", &HbmTimings::trcd_rd, Kind::kActivate, Kind::kRead, Among::kBank, false, 12},
    {"tRCD_WR", &HbmTimings::trcd_wr, Kind::kActivate, Kind::kWrite, Among::kBank, false, 6},
    {"tRP", &HbmTimings::trp, Kind::kPrecharge, Kind::kActivate, Among::kBank, false, 14},
    {"tRAS", &HbmTimings::tras, Kind::kActivate, Kind::kPrecharge, Among::kBank, false, 60},
    {"tRC", &HbmTimings::trc, Kind::kActivate, Kind::kActivate, Among::kBank, false, 90},
    {"tCCD_S", &HbmTimings::tccd_s, Kind::kRead, Kind::kRead, Among::kPseudoChannel, false, 2},
    {"tCCD_S", &HbmTimings::tccd_s, Kind::kWrite, Kind::kWrite, Among::kPseudoChannel, false, 0},
    {"tCCD_L", &HbmTimings::tccd_l, Kind::kRead, Kind::kRead, Among::kGroup, false, 6},
    {"tCCD_L", &HbmTimings::tccd_l, Kind::kWrite, Kind::kWrite, Among::kGroup, false, 0},
    {"tCCD_R", &HbmTimings::tccd_r, Kind::kRead, Kind::kRead, Among::kOtherStacks, false, 5},
    {"tRRD_S", &HbmTimings::trrd_s, Kind::kActivate, Kind::kActivate, Among::kPseudoChannel, false,
     5},
    {"tRRD_L", &HbmTimings::trrd_l, Kind::kActivate, Kind::kActivate, Among::kGroup, false, 9},
    {"tFAW", &HbmTimings::tfaw, Kind::kActivate, Kind::kActivate, Among::kFourth, false, 40},
    {"tWR", &HbmTimings::twr, Kind::kWrite, Kind::kPrecharge, Among::kBank, true, 14},
    {"tWTR_S", &HbmTimings::twtr_s, Kind::kWrite, Kind::kRead, Among::kPseudoChannel, true, 4},
    {"tWTR_L", &HbmTimings::twtr_l, Kind::kWrite, Kind::kRead, Among::kGroup, true, 12},
    {"tRTP", &HbmTimings::trtp, Kind::kRead, Kind::kPrecharge, Among::kBank, false, 30},
    {"tRTW", &HbmTimings::trtw, Kind::kRead, Kind::kWrite, Among::kPseudoChannel, false, 18},
    {"tRFC", &HbmTimings::trfc, Kind::kRefresh, Kind::kActivate, Among::kPseudoChannel, false, 220},
    {"tRFCpb", &HbmTimings::trfc_pb, Kind::kRefreshBank, Kind::kActivate, Among::kBank, false, 160},
    {"tRREFD", &HbmTimings::trrefd, Kind::kRefreshBank, Kind::kActivate, Among::kPseudoChannel,
     false, 30},
};

// Clocks from the first clock of the one command; `act_extra`: of an ACT beyond its first.
inline hbm::Clock distance(const Rule& rule, const HbmTimings& t, hbm::Clock act_extra) {
  const hbm::Clock data = rule.after_data ? hbm::Clock{t.cwl} + t.burst_clocks : 0;
  return t.*rule.clocks + data + (rule.from == Kind::kActivate ? act_extra : 0);
}

// A refresh waits for its bank as an ACT does, and for other refreshes.
inline bool holds_refresh(const Rule& rule) {
  return rule.among == Among::kBank || rule.from == Kind::kRefresh ||
         rule.from == Kind::kRefreshBank;
}

}  // namespace npu::model::test
