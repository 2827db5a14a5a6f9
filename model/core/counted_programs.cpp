// SPDX-License-Identifier: Apache-2.0
#include "model/core/counted_programs.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace npu::model {
namespace {

// What is loaded of an object but its header, which tells of sections that an image need not have.
// Empty: it is none.
ConstByteSpan code_of(ConstByteSpan object) {
  Elf64_Ehdr header;
  if (object.size < sizeof header) return {};
  std::memcpy(&header, object.data, sizeof header);
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > object.size - sizeof segment) return {};
    std::memcpy(&segment, object.data + at, sizeof segment);
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  if (end <= sizeof header || end > object.size) return {};
  return {object.data + sizeof header, end - sizeof header};
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
