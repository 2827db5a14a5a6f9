// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/command_reporter.hpp"

#include <algorithm>

namespace npu::model::hbm {

[[gnu::noinline]] void CommandReporter::tell(CommandKind kind, int lane, std::uint32_t row,
                                             Clock at) {
  const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
  const int in_rank = layout_.in_rank(lane);
  const Command command = {at,
                           kind,
                           byte(static_cast<int>(layout_.pseudo_channel_of(lane))),
                           byte(layout_.stack_of(lane)),
                           byte(in_rank / layout_.banks_per_group()),
                           byte(in_rank % layout_.banks_per_group()),
                           row};
  if (noting_) {
    noted_.push_back(command);
  } else {
    observer_->on_command(command);
  }
}

// The commands of the row bus first, of those of one clock.
[[gnu::noinline]] void CommandReporter::tell_in_order() {
  const auto earlier = [](const Command& a, const Command& b) {
    const auto by_row_bus = [](const Command& c) { return c.kind != CommandKind::kRead; };
    return a.at != b.at ? a.at < b.at : by_row_bus(a) < by_row_bus(b);
  };
  std::stable_sort(noted_.begin(), noted_.end(), earlier);
  for (const Command& command : noted_) observer_->on_command(command);
  noted_.clear();
  noting_ = false;
}

}  // namespace npu::model::hbm
