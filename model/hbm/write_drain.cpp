// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/write_drain.hpp"

namespace npu::model::hbm {

[[gnu::noinline]] bool WriteDrain::decide(unsigned reads, unsigned writes) {
  const std::size_t before = list_;
  if (list_ == 0) {
    list_ = writes * 100 > high_ || reads == 0 ? 1 : 0;
  } else if (reads != 0) {
    list_ = writes != 0 && writes * 100 >= low_ ? 1 : 0;
  }
  return list_ != before;
}

}  // namespace npu::model::hbm
