// SPDX-License-Identifier: Apache-2.0
// The program headers of a shared object, read without trusting a byte of it.
#pragma once

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

#include "npu/base/byte_span.hpp"
#include "npu/base/checked.hpp"

namespace npu {

// Nothing if `object` is no 64-bit ELF object that holds its whole table. Where the segments lie is
// unchecked.
inline std::optional<std::vector<Elf64_Phdr>> elf_segments(ConstByteSpan object) {
  Elf64_Ehdr header;
  if (object.size < sizeof header) return std::nullopt;
  std::memcpy(&header, object.data, sizeof header);
  const std::uint64_t table = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr) || !range_fits(header.e_phoff, table, object.size)) {
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (table != 0) std::memcpy(segments.data(), object.data + header.e_phoff, table);
  return segments;
}

}  // namespace npu
