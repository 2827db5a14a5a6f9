// SPDX-License-Identifier: Apache-2.0
// Where in an AI Core's program a fault lies. InstructionPlace is in the record of every fault of a
// program: pipe and number of the instruction. InstructionFault is the record's address where the
// fault is none of memory (kLocalBuffer, kLocalAlignment, kInstruction, kFlagDeadlock): what of the
// instruction is wrong, too. Addresses of memory are below 2^56.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace npu::abi {

enum class FaultyField : std::uint8_t {
  kNone,    // an address of memory
  kTo,      // where the result goes, or C
  kFrom,    // what is read, or A
  kSecond,  // B
  kMask,
  kRows,     // `offset` is what was found, as for the other sizes
  kKind,     // operation, type, or a unit that the core has not
  kFlag,     // `offset` is the flag's number
  kGlobal,   // the end in global memory
  kColumns,  // elements of a row; of an mmad, n
  kRowBytes,
  kPitch,  // bytes from row to row, less than a row has: the record's size
  kDepth,  // k of an mmad
};
inline constexpr std::array<std::string_view, 13> kFaultyFieldNames{"",
                                                                    "to",
                                                                    "from",
                                                                    "second operand",
                                                                    "mask",
                                                                    "rows",
                                                                    "operation or type",
                                                                    "flag",
                                                                    "global address",
                                                                    "columns",
                                                                    "bytes of a row",
                                                                    "pitch",
                                                                    "depth (k)"};
constexpr bool is_size(FaultyField field) {
  return field == FaultyField::kRows || field >= FaultyField::kColumns;
}
inline constexpr std::array<std::string_view, 8> kPipeNames{"scalar", "vector", "cube",    "MTE1",
                                                            "MTE2",   "MTE3",   "FixPipe", "all"};
inline constexpr std::array<std::string_view, 6> kBufferNames{"", "L1", "L0A", "L0B", "L0C", "UB"};

struct InstructionPlace {
  std::uint8_t pipe = 0;  // platform::Pipe
  // Of the block, or of the call that it has made, from 1, in the order of issue; the last is "or
  // more". Of the scalar unit: the last that it has issued.
  std::uint32_t number = 0;

  static constexpr std::uint32_t kMost = 0xFFF'FFFF;

  // Never 0, which is: none.
  constexpr std::uint32_t pack() const {
    return (std::uint32_t{pipe} + 1) << 28 | (number < kMost ? number : kMost);
  }
  static constexpr InstructionPlace unpack(std::uint32_t word) {
    return {static_cast<std::uint8_t>((word >> 28) - 1), word & kMost};
  }
};

struct InstructionFault {
  FaultyField field = FaultyField::kNone;
  std::uint8_t buffer = 0;  // platform::LocalBuffer + 1; 0: none
  std::uint8_t pipe = 0;    // platform::Pipe
  std::uint32_t instruction =
      0;                     // of the block, from 1, in the order of issue; the last is "or more"
  std::uint32_t offset = 0;  // bytes in the buffer

  static constexpr std::uint32_t kMost = 0xF'FFFF;

  constexpr std::uint64_t pack() const {
    const std::uint32_t number = instruction < kMost ? instruction : kMost;
    return static_cast<std::uint64_t>(field) << 60 | std::uint64_t{buffer & 0xFU} << 56 |
           std::uint64_t{pipe & 0xFU} << 52 | std::uint64_t{number} << 32 | offset;
  }
  static constexpr InstructionFault unpack(std::uint64_t address) {
    return {static_cast<FaultyField>(address >> 60), static_cast<std::uint8_t>(address >> 56 & 0xF),
            static_cast<std::uint8_t>(address >> 52 & 0xF),
            static_cast<std::uint32_t>(address >> 32 & kMost), static_cast<std::uint32_t>(address)};
  }
};

}  // namespace npu::abi
