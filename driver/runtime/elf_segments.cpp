// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/elf_segments.hpp"

#include <cstring>

#include "npu/base/checked.hpp"

namespace npu::driver {

std::optional<std::vector<Elf64_Phdr>> elf_segments(ConstByteSpan object) {
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

}  // namespace npu::driver
