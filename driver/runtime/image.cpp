// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>

#include "npu/driver/program.hpp"

namespace npu::driver {

namespace {

// The object up to the end of what is loaded of it. Symbols for linkers and debug information lie
// behind that: they stay on the host, so that a kernel takes no longer to start for having them.
// What is no object of this kind is left as it is, for the card to refuse.
std::vector<std::byte> loaded_part(ConstByteSpan object) {
  std::vector<std::byte> all(object.data, object.data + object.size);
  Elf64_Ehdr header;
  if (all.size() < sizeof header) return all;
  std::memcpy(&header, all.data(), sizeof header);
  const bool known = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                     header.e_ident[EI_CLASS] == ELFCLASS64 &&
                     header.e_phentsize == sizeof(Elf64_Phdr);
  const std::uint64_t segments = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (!known || header.e_phoff > all.size() || segments > all.size() - header.e_phoff) return all;
  std::uint64_t end = header.e_phoff + segments;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, all.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_offset > all.size() || segment.p_filesz > all.size() - segment.p_offset) {
      return all;
    }
    end = std::max<std::uint64_t>(end, segment.p_offset + segment.p_filesz);
  }
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(all.data(), &header, sizeof header);
  all.resize(end);
  return all;
}

}  // namespace

Result<std::vector<std::byte>> make_image(abi::ImageKind kind, ConstByteSpan object) {
  if (object.size == 0 || object.size > abi::kMaxImageSize) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a program of {} bytes; 1 .. {} are possible", object.size,
                            abi::kMaxImageSize));
  }
  const auto loaded = loaded_part(object);
  abi::ImageHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.size = loaded.size();
  unsigned length = 0;
  if (EVP_Digest(loaded.data(), loaded.size(), header.digest.data(), &length, EVP_sha256(),
                 nullptr) != 1) {
    return fail(ErrorCode::kIo, "SHA-256 of a program could not be computed");
  }
  std::vector<std::byte> image(sizeof header + loaded.size());
  std::memcpy(image.data(), &header, sizeof header);
  std::memcpy(image.data() + sizeof header, loaded.data(), loaded.size());
  return image;
}

}  // namespace npu::driver
