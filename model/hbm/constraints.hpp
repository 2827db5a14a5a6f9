// SPDX-License-Identifier: Apache-2.0
// What a table of timings forbids for how long, in clocks from the first clock of a command to the
// first one of another: those that JEDEC counts from the end of an ACT of several clocks are longer
// by its extra clocks, those up to an ACT shorter. Several rules of one place: the longest.
#pragma once

#include <array>

#include "model/config/hbm_timings.hpp"
#include "model/hbm/command.hpp"

namespace npu::model::hbm {

struct Constraints {
  static constexpr Clock kNone = -32'000;  // no rule

  explicit Constraints(const HbmTimings& timings);

  // Of a bank.
  std::array<Clock, 2> act_to_column;  // to RD, to WR
  Clock act_to_act, act_to_pre, pre_to_act, read_to_pre, write_to_pre, refresh_bank_to_act;
  // Of a bank group.
  Clock group_act_to_act, group_read_to_read, group_write_to_read, group_write_to_write;
  // Of a pseudo channel.
  Clock any_act_to_act, four_acts, refresh_to_act, refresh_bank_to_any_act;
  Clock refresh_bank_to_refresh_bank;
  // From RD, WR to RD, WR.
  using Columns = std::array<std::array<Clock, 2>, 2>;
  Columns columns, columns_of_other_stacks;
};

}  // namespace npu::model::hbm
