// SPDX-License-Identifier: Apache-2.0
#include "model/l2/l2_slice.hpp"

#include <systemc>

namespace npu::model {

L2Slice::L2Slice(unsigned miss_buffers, unsigned write_buffers)
    : miss_buffers_(miss_buffers), write_buffers_(write_buffers) {
  misses_.reserve(miss_buffers);
}

std::uint32_t L2Slice::fill_of(Line line) const {
  const auto found = std::find_if(misses_.begin(), misses_.end(),
                                  [line](const Miss& miss) { return miss.line == line; });
  sc_assert(found != misses_.end());
  return found->fill;
}

void L2Slice::end_miss(Line line) {
  const auto found = std::find_if(misses_.begin(), misses_.end(),
                                  [line](const Miss& miss) { return miss.line == line; });
  sc_assert(found != misses_.end());
  *found = misses_.back();
  misses_.pop_back();
}

}  // namespace npu::model
