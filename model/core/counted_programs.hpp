// SPDX-License-Identifier: Apache-2.0
// Whether what programs of the cards' cores execute takes time, and programs built a second time,
// so that they count their instructions (kernels/counting/). A core that is given one of the
// programs runs its counted twin instead: the image in device memory, its size and its digest are
// those of the program that the card would run. A program that counts by itself needs no twin.
#pragma once

#include <vector>

#include "npu/base/byte_span.hpp"

namespace npu::model {

class CountedPrograms {
 public:
  // Two shared objects, which outlive this.
  void add(ConstByteSpan program, ConstByteSpan counted);
  // The twin of what is `object` as far as it is loaded; empty: it has none.
  ConstByteSpan find(ConstByteSpan object) const;
  bool empty() const { return twins_.empty(); }
  // What programs execute takes time from now on, if they count it. Not so at first.
  void enable() { enabled_ = true; }
  bool enabled() const { return enabled_; }

 private:
  struct Twins {
    ConstByteSpan code, counted;
  };
  std::vector<Twins> twins_;
  bool enabled_ = false;
};

}  // namespace npu::model
