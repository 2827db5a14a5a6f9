// SPDX-License-Identifier: Apache-2.0
// Tells whoever watches a channel its commands, in order of time.
#pragma once

#include <vector>

#include "model/hbm/channel_layout.hpp"
#include "model/hbm/command.hpp"

namespace npu::model::hbm {

class CommandReporter {
 public:
  explicit CommandReporter(const ChannelLayout& layout) : layout_(layout) {}

  // Null: nobody.
  void watch(CommandObserver* observer) { observer_ = observer; }
  bool watched() const { return observer_ != nullptr; }
  void report(CommandKind kind, int lane, std::uint32_t row, Clock at) {
    if (observer_) tell(kind, lane, row, at);
  }
  // From here on commands are not decided in order: they are noted, and reported by tell_noted().
  void note() { noting_ = observer_ != nullptr; }
  void tell_noted() {
    if (noting_) tell_in_order();
  }

 private:
  void tell(CommandKind kind, int lane, std::uint32_t row, Clock at);
  void tell_in_order();

  CommandObserver* observer_ = nullptr;
  bool noting_ = false;
  std::vector<Command> noted_;
  ChannelLayout layout_;
};

}  // namespace npu::model::hbm
