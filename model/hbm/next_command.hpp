// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

// The next command on a bus: none comes before `at`; which one comes then is looked for when it is
// needed.
struct NextCommand {
  static constexpr int kUnknown = -1;

  Clock at = kNever;
  int lane = kUnknown;

  // Another one may come at `time`.
  void offered(Clock time) {
    if (time <= at) *this = {time, kUnknown};
  }
  void withdrawn(int gone) { lane = lane == gone ? kUnknown : lane; }
};

}  // namespace npu::model::hbm
