// SPDX-License-Identifier: Apache-2.0
#include "machine/gdb/object.hpp"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "npu/base/write_all.hpp"

namespace npu::gdb {

std::uint64_t end_of_object(std::uint64_t base) {
  const auto* const header = reinterpret_cast<const Elf64_Ehdr*>(base);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  const auto* const segments = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  std::uint64_t end = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto& each = segments[i];
    if (each.p_type == PT_LOAD) end = std::max(end, base + each.p_vaddr + each.p_memsz);
  }
  return end;
}

bool write_object(const std::string& path, ConstByteSpan bytes) {
  constexpr mode_t kMode = 0600;
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  return file && write_all(file.get(), bytes) == 0;
}

}  // namespace npu::gdb
