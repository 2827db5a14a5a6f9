// SPDX-License-Identifier: Apache-2.0
// Programs of the card's own cores, as they lie in device memory: a header of one cache line, then
// an ELF shared object. Its entry points are declared in platform/aicpu_port.hpp and
// platform/aicore_port.hpp. Tasks and launches refer to a program by the device address of its
// header, so that programs can be made and uploaded at any time. The layout is npusim's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace npu::abi {

inline constexpr std::uint32_t kImageMagic = 0x4750'504E;  // "NPPG"
inline constexpr std::uint16_t kImageVersion = 1;
inline constexpr std::uint64_t kImageAlignment = 64;         // bytes, of the header
inline constexpr std::uint64_t kMaxImageSize = 16ULL << 20;  // bytes, of the object

enum class ImageKind : std::uint16_t { kAicpu = 1, kAiCore = 2 };

struct ImageHeader {
  std::uint32_t magic = kImageMagic;      // 0
  std::uint16_t version = kImageVersion;  // 4
  std::uint16_t kind = 0;                 // 6   ImageKind
  std::uint64_t size = 0;                 // 8   bytes of the object behind the header
  std::array<std::uint8_t, 32> digest{};  // 16  SHA-256 of the object
  std::array<char, 16> name{};            // 48  of the program, for messages; may fill all of it
};
static_assert(sizeof(ImageHeader) == 64 && offsetof(ImageHeader, digest) == 16);

}  // namespace npu::abi
