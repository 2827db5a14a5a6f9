// SPDX-License-Identifier: Apache-2.0
// The word `detail` of AI Core events: the operation of an instruction, the reason for its begin,
// and the delays of a copy. Models pack it, and reports read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "npu/platform/aicore_port.hpp"

namespace npu::platform {

// The operation of a pipe's instruction. Vector operations follow kVector, in the order of
// VectorOp.
enum class PipeOperation : std::uint8_t {
  kOther,
  kGmToL1,
  kGmToUb,
  kUbToGm,
  kL1ToGm,
  kL1ToL0a,  // a tile of A
  kL1ToL0b,  // a tile of B
  kMmad,
  kFixpipeToGm,
  kFixpipeToL1,
  kFixpipeToUb,
  kUbToL1,
  kVectorFunction,
  kVector,  // the first of them
};
inline constexpr std::size_t kPipeOperations =
    static_cast<std::size_t>(PipeOperation::kVector) + kVectorOps;
inline constexpr std::array<std::string_view, kPipeOperations> kPipeOperationNames{
    "pipe",
    "gm_to_l1",
    "gm_to_ub",
    "ub_to_gm",
    "l1_to_gm",
    "l1_to_l0a",
    "l1_to_l0b",
    "mmad",
    "fixpipe_to_gm",
    "fixpipe_to_l1",
    "fixpipe_to_ub",
    "ub_to_l1",
    "vector_function",
    "add",
    "sub",
    "mul",
    "div",
    "max",
    "min",
    "adds",
    "muls",
    "maxs",
    "mins",
    "exp",
    "ln",
    "sqrt",
    "rsqrt",
    "abs",
    "relu",
    "reciprocal",
    "duplicate",
    "copy",
    "cast",
    "reduce_sum",
    "reduce_max",
    "broadcast_sub",
    "broadcast_mul",
    "broadcast_div",
    "reduce_min",
    "exp_precise",
    "and",
    "or",
    "compare",
    "compares",
    "select",
    "selects",
    "transpose",
    "broadcast",
    "axpy",
    "deinterleave"};
static_assert(!kPipeOperationNames.back().empty());

constexpr PipeOperation operation_of(VectorOp op) {
  return static_cast<PipeOperation>(static_cast<unsigned>(PipeOperation::kVector) +
                                    static_cast<unsigned>(op));
}

// The reason why an instruction did not begin earlier.
enum class BeganAfter : std::uint8_t {
  kOwn,    // the instruction before it in its pipe
  kFlag,   // a flag of another pipe of its core
  kIssue,  // the scalar unit had not issued it
  kCross,  // a flag of another core
};
inline constexpr std::array<std::string_view, 4> kBeganAfterNames{"own", "flag", "issue", "cross"};

// The reason for a wait of the scalar unit.
enum class ScalarWait : std::uint8_t {
  kRoom,    // for room in a pipe's queue
  kFlag,    // for a flag of a pipe
  kDrain,   // for all pipes to complete
  kMemory,  // for its own loads, stores or program
  kCross,   // for a flag of another core
  kStart,   // at the start of a block
  kEnd,     // at its end
};
inline constexpr std::array<std::string_view, 7> kScalarWaitNames{
    "room", "flag", "drain", "memory", "cross", "start", "end"};

// Of kPipe and kCopyPath. Bits 0 .. 7: pipe; 8 .. 15: operation; 16 .. 19: BeganAfter; 20 .. 23:
// the pipe that raised the flag.
// Of kCopyPath also parts of its time, in 255ths. Bits 24 .. 31: translation; 32 .. 39: L2; 40 ..
// 47: HBM; 48 .. 55: fixed latency. In the rest of the time requests left at the rate of the path.
struct PipeDetail {
  static constexpr std::uint64_t kWhole = 255;

  Pipe pipe = Pipe::kScalar;
  PipeOperation operation = PipeOperation::kOther;
  BeganAfter after = BeganAfter::kOwn;
  Pipe flag = Pipe::kScalar;
  std::uint8_t mmu = 0, l2 = 0, hbm = 0, way = 0;

  constexpr std::uint64_t pack() const {
    return static_cast<std::uint64_t>(pipe) | static_cast<std::uint64_t>(operation) << 8 |
           static_cast<std::uint64_t>(after) << 16 | static_cast<std::uint64_t>(flag) << 20 |
           std::uint64_t{mmu} << 24 | std::uint64_t{l2} << 32 | std::uint64_t{hbm} << 40 |
           std::uint64_t{way} << 48;
  }
  static constexpr PipeDetail unpack(std::uint64_t word) {
    PipeDetail detail;
    detail.pipe = static_cast<Pipe>(word & 0xFF);
    detail.operation = static_cast<PipeOperation>(word >> 8 & 0xFF);
    detail.after = static_cast<BeganAfter>(word >> 16 & 0xF);
    detail.flag = static_cast<Pipe>(word >> 20 & 0xF);
    detail.mmu = static_cast<std::uint8_t>(word >> 24);
    detail.l2 = static_cast<std::uint8_t>(word >> 32);
    detail.hbm = static_cast<std::uint8_t>(word >> 40);
    detail.way = static_cast<std::uint8_t>(word >> 48);
    return detail;
  }
};

// The pipe of a kPipe event; kAll: invalid.
constexpr Pipe pipe_of(std::uint64_t detail) {
  const std::uint64_t pipe = detail & 0xFF;
  return pipe < kPipes ? static_cast<Pipe>(pipe) : Pipe::kAll;
}

// Of kScalarWait. Bits 0 .. 3: reason; 4 .. 11: pipe. Of kRoom also the entry that occupied the
// place: bits 12 .. 15: BeganAfter; 16 .. 19: the pipe that raised the flag.
struct ScalarWaitDetail {
  ScalarWait wait = ScalarWait::kMemory;
  Pipe pipe = Pipe::kAll;
  BeganAfter after = BeganAfter::kOwn;
  Pipe flag = Pipe::kScalar;

  constexpr std::uint64_t pack() const {
    return static_cast<std::uint64_t>(wait) | static_cast<std::uint64_t>(pipe) << 4 |
           static_cast<std::uint64_t>(after) << 12 | static_cast<std::uint64_t>(flag) << 16;
  }
  static constexpr ScalarWaitDetail unpack(std::uint64_t word) {
    ScalarWaitDetail detail;
    detail.wait = static_cast<ScalarWait>(word & 0xF);
    detail.pipe = static_cast<Pipe>(word >> 4 & 0xFF);
    detail.after = static_cast<BeganAfter>(word >> 12 & 0xF);
    detail.flag = static_cast<Pipe>(word >> 16 & 0xF);
    return detail;
  }
  // Whether both waited for the same.
  constexpr bool is_like(const ScalarWaitDetail& other) const {
    return wait == other.wait && pipe == other.pipe;
  }
};

}  // namespace npu::platform
