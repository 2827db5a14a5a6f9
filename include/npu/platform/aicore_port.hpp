// SPDX-License-Identifier: Apache-2.0
// What a program on an AI Core may use of the machine it runs on: the instructions of its scalar
// unit, and those that the scalar unit hands to the core's pipes. Each pipe runs its instructions
// in order and beside the others; flags order one pipe after another (hardware.md H31).
// Everything costs the time that the machine says it costs; what happens between two calls costs
// nothing, so that a program says with scalar() what its own instructions take.
//
// Local buffers are addressed by byte offset, 32 B aligned. Matrices lie in L1, L0A, L0B and L0C
// row by row, rows padded to 32 B in L0A and L0B and to 16 elements in L0C (npusim's own order in
// place of the fractal ones; capacity and time are counted in whole fractals). An access beyond a
// buffer, a misaligned one, a malformed instruction and a failed access to global memory are
// exceptions: the core stops, and its launch ends with that fault.
#pragma once

#include <cstdint>

#include "npu/abi/core_registers.hpp"
#include "npu/base/units.hpp"

namespace npu::platform {

enum class Pipe : std::uint8_t { kScalar, kVector, kCube, kMte1, kMte2, kMte3, kFixpipe, kAll };
inline constexpr unsigned kPipes = 7;        // without kAll
inline constexpr unsigned kFlagIds = 8;      // of each ordered pair of pipes
inline constexpr unsigned kCrossFlags = 16;  // between cores

enum class LocalBuffer : std::uint8_t { kL1, kL0a, kL0b, kL0c, kUb };
inline constexpr unsigned kLocalBuffers = 5;

enum class DataType : std::uint8_t { kFp16, kBf16, kFp32, kInt8, kInt32, kInt64 };
inline constexpr unsigned kDataTypes = 6;
// 0: none of the types.
constexpr Bytes bytes_of(DataType type) {
  constexpr Bytes kBytes[kDataTypes] = {2, 2, 4, 1, 4, 8};
  const auto index = static_cast<std::uint8_t>(type);
  return index < kDataTypes ? kBytes[index] : 0;
}

struct Local {
  LocalBuffer buffer = LocalBuffer::kUb;
  std::uint32_t offset = 0;  // bytes
};

// MTE2: global memory to L1 or UB, `rows` pieces of `row_bytes`.
struct CopyIn {
  Local to;
  std::uint64_t from = 0;
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 0;
  std::uint64_t from_pitch = 0;  // bytes from row to row
  std::uint32_t to_pitch = 0;
};

// MTE3: UB or L1 to global memory.
struct CopyOut {
  std::uint64_t to = 0;
  Local from;
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 0;
  std::uint64_t to_pitch = 0;
  std::uint32_t from_pitch = 0;
};

// MTE1: a matrix of L1 to L0A or L0B, transposed if asked for.
struct LoadL0 {
  Local to;
  std::uint32_t from = 0;               // offset in L1
  std::uint32_t rows = 0, columns = 0;  // of the matrix in L1
  std::uint32_t from_pitch = 0;         // bytes
  DataType type = DataType::kFp16;
  bool transpose = false;
};

// Cube: C (+)= A x B; A m x k in L0A, B k x n in L0B, C m x n in L0C (fp32, or int32 for int8).
struct Mmad {
  std::uint32_t c = 0, a = 0, b = 0;  // offsets
  std::uint32_t m = 0, k = 0, n = 0;
  DataType type = DataType::kFp16;  // of A and B
  bool accumulate = false;          // false: C starts from zero
};

// Where FixPipe writes. L1 is the core's own; UB that of a coupled core itself, for a cube core
// that of a vector core of its cluster, which has to run the same call (image, arguments, blocks)
// at that time, of an invoked one the same mixed block. Which of the two a chip has is in its
// configuration; a way that it has not is a malformed instruction.
enum class FixpipeTarget : std::uint8_t { kGlobal, kL1, kUb };

// FixPipe: m x n of L0C to `target`, converted.
struct Fixpipe {
  std::uint64_t to = 0;    // address, or offset in the buffer
  std::uint32_t from = 0;  // offset in L0C
  std::uint32_t m = 0, n = 0;
  std::uint64_t to_pitch = 0;       // bytes
  DataType type = DataType::kFp32;  // in L0C: kFp32 or kInt32
  DataType to_type = DataType::kFp16;
  FixpipeTarget target = FixpipeTarget::kGlobal;
  std::uint8_t vector_core = 0;  // kUb from a cube core: 0 or 1
};

enum class VectorOp : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,  // to = a op b
  kAdds,
  kMuls,
  kMaxs,
  kMins,  // to = a op scalar
  kExp,
  kLn,
  kSqrt,
  kRsqrt,
  kAbs,
  kRelu,
  kReciprocal,
  kDuplicate,  // to = scalar
  kCopy,       // to = a
  kCast,       // to (to_type) = a (type), round to nearest even
  kReduceSum,
  kReduceMax,  // one element per row
  kBroadcastSub,
  kBroadcastMul,
  kBroadcastDiv,  // to = a op b, b one element per row
  kReduceMin,     // one element per row
  kExpPrecise,    // exp as libraries compute it, from several instructions
  kAnd,
  kOr,         // to = a op b, bit by bit
  kCompare,    // mask `to` = a compared with b
  kCompares,   // mask `to` = a compared with scalar
  kSelect,     // to = a where the mask has a one, b elsewhere
  kSelects,    // to = a where the mask has a one, scalar elsewhere
  kTranspose,  // to, `count` rows of `rows` elements = a, rows by count
};
inline constexpr unsigned kVectorOps = 34;
static_assert(static_cast<unsigned>(VectorOp::kTranspose) + 1 == kVectorOps);

// Comparisons with a NaN are false but for kNotEqual.
enum class Comparison : std::uint8_t {
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
};

// Vector: on UB, `rows` rows of `count` elements, row after row at the pitches given (bytes; 0:
// dense). `type` is that of a and b and, but for kCast, of the result. The unit computes in kFp16,
// kFp32 and kInt32, and has kMax and kMin of kInt64, which it emulates; types are no matter to what
// only moves or combines bits. A row of a mask is (count + 7) / 8 bytes, the first element's bit
// the lowest of the first; bits behind the last are 0. The mask of a comparison and the result of
// kTranspose lie apart from what they are made of. That of kCast may lie on it as far as nothing is
// written that is yet to be read: elements no wider, offset no higher, rows no further apart.
struct Vector {
  VectorOp op = VectorOp::kCopy;
  DataType type = DataType::kFp32;
  DataType to_type = DataType::kFp32;
  Comparison comparison = Comparison::kLess;
  std::uint32_t to = 0, a = 0, b = 0;  // offsets
  std::uint32_t count = 0;
  std::uint32_t rows = 1;
  std::uint32_t to_pitch = 0, a_pitch = 0, b_pitch = 0;
  float scalar = 0;
  std::uint32_t mask = 0, mask_pitch = 0;  // kSelect and kSelects
};

enum class CrossScope : std::uint8_t {
  kCluster,   // the cube core and its vector cores of one mixed block
  kSameType,  // all cores of one type that run blocks of the same launch
};

// What one block of a kernel is told.
struct KernelCall {
  std::uint64_t image = 0;      // device address of its ImageHeader
  std::uint64_t arguments = 0;  // device address
  std::uint32_t block = 0, blocks = 1;
  std::uint32_t role = 0;  // of a mixed block: 0 cube core, 1 and 2 vector cores
};

class AicorePort {
 public:
  virtual ~AicorePort() = default;

  // The block this program runs: of the launch, or of the innermost invoke().
  virtual const KernelCall& call() const = 0;
  virtual unsigned physical_core() const = 0;  // index of its register window
  virtual abi::CoreType core_type() const = 0;
  virtual Bytes buffer_size(LocalBuffer buffer) const = 0;  // 0: the core has none

  // Instructions of the pipes. Each returns when the pipe's queue has taken it.
  virtual void issue(const CopyIn& instruction) = 0;
  virtual void issue(const CopyOut& instruction) = 0;
  virtual void issue(const LoadL0& instruction) = 0;
  virtual void issue(const Mmad& instruction) = 0;
  virtual void issue(const Fixpipe& instruction) = 0;
  virtual void issue(const Vector& instruction) = 0;

  // `from` raises the flag when everything issued to it before is done; `to` waits for it and
  // lowers it. The scalar unit may be either. A wait that nothing can end is an exception.
  virtual void set_flag(Pipe from, Pipe to, unsigned id) = 0;
  virtual void wait_flag(Pipe from, Pipe to, unsigned id) = 0;
  // What is issued to `pipe` next begins when all before it is done; kAll: the scalar unit waits
  // for all pipes.
  virtual void pipe_barrier(Pipe pipe) = 0;
  // `pipe` raises a flag at the other cores of `scope`; a wait counts one raise of every one.
  virtual void set_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) = 0;
  virtual void wait_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) = 0;

  // The scalar unit's own accesses to global memory, naturally aligned, 1, 2, 4 or 8 bytes, through
  // its data cache, which nobody keeps coherent: what others wrote is seen after the line was
  // dropped, what is stored here is seen by others after the line was written back, whole.
  virtual std::uint64_t load(std::uint64_t address, unsigned bytes) = 0;
  virtual void store(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
  // dcci: writes the line back if it was stored to, and drops it.
  virtual void clean_invalidate(std::uint64_t address) = 0;
  virtual void clean_invalidate_all() = 0;
  // Stores and written-back lines are in memory before what comes after.
  virtual void memory_barrier() = 0;
  // An element of UB; what the pipes do with it is ordered by flags.
  virtual std::uint32_t load_ub(std::uint32_t offset) = 0;
  virtual void store_ub(std::uint32_t offset, std::uint32_t value) = 0;

  // Its own registers, through instructions: DATA_MAIN_BASE with the doorbell in the upper word,
  // and COND.
  virtual std::uint64_t data_main_base() = 0;
  virtual void set_cond(std::uint32_t value) = 0;
  virtual std::uint64_t system_counter() = 0;
  virtual std::uint64_t counter_hz() const = 0;
  virtual void scalar(unsigned cycles) = 0;  // the program's own instructions

  // As AicpuPort::poll_again(), for loops over load(), clean_invalidate() and data_main_base().
  virtual bool poll_again(std::uint64_t deadline) = 0;

  // Runs another program on this core until it returns; its result. An image that is none is an
  // exception.
  virtual int invoke(const KernelCall& call) = 0;
  // The program found something it cannot go on with: an exception.
  [[noreturn]] virtual void trap(std::uint16_t code) = 0;
};

// The entry point of an AI Core program (abi::ImageKind::kAiCore). What it returns is the block's
// outcome: 0 is success.
using AicoreEntry = int (*)(AicorePort&);
inline constexpr char kAicoreEntryName[] = "npu_aicore_main";

}  // namespace npu::platform
