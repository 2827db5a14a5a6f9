// SPDX-License-Identifier: Apache-2.0
// Whether an instruction can be executed by a core with these buffers: kNone, kInstruction (a
// field out of range, a unit that the core has not, or a result on what it is made of),
// kLocalAlignment, kLocalBuffer or, for a range of global memory that wraps around, kDeviceAddress.
#pragma once

#include <array>

#include "npu/abi/fault.hpp"
#include "npu/abi/instruction_fault.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

using BufferSizes = std::array<Bytes, platform::kLocalBuffers>;  // by LocalBuffer; 0: none

// What is wrong, and with what of the instruction (abi::InstructionFault).
struct InstructionFinding {
  abi::FaultCode code = abi::FaultCode::kNone;
  abi::FaultyField field = abi::FaultyField::kNone;
  unsigned buffer = 0;  // LocalBuffer + 1; 0: none
  std::uint32_t offset = 0;
  std::uint64_t address = 0;  // of kDeviceAddress
  Bytes size = 0;             // of the operand from its first byte to its last; 0: unknown

  operator abi::FaultCode() const { return code; }
  bool wrong() const { return code != abi::FaultCode::kNone; }
};

// Local buffers that FixPipe and MTE3 can write to, by their sizes; 0: they cannot.
struct FixpipeWays {
  Bytes l1 = 0;
  Bytes ub = 0;
  unsigned vector_cores = 1;  // whose UB it may be
  Bytes l1_from_ub = 0;
  bool scaled_bf16 = false;  // it makes bf16 of int32
};

inline constexpr std::uint32_t kMaxMatrix = 4095;  // rows and columns of an mmad

constexpr Bytes round_up(Bytes value, Bytes to) {
  return (value + to - 1) / to * to;
}
// Bytes from row to row of a matrix in L0A or L0B, and in L0C.
constexpr Bytes l0_pitch(Bytes columns, platform::DataType type) {
  return round_up(columns * platform::bytes_of(type), 32);
}
constexpr Bytes l0c_pitch(Bytes columns) {
  return round_up(columns, 16) * 4;
}
inline constexpr Bytes kFractalBytes = 512;  // of an operand; one of C has twice as many

// What a product reads of L0A and L0B and writes to L0C.
struct MmadBytes {
  Bytes a, b, c;
};
constexpr MmadBytes bytes_of(const platform::Mmad& mmad) {
  if (!mmad.fractals) {
    return {mmad.m * l0_pitch(mmad.k, mmad.type), mmad.k * l0_pitch(mmad.n, mmad.type),
            mmad.m * l0c_pitch(mmad.n)};
  }
  const Bytes rows = round_up(mmad.m, 16), columns = round_up(mmad.n, 16);
  const Bytes depth = l0_pitch(mmad.k, mmad.type);
  return {rows * depth, columns * depth, rows * columns * 4};
}

// `transposes`: the core has transposing copies.
InstructionFinding check(const BufferSizes& sizes, const platform::CopyIn& copy,
                         bool transposes = false);
InstructionFinding check(const BufferSizes& sizes, const platform::CopyOut& copy,
                         const FixpipeWays& ways = {});
InstructionFinding check(const BufferSizes& sizes, const platform::LoadL0& load);
InstructionFinding check(const BufferSizes& sizes, const platform::Mmad& mmad);
InstructionFinding check(const BufferSizes& sizes, const platform::Fixpipe& fixpipe,
                         const FixpipeWays& ways = {});
InstructionFinding check(const BufferSizes& sizes, const platform::Vector& vector);

}  // namespace npu::model
