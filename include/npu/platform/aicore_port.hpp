// SPDX-License-Identifier: Apache-2.0
// The interface of an AI Core for the program that runs on it: instructions of its scalar unit, and
// instructions that the scalar unit issues to the pipes. A pipe runs its instructions in order and
// in parallel to the other pipes. Flags order one pipe after another (hardware.md H31).
//
// Every member costs the machine's time. The instructions between two calls are counted and take
// time if the program was built so (kernels/counting/README.md). Other programs declare them with
// scalar().
//
// Addresses in local buffers are byte offsets, aligned to 32 B, and so are pitches. Matrices in L1,
// L0A, L0B and L0C are stored row by row. Rows are padded to 32 B in L0A and L0B and to 16 elements
// in L0C. This is npusim's own order; capacity and time count whole fractals. Instructions that say
// so work on the hardware's order instead: fractals of 16 rows of 32 B. An access beyond a
// buffer, a misaligned one, a malformed instruction and a failed access to global memory are
// exceptions: the core stops, and its launch ends with that fault.
#pragma once

#include <cstdint>

#include "npu/abi/core_registers.hpp"
#include "npu/abi/element.hpp"
#include "npu/base/units.hpp"

namespace npu::platform {

enum class Pipe : std::uint8_t { kScalar, kVector, kCube, kMte1, kMte2, kMte3, kFixpipe, kAll };
inline constexpr unsigned kPipes = 7;        // without kAll
inline constexpr unsigned kFlagIds = 8;      // for each ordered pair of pipes
inline constexpr unsigned kCrossFlags = 16;  // between cores

enum class LocalBuffer : std::uint8_t { kL1, kL0a, kL0b, kL0c, kUb };
inline constexpr unsigned kLocalBuffers = 5;

enum class DataType : std::uint8_t { kFp16, kBf16, kFp32, kInt8, kInt32, kInt64 };
inline constexpr unsigned kDataTypes = 6;
// 0: not one of the types.
constexpr Bytes bytes_of(DataType type) {
  constexpr Bytes kBytes[kDataTypes] = {2, 2, 4, 1, 4, 8};
  const auto index = static_cast<std::uint8_t>(type);
  return index < kDataTypes ? kBytes[index] : 0;
}

struct Local {
  LocalBuffer buffer = LocalBuffer::kUb;
  std::uint32_t offset = 0;  // bytes
};

// MTE2: copies `rows` pieces of `row_bytes` from global memory to L1 or UB. With `element` they
// become columns in UB: row_bytes / element rows of `rows` elements, `to_pitch` from one to the
// next. Only cores with has_transposing_copies() do so. With `fractals` a piece is a column of a
// matrix in fractals: it becomes one in the same way, of elements of 32 B, on every core and to L1,
// too.
struct CopyIn {
  Local to;
  std::uint64_t from = 0;
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 0;
  std::uint64_t from_pitch = 0;  // bytes between rows
  std::uint32_t to_pitch = 0;
  std::uint32_t element = 0;  // 1, 2, 4 or 8 bytes; 0: rows stay rows
  bool fractals = false;      // without `element`
};

// The destination of a copy by MTE3. kL1, from UB alone: a coupled core's own, or that of the cube
// core in the cluster of a vector core, which must run the same mixed block then. A destination
// that the chip's configuration does not have is a malformed instruction.
enum class CopyOutTarget : std::uint8_t { kGlobal, kL1 };

// MTE3: copies from UB or L1 to `target`.
struct CopyOut {
  std::uint64_t to = 0;  // address, or offset in the buffer
  Local from;
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 0;
  std::uint64_t to_pitch = 0;
  std::uint32_t from_pitch = 0;
  CopyOutTarget target = CopyOutTarget::kGlobal;
};

// What CopyOut and Fixpipe do with elements of global memory: each becomes
// operation(what is there, what is stored), in one step. kNone: it is replaced.
struct StoreReduction {
  abi::ReduceOperation operation = abi::ReduceOperation::kNone;
  abi::ElementType element = abi::ElementType::kFp32;
};

// MTE1: copies a matrix from L1 to L0A or L0B, optionally transposed. With `fractals` `rows`
// fractals, `from_pitch` from one to the next, which follow one another in L0; `transpose` then
// transposes each by itself, of 16 x 16 elements of two bytes.
struct LoadL0 {
  Local to;
  std::uint32_t from = 0;               // offset in L1
  std::uint32_t rows = 0, columns = 0;  // of the matrix in L1; `columns` not of fractals
  std::uint32_t from_pitch = 0;         // bytes
  DataType type = DataType::kFp16;
  bool transpose = false;
  bool fractals = false;
};

// Where C starts. kBias: each row of it is the bias, `n` numbers in L1 at `bias` (hardware copies
// them to its bias table first, which takes no time here).
enum class MmadStart : std::uint8_t { kZero, kBias };

// Cube: C = A x B or C += A x B, with A (m x k) in L0A, B (k x n) in L0B and C (m x n) in L0C. C is
// fp32, or int32 for int8. With `fractals` the operands lie as hardware has them: A in rows of
// fractals, each 16 rows of A by 32 B of k; B in rows of fractals, each 16 columns of B by 32 B of
// k; C in columns of fractals of 16 x 16. They begin with zeros or go on.
struct Mmad {
  std::uint32_t c = 0, a = 0, b = 0;  // offsets
  std::uint32_t m = 0, k = 0, n = 0;
  DataType type = DataType::kFp16;  // of A and B
  bool accumulate = false;          // false: C begins as `start` says
  MmadStart start = MmadStart::kZero;
  DataType bias_type = DataType::kFp32;  // fp32 or fp16; of int8 int32
  std::uint32_t bias = 0;                // offset in L1
  bool fractals = false;
};

// The destination of FixPipe. kL1 is the core's own. kUb is a coupled core's own, or that of a
// vector core in the cluster of a cube core. This vector core must run the same call (image,
// arguments, blocks) then; of invoked programs, the same mixed block. A destination that the chip's
// configuration does not have is a malformed instruction.
enum class FixpipeTarget : std::uint8_t { kGlobal, kL1, kUb };

// What FixPipe multiplies int32 with before it converts it. kColumns: `n` fp32 in L1 at `scales`,
// one for each column (hardware copies them to a buffer of its own first, which takes no time
// here).
enum class FixpipeScale : std::uint8_t { kNone, kOne, kColumns };

// FixPipe has 10 bits of a scale's fraction: it sees the number without its lowest 13 bits.
inline constexpr std::uint32_t kFixpipeScaleBits = 0xFFFF'E000;

// FixPipe: copies an m x n matrix from L0C to `target` and converts it: fp32 to fp16, bf16 or fp32;
// int32 to fp16, fp32 or int32; scaled int32 to fp16, and to bf16 if the chip can.
struct Fixpipe {
  std::uint64_t to = 0;    // address, or offset in the buffer
  std::uint32_t from = 0;  // offset in L0C
  std::uint32_t m = 0, n = 0;
  std::uint64_t to_pitch = 0;       // bytes
  DataType type = DataType::kFp32;  // in L0C: kFp32 or kInt32
  DataType to_type = DataType::kFp16;
  FixpipeTarget target = FixpipeTarget::kGlobal;
  std::uint8_t vector_core = 0;  // kUb from a cube core: 0 or 1
  FixpipeScale scaling = FixpipeScale::kNone;
  float scale = 1;           // kOne
  std::uint32_t scales = 0;  // kColumns: offset in L1
  // C in columns of fractals: bytes from one column to the next. 0: row by row.
  std::uint32_t column_pitch = 0;
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
  kOr,            // to = a op b, bit by bit
  kCompare,       // mask `to` = a compared with b
  kCompares,      // mask `to` = a compared with scalar
  kSelect,        // to = a where the mask has a one, b elsewhere
  kSelects,       // to = a where the mask has a one, scalar elsewhere
  kTranspose,     // to, `count` rows of `rows` elements = a, rows by count
  kBroadcast,     // to = b, one element per row
  kAxpy,          // to = a * scalar + b
  kDeinterleave,  // to = elements 0, 2, 4, ... of a row of a, and 1, 3, 5, ... behind them
};
inline constexpr unsigned kVectorOps = 37;
static_assert(static_cast<unsigned>(VectorOp::kDeinterleave) + 1 == kVectorOps);

// Comparisons with a NaN are false, except kNotEqual.
enum class Comparison : std::uint8_t {
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
};

// Vector: `rows` rows of `count` elements in UB. Pitches are bytes between rows; 0: dense.
// `type` is the type of a and b, and of the result except for kCast. Arithmetic and comparisons
// accept kFp16, kFp32 and kInt32; kMax and kMin also kInt64 (emulated). Division, kReciprocal,
// exponentials, kLn, roots and kAxpy (which rounds twice) accept kFp16 and kFp32. kCast accepts all
// but kInt64. Operations that only move or combine bits accept all types. A row of a mask has
// (count + 7) / 8 bytes. The first element is the lowest bit of the first byte, and unused bits are
// 0. The mask of a comparison and the results of kTranspose and kDeinterleave must not overlap
// their operands. The result of kCast may overlap if it writes nothing that is still to be read:
// elements not wider, offset not higher, rows not further apart. No result may overlap a mask that
// it uses.
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

struct VectorFunction;  // vector_function.hpp

enum class CrossScope : std::uint8_t {
  kCluster,   // the cube core and its vector cores of one mixed block
  kSameType,  // all cores of one type that run blocks of the same launch
};

// Where a kernel has the sizes of its tiles from, and what it makes ready for them.
enum class Tiling : std::uint8_t {
  kNone,       // its arguments, and it makes nothing ready: a plain product
  kArguments,  // its arguments; addresses and flags are made ready, as generated kernels do
  kConstant,   // compiled in; tensors are objects that are made ready
  kRunTime,    // as kConstant, but from a structure that the host has made for this launch
};
inline constexpr unsigned kTilings = 4;
// What a kernel makes ready before it works: why the launch of a large library's kernel takes
// longer than that of a small one.
struct SetUp {
  Tiling tiling = Tiling::kNone;
  bool pipe = false;   // queues and buffers as objects (TPipe), those of the core's kind
  bool mixed = false;  // a kernel of cube and vector cores, which find each other
};

// The call of one block of a kernel.
struct KernelCall {
  std::uint64_t image = 0;      // device address of its ImageHeader
  std::uint64_t arguments = 0;  // device address
  std::uint32_t block = 0, blocks = 1;
  std::uint32_t role = 0;  // in a mixed block: 0 cube core, 1 and 2 vector cores
};

class AicorePort {
 public:
  virtual ~AicorePort() = default;

  // The block that this program runs: of the launch, or of the innermost invoke().
  virtual const KernelCall& call() const = 0;
  virtual unsigned physical_core() const = 0;  // index of its register window
  virtual abi::CoreType core_type() const = 0;
  virtual Bytes buffer_size(LocalBuffer buffer) const = 0;  // bytes; 0: the core has none
  // Whether the vector unit computes in registers (vector_function.hpp).
  virtual bool has_vector_functions() const = 0;
  // Whether MTE2 transposes on the way to UB (CopyIn::element).
  virtual bool has_transposing_copies() const = 0;

  // Issue an instruction to its pipe. Returns when the pipe's queue has room for it.
  virtual void issue(const CopyIn& instruction) = 0;
  virtual void issue(const CopyOut& instruction) = 0;
  virtual void issue(const LoadL0& instruction) = 0;
  virtual void issue(const Mmad& instruction) = 0;
  virtual void issue(const Fixpipe& instruction) = 0;
  virtual void issue(const Vector& instruction) = 0;
  virtual void issue(const VectorFunction& instruction) = 0;
  // `from` raises the flag when all earlier instructions of it are complete. `to` waits for the
  // flag and lowers it. `from` and `to` differ, and one may be the scalar unit. A wait that nothing
  // can end is an exception.
  virtual void set_flag(Pipe from, Pipe to, unsigned id) = 0;
  virtual void wait_flag(Pipe from, Pipe to, unsigned id) = 0;
  // Later instructions of `pipe` begin when all earlier ones are complete. kAll: the scalar unit
  // waits for all pipes.
  virtual void pipe_barrier(Pipe pipe) = 0;
  // `pipe` raises a flag at the other cores of `scope`. A wait ends after one raise of each of
  // them. In kCluster the vector cores exchange flags only with the cube core.
  virtual void set_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) = 0;
  virtual void wait_cross_flag(Pipe pipe, CrossScope scope, unsigned flag) = 0;

  // Accesses of the scalar unit to global memory: 1, 2, 4 or 8 bytes, naturally aligned, through
  // its data cache. The cache is not coherent. Writes of others are visible after the line was
  // dropped, and own stores after the whole line was written back.
  virtual std::uint64_t load(std::uint64_t address, unsigned bytes) = 0;
  virtual void store(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
  // dcci: writes a modified line back, and drops the line.
  virtual void clean_invalidate(std::uint64_t address) = 0;
  virtual void clean_invalidate_all() = 0;
  // Earlier stores and written-back lines are in memory before later accesses.
  virtual void memory_barrier() = 0;
  // A word of UB. Flags order it against accesses of the pipes.
  virtual std::uint32_t load_ub(std::uint32_t offset) = 0;
  virtual void store_ub(std::uint32_t offset, std::uint32_t value) = 0;

  // The core's own registers: DATA_MAIN_BASE, with the doorbell in the upper word, and COND.
  virtual std::uint64_t data_main_base() = 0;
  virtual void set_cond(std::uint32_t value) = 0;
  virtual std::uint64_t system_counter() = 0;
  virtual std::uint64_t counter_hz() const = 0;
  virtual void scalar(unsigned cycles) = 0;  // time of the program's own instructions
  // Takes what a set-up costs beside the program's instructions and loads. An unknown tiling is an
  // exception.
  virtual void set_up(const SetUp& set_up) = 0;

  // As AicpuPort::poll_again(), for loops of load(), clean_invalidate() and data_main_base().
  virtual bool poll_again(std::uint64_t deadline) = 0;

  // Runs another program on this core, and returns its result. An invalid image is an exception.
  virtual int invoke(const KernelCall& call) = 0;
  // Ends the program with an exception.
  [[noreturn]] virtual void trap(std::uint16_t code) = 0;

  // Of instructions that are issued from now on, until the block ends. Sizes and addresses in
  // global memory are multiples of the element's size then, and the type of a Fixpipe is the
  // element's. New functions come last, so that compiled programs find the others.
  virtual void set_store_reduction(const StoreReduction& reduction) = 0;
};

// The entry point of an AI Core program (abi::ImageKind::kAiCore). It returns the result of the
// block; 0: success.
using AicoreEntry = int (*)(AicorePort&);
inline constexpr char kAicoreEntryName[] = "npu_aicore_main";

}  // namespace npu::platform
