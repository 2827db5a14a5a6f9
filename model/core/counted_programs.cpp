// SPDX-License-Identifier: Apache-2.0
#include "model/core/counted_programs.hpp"

#include <algorithm>

#include "model/core/loaded_code.hpp"

namespace npu::model {

void CountedPrograms::add(ConstByteSpan program, ConstByteSpan counted) {
  twins_.push_back({loaded_code(program), counted});
}

ConstByteSpan CountedPrograms::find(ConstByteSpan object) const {
  const auto code = loaded_code(object);
  const auto twins = std::find_if(twins_.begin(), twins_.end(),
                                  [code](const Twins& each) { return same_code(code, each.code); });
  return twins == twins_.end() ? ConstByteSpan() : twins->counted;
}

}  // namespace npu::model
