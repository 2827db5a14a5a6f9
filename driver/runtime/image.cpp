// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "driver/runtime/elf_segments.hpp"
#include "driver/runtime/kernel_note.hpp"
#include "npu/base/checked.hpp"
#include "npu/driver/program.hpp"

namespace npu::driver {

namespace {

// Where what is loaded of an object ends. Symbols for linkers and debug information lie behind
// that: they stay on the host, so that a kernel takes no longer to start for having them. Nothing:
// it is no object of this kind, for the card to refuse.
std::optional<std::uint64_t> end_of_segments(ConstByteSpan object) {
  const auto segments = elf_segments(object);
  if (!segments) return std::nullopt;
  Elf64_Ehdr header;
  std::memcpy(&header, object.data, sizeof header);
  std::uint64_t end = header.e_phoff + segments->size() * sizeof(Elf64_Phdr);
  for (const auto& segment : *segments) {
    if (!range_fits(segment.p_offset, segment.p_filesz, object.size)) return std::nullopt;
    end = std::max<std::uint64_t>(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

// The object has no sections any more.
void forget_sections(std::byte* object) {
  Elf64_Ehdr header;
  std::memcpy(&header, object, sizeof header);
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(object, &header, sizeof header);
}

}  // namespace

Result<std::vector<std::byte>> make_image(abi::ImageKind kind, ConstByteSpan object,
                                          Bytes declared) {
  if (object.size == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "a program without a byte: its file is missing, empty or was not read");
  }
  if (std::max<Bytes>(object.size, declared) > abi::kMaxImageSize) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a program of {} bytes; 1 .. {} are possible",
                            std::max<Bytes>(object.size, declared), abi::kMaxImageSize));
  }
  const auto end = end_of_segments(object);
  abi::ImageHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  const std::uint64_t own_size = end.value_or(object.size);
  if (declared != 0 && own_size > declared) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a program of {} bytes, declared as {}", own_size, declared));
  }
  header.size = std::max<Bytes>(own_size, declared);
  if (const auto note = find_kernel_note(object)) {
    std::memcpy(header.name.data(), note->name, header.name.size());
  }
  std::vector<std::byte> image(sizeof header);
  image.insert(image.end(), object.data, object.data + own_size);
  image.resize(sizeof header + header.size);
  std::byte* const loaded = image.data() + sizeof header;
  if (end) forget_sections(loaded);
  unsigned length = 0;
  if (EVP_Digest(loaded, header.size, header.digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    return fail(ErrorCode::kIo, "SHA-256 of a program could not be computed");
  }
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

}  // namespace npu::driver
