// SPDX-License-Identifier: Apache-2.0
// What a kernel says of itself: an ELF note in its shared object (aicore/kernel.hpp makes it), read
// by whoever registers it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::abi {

inline constexpr std::uint32_t kKernelNoteType = 1;
inline constexpr char kKernelNoteOwner[8] = "npusim";  // 7 bytes with the zero, padded
inline constexpr std::uint32_t kAnyWords = 0xFFFF'FFFF;

struct KernelNote {
  std::uint32_t owner_size = 7;          // 0
  std::uint32_t description_size = 64;   // 4
  std::uint32_t type = kKernelNoteType;  // 8
  char owner[8] = {};                    // 12
  std::uint32_t words = kAnyWords;       // 20  arguments that a task of it has; kAnyWords: any
  char name[60] = {};                    // 24  ends with a zero
};
static_assert(sizeof(KernelNote) == 84 && offsetof(KernelNote, words) == 20);

// Of a name qualified with namespaces, the last part is the kernel's.
template <std::size_t kSize>
constexpr KernelNote kernel_note(const char (&name)[kSize], std::uint32_t words) {
  KernelNote note;
  for (std::size_t i = 0; i < sizeof note.owner; ++i) note.owner[i] = kKernelNoteOwner[i];
  note.words = words;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < kSize; ++i) begin = name[i] == ':' ? i + 1 : begin;
  for (std::size_t i = begin; i + 1 < kSize && i - begin + 1 < sizeof note.name; ++i) {
    note.name[i - begin] = name[i];
  }
  return note;
}

}  // namespace npu::abi
