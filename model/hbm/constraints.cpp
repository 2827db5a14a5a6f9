// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/constraints.hpp"

#include <algorithm>

namespace npu::model::hbm {
namespace {

using C = CommandKind;
using S = DramScope;

struct Place {
  S scope;
  C from, to;
  Clock& (*clocks)(Constraints&);
};

template <Clock Constraints::*kMember>
Clock& in(Constraints& c) {
  return c.*kMember;
}
template <unsigned kTo>
Clock& column(Constraints& c) {
  return c.act_to_column[kTo];
}
template <Constraints::Columns Constraints::*kMember, unsigned kFrom, unsigned kTo>
Clock& columns(Constraints& c) {
  return (c.*kMember)[kFrom][kTo];
}

// What the controllers observe.
constexpr Place kPlaces[] = {
    {S::kBank, C::kActivate, C::kRead, column<0>},
    {S::kBank, C::kActivate, C::kWrite, column<1>},
    {S::kBank, C::kActivate, C::kActivate, in<&Constraints::act_to_act>},
    {S::kBank, C::kActivate, C::kPrecharge, in<&Constraints::act_to_pre>},
    {S::kBank, C::kPrecharge, C::kActivate, in<&Constraints::pre_to_act>},
    {S::kBank, C::kRead, C::kPrecharge, in<&Constraints::read_to_pre>},
    {S::kBank, C::kWrite, C::kPrecharge, in<&Constraints::write_to_pre>},
    {S::kBank, C::kRefreshBank, C::kActivate, in<&Constraints::refresh_bank_to_act>},
    {S::kGroup, C::kActivate, C::kActivate, in<&Constraints::group_act_to_act>},
    {S::kGroup, C::kRead, C::kRead, in<&Constraints::group_read_to_read>},
    {S::kGroup, C::kWrite, C::kRead, in<&Constraints::group_write_to_read>},
    {S::kGroup, C::kWrite, C::kWrite, in<&Constraints::group_write_to_write>},
    {S::kPseudoChannel, C::kActivate, C::kActivate, in<&Constraints::any_act_to_act>},
    {S::kFourth, C::kActivate, C::kActivate, in<&Constraints::four_acts>},
    {S::kPseudoChannel, C::kRefresh, C::kActivate, in<&Constraints::refresh_to_act>},
    {S::kPseudoChannel, C::kRefreshBank, C::kActivate, in<&Constraints::refresh_bank_to_any_act>},
    {S::kPseudoChannel, C::kRefreshBank, C::kRefreshBank,
     in<&Constraints::refresh_bank_to_refresh_bank>},
    {S::kPseudoChannel, C::kRead, C::kRead, columns<&Constraints::columns, 0, 0>},
    {S::kPseudoChannel, C::kRead, C::kWrite, columns<&Constraints::columns, 0, 1>},
    {S::kPseudoChannel, C::kWrite, C::kRead, columns<&Constraints::columns, 1, 0>},
    {S::kPseudoChannel, C::kWrite, C::kWrite, columns<&Constraints::columns, 1, 1>},
    {S::kOtherStacks, C::kRead, C::kRead, columns<&Constraints::columns_of_other_stacks, 0, 0>},
    {S::kOtherStacks, C::kRead, C::kWrite, columns<&Constraints::columns_of_other_stacks, 0, 1>},
    {S::kOtherStacks, C::kWrite, C::kRead, columns<&Constraints::columns_of_other_stacks, 1, 0>},
    {S::kOtherStacks, C::kWrite, C::kWrite, columns<&Constraints::columns_of_other_stacks, 1, 1>},
};

constexpr bool fits(const Place& place, const DramRule& rule) {
  return place.scope == rule.scope && place.from == rule.from && place.to == rule.to;
}

constexpr bool every_rule_has_a_place() {
  for (const auto& timing : kHbmTimings) {
    for (const auto& rule : timing.rules) {
      bool found = rule.scope == S::kNone;
      for (const auto& place : kPlaces) found = found || fits(place, rule);
      if (!found) return false;
    }
  }
  return true;
}
static_assert(every_rule_has_a_place(), "a rule of kHbmTimings that no controller observes");

}  // namespace

Constraints::Constraints(const HbmTimings& timings) {
  const Clock act_extra = Clock{timings.act_clocks} - 1;
  const auto extra = [&](C command) { return command == C::kActivate ? act_extra : 0; };
  for (const auto& place : kPlaces) place.clocks(*this) = kNone;
  for (const auto& timing : kHbmTimings) {
    if (timings.*timing.clocks == 0) continue;  // there is no such rule
    for (const auto& rule : timing.rules) {
      for (const auto& place : kPlaces) {
        if (!fits(place, rule)) continue;
        const Clock data = rule.after_data ? Clock{timings.cwl} + timings.burst_clocks : 0;
        const Clock clocks = timings.*timing.clocks + data + extra(rule.from) - extra(rule.to);
        place.clocks(*this) = std::max(place.clocks(*this), clocks);
      }
    }
  }
}

}  // namespace npu::model::hbm
