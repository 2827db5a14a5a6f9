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
  const char* doc;
  std::array<DramRule, 2> rules = {};  // every one in the places of model/hbm/constraints.cpp
};

namespace dram {

using C = DramCommand;
using S = DramScope;
using T = HbmTimings;

inline constexpr HbmTiming kHbmTimings[] = {
    {"trcd_rd_clocks", &T::trcd_rd, 1, 200, "ACT to RD", {{{S::kBank, C::kActivate, C::kRead}}}},
    {"trcd_wr_clocks", &T::trcd_wr, 1, 200, "ACT to WR", {{{S::kBank, C::kActivate, C::kWrite}}}},
    {"trp_clocks", &T::trp, 1, 200, "PRE to ACT", {{{S::kBank, C::kPrecharge, C::kActivate}}}},
    {"tras_clocks", &T::tras, 1, 200, "ACT to PRE", {{{S::kBank, C::kActivate, C::kPrecharge}}}},
    {"trc_clocks",
     &T::trc,
     1,
     400,
     "ACT to ACT of one bank; at least tRAS + tRP",
     {{{S::kBank, C::kActivate, C::kActivate}}}},
    {"cl_clocks", &T::cl, 1, 200, "RD to data"},
    {"cwl_clocks", &T::cwl, 1, 200, "WR to data"},
    {"tdqsck_clocks", &T::tdqsck, 0, 20, "extra clocks until read data are at the pins"},
    {"tccd_s_clocks",
     &T::tccd_s,
     1,
     50,
     "column to column, other bank group",
     {{{S::kPseudoChannel, C::kRead, C::kRead}, {S::kPseudoChannel, C::kWrite, C::kWrite}}}},
    {"tccd_l_clocks",
     &T::tccd_l,
     1,
     50,
     "column to column, same bank group",
     {{{S::kGroup, C::kRead, C::kRead}, {S::kGroup, C::kWrite, C::kWrite}}}},
    {"tccd_r_clocks",
     &T::tccd_r,
     0,
     50,
     "RD to RD of another stack id; 0: no such rule",
     {{{S::kOtherStacks, C::kRead, C::kRead}}}},
    {"trrd_s_clocks",
     &T::trrd_s,
     1,
     50,
     "ACT to ACT, other bank group",
     {{{S::kPseudoChannel, C::kActivate, C::kActivate}}}},
    {"trrd_l_clocks",
     &T::trrd_l,
     1,
     50,
     "ACT to ACT, same bank group",
     {{{S::kGroup, C::kActivate, C::kActivate}}}},
    {"tfaw_clocks",
     &T::tfaw,
     1,
     200,
     "window of four ACTs",
     {{{S::kFourth, C::kActivate, C::kActivate}}}},
    {"twr_clocks",
     &T::twr,
     1,
     200,
     "end of write data to PRE",
     {{{S::kBank, C::kWrite, C::kPrecharge, true}}}},
    {"twtr_s_clocks",
     &T::twtr_s,
     1,
     100,
     "end of write data to RD, other bank group",
     {{{S::kPseudoChannel, C::kWrite, C::kRead, true}}}},
    {"twtr_l_clocks",
     &T::twtr_l,
     1,
     100,
     "end of write data to RD, same bank group",
     {{{S::kGroup, C::kWrite, C::kRead, true}}}},
    {"trtp_clocks", &T::trtp, 1, 100, "RD to PRE", {{{S::kBank, C::kRead, C::kPrecharge}}}},
    {"trtw_clocks", &T::trtw, 1, 100, "RD to WR", {{{S::kPseudoChannel, C::kRead, C::kWrite}}}},
    {"trfc_clocks",
     &T::trfc,
     1,
     5'000,
     "all-bank refresh",
     {{{S::kPseudoChannel, C::kRefresh, C::kActivate}}}},
    {"trefi_clocks", &T::trefi, 1, 100'000, "from one all-bank refresh to the next"},
    {"trfc_pb_clocks",
     &T::trfc_pb,
     0,
     5'000,
     "per-bank refresh; 0: all-bank is used",
     {{{S::kBank, C::kRefreshBank, C::kActivate}}}},
    {"trefi_pb_clocks", &T::trefi_pb, 0, 100'000, "from one per-bank refresh to the next"},
    {"trrefd_clocks",
     &T::trrefd,
     0,
     200,
     "REFpb to ACT or REFpb of another bank",
     {{{S::kPseudoChannel, C::kRefreshBank, C::kActivate},
       {S::kPseudoChannel, C::kRefreshBank, C::kRefreshBank}}}},
    {"act_clocks", &T::act_clocks, 1, 4, "an ACT on the row command bus"},
};

}  // namespace dram
using dram::kHbmTimings;

}  // namespace npu::model
