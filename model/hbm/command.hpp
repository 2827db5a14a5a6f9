// SPDX-License-Identifier: Apache-2.0
// What a channel's controller sends to the DRAM, for whoever watches (tests, command traces).
#pragma once

#include <cstdint>

#include "model/config/hbm_timings.hpp"

namespace npu::model::hbm {

// A clock edge of the command bus, counted from the start of simulation.
using Clock = std::int64_t;
constexpr Clock kNever = INT64_MAX / 4;

using CommandKind = DramCommand;

struct Command {
  Clock at;  // first clock on its bus
  CommandKind kind;
  std::uint8_t pseudo_channel;
  std::uint8_t stack;  // with group, bank and row: meaningless for the all-bank commands
  std::uint8_t group;
  std::uint8_t bank;  // within its group
  std::uint32_t row;  // of an ACT, RD or WR
};

class CommandObserver {
 public:
  virtual ~CommandObserver() = default;
  // In order of time within a channel; commands of one clock in any order.
  virtual void on_command(const Command& command) = 0;
};

}  // namespace npu::model::hbm
