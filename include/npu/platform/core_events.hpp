// SPDX-License-Identifier: Apache-2.0
// What the word `detail` of the events of an AI Core holds: what an instruction does, why it began
// when it did, and what the bytes of a copy waited for. Models pack it, reports read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "npu/platform/aicore_port.hpp"

namespace npu::platform {

// What an instruction of a pipe does. Vector instructions follow, in the order of VectorOp.
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
  kVector,  // the first of them
};
inline constexpr std::size_t kPipeOperations =
    static_cast<std::size_t>(PipeOperation::kVector) + kVectorOps;
inline constexpr std::array<std::string_view, kPipeOperations> kPipeOperationNames{
    "pipe",          "gm_to_l1",   "gm_to_ub",    "ub_to_gm",      "l1_to_gm",
    "l1_to_l0a",     "l1_to_l0b",  "mmad",        "fixpipe_to_gm", "fixpipe_to_l1",
    "fixpipe_to_ub", "add",        "sub",         "mul",           "div",
    "max",           "min",        "adds",        "muls",          "maxs",
    "mins",          "exp",        "ln",          "sqrt",          "rsqrt",
    "abs",           "relu",       "reciprocal",  "duplicate",     "copy",
    "cast",          "reduce_sum", "reduce_max",  "broadcast_sub", "broadcast_mul",
    "broadcast_div", "reduce_min", "exp_precise", "and",           "or",
    "compare",       "compares",   "select",      "selects",       "transpose"};
static_assert(!kPipeOperationNames.back().empty());

constexpr PipeOperation operation_of(VectorOp op) {
  return static_cast<PipeOperation>(static_cast<unsigned>(PipeOperation::kVector) +
                                    static_cast<unsigned>(op));
}

// Why an instruction began no earlier.
enum class BeganAfter : std::uint8_t {
  kOwn,    // what is before it in its pipe
  kFlag,   // a flag of another pipe of its core
  kIssue,  // the scalar unit, which had not issued it
  kCross,  // a flag of another core
};
inline constexpr std::array<std::string_view, 4> kBeganAfterNames{"own", "flag", "issue", "cross"};

// What the scalar unit stood still for.
enum class ScalarWait : std::uint8_t {
  kRoom,    // in the queue of a pipe
  kFlag,    // of a pipe
  kDrain,   // all pipes have done what was issued
  kMemory,  // its own loads, stores or program
  kCross,   // a flag of another core
  kStart,   // a block begins
  kEnd,     // and ends
};
inline constexpr std::array<std::string_view, 7> kScalarWaitNames{
    "room", "flag", "drain", "memory", "cross", "start", "end"};

// Of kPipe and kCopyPath: bits 0..7 the pipe, 8..15 the operation, 16..19 why it began then, 20..23
// the pipe that raised the flag.
// Of kCopyPath, too: shares of its time, each in 255ths: 24..31 translation, 32..39 L2, 40..47
// HBM, 48..55 the fixed way; in the rest requests left at the path's rate.
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

// Of kPipe; what is no pipe is kAll.
constexpr Pipe pipe_of(std::uint64_t detail) {
  const std::uint64_t pipe = detail & 0xFF;
  return pipe < kPipes ? static_cast<Pipe>(pipe) : Pipe::kAll;
}

// Of kScalarWait: bits 0..3 what for, 4..11 the pipe; of kRoom: 12..15 why the entry that had the
// place left no earlier, 16..19 the pipe that raised the flag.
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
  // What it waited for is the same.
  constexpr bool is_like(const ScalarWaitDetail& other) const {
    return wait == other.wait && pipe == other.pipe;
  }
};

}  // namespace npu::platform
