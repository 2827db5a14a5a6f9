// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/kernel_note.hpp"

#include <algorithm>
#include <cstring>

#include "driver/runtime/elf_segments.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

using abi::KernelNote;

// The notes of a segment, one behind the other, each part padded to 4 bytes.
std::optional<KernelNote> find_in(ConstByteSpan notes) {
  constexpr auto kHead = sizeof(Elf64_Nhdr);
  const auto padded = [](std::uint32_t size) { return (std::uint64_t{size} + 3) / 4 * 4; };
  for (std::uint64_t at = 0; range_fits(at, kHead, notes.size);) {
    Elf64_Nhdr head;
    std::memcpy(&head, notes.data + at, kHead);
    const std::uint64_t length = kHead + padded(head.n_namesz) + padded(head.n_descsz);
    if (!range_fits(at, length, notes.size)) return std::nullopt;
    KernelNote note;
    if (length == sizeof note) {
      std::memcpy(&note, notes.data + at, sizeof note);
      const bool ours = note.type == abi::kKernelNoteType && note.owner_size == 7 &&
                        std::memcmp(note.owner, abi::kKernelNoteOwner, sizeof note.owner) == 0;
      if (ours) return note;
    }
    at += length;
  }
  return std::nullopt;
}

void make_printable(KernelNote& note) {
  note.name[sizeof note.name - 1] = 0;
  for (char& c : note.name) {
    if (c != 0 && (c < ' ' || c > '~')) c = '?';
  }
}

}  // namespace

std::optional<KernelNote> find_kernel_note(ConstByteSpan object) {
  const auto segments = elf_segments(object);
  if (!segments) return std::nullopt;
  for (const auto& segment : *segments) {
    if (segment.p_type != PT_NOTE || !range_fits(segment.p_offset, segment.p_filesz, object.size)) {
      continue;
    }
    auto note = find_in({object.data + segment.p_offset, segment.p_filesz});
    if (!note) continue;
    make_printable(*note);
    return note;
  }
  return std::nullopt;
}

}  // namespace npu::driver
