// SPDX-License-Identifier: Apache-2.0
// How long a unit has been busy, what it is at included.
#pragma once

#include "model/core/agenda.hpp"

namespace npu::model {

class BusyTime {
 public:
  // Nothing if it is busy already.
  void begin(SimTime now) {
    if (busy_) return;
    busy_ = true;
    since_ = now;
  }
  // Nothing if it is not.
  void end(SimTime now) {
    total_ = until(now);
    busy_ = false;
  }
  // `now` is not before the last begin().
  SimTime until(SimTime now) const { return busy_ ? total_ + (now - since_) : total_; }

 private:
  SimTime total_ = 0, since_ = 0;
  bool busy_ = false;
};

}  // namespace npu::model
