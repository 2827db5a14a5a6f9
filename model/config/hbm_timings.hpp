// SPDX-License-Identifier: Apache-2.0
// A DRAM standard (configs/hbm/*.yaml): organisation and timings, in clocks unless said otherwise.
// What a timing keeps apart is a row of kHbmTimings, from which its key and what the controllers
// observe are made: a new one is a member and a row.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "npu/base/units.hpp"

namespace npu::model {

struct HbmTimings {
  std::string name;
  std::uint64_t clock_hz;    // of the command bus
  unsigned pseudo_channels;  // per channel: 1 or 2
  unsigned stacks;           // stack ids per pseudo channel
  unsigned bank_groups;      // per stack id
  unsigned banks_per_group;
  Bytes burst;            // data of one RD or WR
  unsigned burst_clocks;  // BL/2: clocks a burst occupies its pseudo channel's data bus
  Bytes row;              // page size per pseudo channel
  unsigned trcd_rd, trcd_wr, trp, tras, trc, cl, cwl, tdqsck;
  unsigned tccd_s, tccd_l, tccd_r;
  unsigned trrd_s, trrd_l, tfaw, twr, twtr_s, twtr_l, trtp, trtw;
  unsigned trfc, trefi, trfc_pb, trefi_pb, trrefd, act_clocks;
};

enum class DramCommand : std::uint8_t {
  kActivate,      // ACT; occupies the row bus act_clocks clocks
  kPrecharge,     // PRE
  kPrechargeAll,  // PREab: all banks of the pseudo channel
  kRead,          // RD
  kWrite,         // WR
  kRefresh,       // REF: all banks of the pseudo channel
  kRefreshBank,   // REFpb
};

// Which commands wait for the earlier one.
enum class DramScope : std::uint8_t {
  kNone,           // there is no such rule
  kBank,           // those to its bank
  kGroup,          // to its bank group
  kPseudoChannel,  // to its pseudo channel
  kOtherStacks,    // to other stack ids of the channel
  kFourth,         // the fourth ACT after it in the pseudo channel
};

// A distance from one command to another, the row bus' ACTs by their last clocks.
struct DramRule {
  DramScope scope = DramScope::kNone;
  DramCommand from = {}, to = {};
  bool after_data = false;  // it counts from the end of a WR's data
};

struct HbmTiming {
  const char* key;
  unsigned HbmTimings::*clocks;
  unsigned least, most;
  std::array<DramRule, 2> rules;  // every one in the places of model/hbm/constraints.cpp
  const char* doc;
};

namespace dram {

using T = HbmTimings;
constexpr auto kAct = DramCommand::kActivate, kPre = DramCommand::kPrecharge;
constexpr auto kRd = DramCommand::kRead, kWr = DramCommand::kWrite;
constexpr auto kRef = DramCommand::kRefresh, kRefPb = DramCommand::kRefreshBank;
constexpr auto kBank = DramScope::kBank, kGroup = DramScope::kGroup, kFourth = DramScope::kFourth;
constexpr auto kPseudo = DramScope::kPseudoChannel, kOther = DramScope::kOtherStacks;

using Rules = std::array<DramRule, 2>;
constexpr Rules rule(DramScope scope, DramCommand from, DramCommand to) {
  return {{{scope, from, to}}};
}
constexpr Rules after_data(DramScope scope, DramCommand to) {
  return {{{scope, kWr, to, true}}};
}
constexpr Rules of_columns(DramScope scope) {
  return {{{scope, kRd, kRd}, {scope, kWr, kWr}}};
}

inline constexpr HbmTiming kHbmTimings[] = {
    {"trcd_rd_clocks", &T::trcd_rd, 1, 200, rule(kBank, kAct, kRd), "ACT to RD"},
    {"trcd_wr_clocks", &T::trcd_wr, 1, 200, rule(kBank, kAct, kWr), "ACT to WR"},
    {"trp_clocks", &T::trp, 1, 200, rule(kBank, kPre, kAct), "PRE to ACT"},
    {"tras_clocks", &T::tras, 1, 200, rule(kBank, kAct, kPre), "ACT to PRE"},
    {"trc_clocks", &T::trc, 1, 400, rule(kBank, kAct, kAct),
     "ACT to ACT of one bank; at least tRAS + tRP"},
    {"cl_clocks", &T::cl, 1, 200, {}, "RD to data"},
    {"cwl_clocks", &T::cwl, 1, 200, {}, "WR to data"},
    {"tdqsck_clocks", &T::tdqsck, 0, 20, {}, "extra clocks until read data are at the pins"},
    {"tccd_s_clocks", &T::tccd_s, 1, 50, of_columns(kPseudo), "column to column, other bank group"},
    {"tccd_l_clocks", &T::tccd_l, 1, 50, of_columns(kGroup), "column to column, same bank group"},
    {"tccd_r_clocks", &T::tccd_r, 0, 50, rule(kOther, kRd, kRd),
     "RD to RD of another stack id; 0: no such rule"},
    {"trrd_s_clocks", &T::trrd_s, 1, 50, rule(kPseudo, kAct, kAct), "ACT to ACT, other bank group"},
    {"trrd_l_clocks", &T::trrd_l, 1, 50, rule(kGroup, kAct, kAct), "ACT to ACT, same bank group"},
    {"tfaw_clocks", &T::tfaw, 1, 200, rule(kFourth, kAct, kAct), "window of four ACTs"},
    {"twr_clocks", &T::twr, 1, 200, after_data(kBank, kPre), "end of write data to PRE"},
    {"twtr_s_clocks", &T::twtr_s, 1, 100, after_data(kPseudo, kRd),
     "end of write data to RD, other bank group"},
    {"twtr_l_clocks", &T::twtr_l, 1, 100, after_data(kGroup, kRd),
     "end of write data to RD, same bank group"},
    {"trtp_clocks", &T::trtp, 1, 100, rule(kBank, kRd, kPre), "RD to PRE"},
    {"trtw_clocks", &T::trtw, 1, 100, rule(kPseudo, kRd, kWr), "RD to WR"},
    {"trfc_clocks", &T::trfc, 1, 5'000, rule(kPseudo, kRef, kAct), "all-bank refresh"},
    {"trefi_clocks", &T::trefi, 1, 100'000, {}, "from one all-bank refresh to the next"},
    {"trfc_pb_clocks", &T::trfc_pb, 0, 5'000, rule(kBank, kRefPb, kAct),
     "per-bank refresh; 0: all-bank is used"},
    {"trefi_pb_clocks", &T::trefi_pb, 0, 100'000, {}, "from one per-bank refresh to the next"},
    {"trrefd_clocks", &T::trrefd, 0, 200,
     Rules{{{kPseudo, kRefPb, kAct}, {kPseudo, kRefPb, kRefPb}}},
     "REFpb to ACT or REFpb of another bank"},
    {"act_clocks", &T::act_clocks, 1, 4, {}, "an ACT on the row command bus"},
};

}  // namespace dram
using dram::kHbmTimings;

}  // namespace npu::model
