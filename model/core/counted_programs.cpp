// SPDX-License-Identifier: Apache-2.0
#include "model/core/counted_programs.hpp"

#include <algorithm>
#include <cstring>

#include "npu/base/elf_segments.hpp"

namespace npu::model {
namespace {

// What is loaded of an object but its header, which tells of sections that an image need not have.
// Empty: it is none.
ConstByteSpan code_of(ConstByteSpan object) {
  const auto segments = elf_segments(object);
  if (!segments) return {};
  std::uint64_t end = 0;
  for (const auto& segment : *segments) {
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  constexpr auto kHeader = sizeof(Elf64_Ehdr);
  if (end <= kHeader || end > object.size) return {};
  return {object.data + kHeader, end - kHeader};
}

}  // namespace

void CountedPrograms::add(ConstByteSpan program, ConstByteSpan counted) {
  twins_.push_back({code_of(program), counted});
}

ConstByteSpan CountedPrograms::find(ConstByteSpan object) const {
  const auto code = code_of(object);
  const auto twins = std::find_if(twins_.begin(), twins_.end(), [code](const Twins& each) {
    return code.size != 0 && each.code.size == code.size &&
           std::memcmp(each.code.data, code.data, code.size) == 0;
  });
  return twins == twins_.end() ? ConstByteSpan() : twins->counted;
}

}  // namespace npu::model
