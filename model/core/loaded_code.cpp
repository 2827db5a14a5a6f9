// SPDX-License-Identifier: Apache-2.0
#include "model/core/loaded_code.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace npu::model {

ConstByteSpan loaded_code(ConstByteSpan object) {
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

bool same_code(ConstByteSpan code, ConstByteSpan other) {
  return code.size != 0 && code.size == other.size &&
         std::memcmp(code.data, other.data, code.size) == 0;
}

}  // namespace npu::model
