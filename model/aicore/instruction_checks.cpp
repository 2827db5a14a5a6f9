// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/instruction_checks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/aicore/vector_operators.hpp"
#include "model/aicore/vector_shape.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using abi::FaultCode;
using platform::DataType;
using platform::FixpipeTarget;
using platform::Local;
using platform::LocalBuffer;
using platform::Vector;
using platform::VectorOp;

namespace {

using Finding = InstructionFinding;
using Field = abi::FaultyField;

constexpr Bytes kBlock = 32;  // grain of local addresses

constexpr Finding malformed(Field field) {
  return {FaultCode::kInstruction, field, 0, 0, 0, 0};
}
// A number of rows or columns that is none, or above what any buffer holds.
constexpr Finding check_count(Field field, std::uint32_t found, std::uint32_t most) {
  if (found == 0) return {FaultCode::kInstruction, field, 0, 0, 0, 0};
  if (found > most) return {FaultCode::kLocalBuffer, field, 0, found, 0, 0};
  return {};
}

Bytes size_of(const BufferSizes& sizes, LocalBuffer buffer) {
  const auto index = static_cast<std::size_t>(buffer);
  return index < sizes.size() ? sizes[index] : 0;
}

// `rows` pieces of `row_bytes` at `pitch`.
Finding check_local(const BufferSizes& sizes, Field field, Local at, Bytes rows, Bytes row_bytes,
                    Bytes pitch) {
  const Bytes size = size_of(sizes, at.buffer);
  const Bytes length = (rows - 1) * pitch + row_bytes;
  const auto found = [&](FaultCode code) {
    return Finding{code, field, static_cast<unsigned>(at.buffer) + 1, at.offset, 0, length};
  };
  if (size == 0) return found(FaultCode::kInstruction);
  if (at.offset % kBlock != 0 || (rows > 1 && pitch % kBlock != 0)) {
    return found(FaultCode::kLocalAlignment);
  }
  return range_fits(at.offset, length, size) ? Finding{} : found(FaultCode::kLocalBuffer);
}

Finding check_global(std::uint64_t address, Bytes rows, Bytes row_bytes, std::uint64_t pitch) {
  const Bytes limit = std::uint64_t{1} << abi::kVirtualBits;
  const bool fits = pitch < limit && range_fits(address, row_bytes, limit) &&
                    (rows == 1 || pitch <= (limit - address - row_bytes) / (rows - 1));
  return fits ? Finding{}
              : Finding{FaultCode::kDeviceAddress, Field::kGlobal, 0, 0, address, row_bytes};
}

// Rows in a local buffer may not lie on each other. `row`: what gives a row its bytes.
Finding check_pieces(Bytes rows, Field row, Bytes row_bytes, Bytes local_pitch) {
  if (rows == 0) return malformed(Field::kRows);
  if (row_bytes == 0) return malformed(row);
  if (rows == 1 || local_pitch >= row_bytes) return {};
  const auto pitch = static_cast<std::uint32_t>(local_pitch);
  return {FaultCode::kInstruction, Field::kPitch, 0, pitch, 0, row_bytes};
}

bool integer(DataType type) {
  return type == DataType::kInt8 || type == DataType::kInt32;
}

bool valid(DataType type) {
  return bytes_of(type) != 0;
}
// What the cube and FixPipe know, and conversions.
bool matrix_type(DataType type) {
  return type <= DataType::kInt32;
}

// The vector unit computes in fp16, fp32 and int32; others are moved and converted only.
bool computed(DataType type) {
  return type == DataType::kFp16 || type == DataType::kFp32 || type == DataType::kInt32;
}

bool knows(VectorTypes types, DataType type) {
  switch (types) {
    case VectorTypes::kAll:
      return valid(type);
    case VectorTypes::kConverted:
      return matrix_type(type);
    case VectorTypes::kComputed:
      return computed(type);
    case VectorTypes::kComputedOrInt64:
      return computed(type) || type == DataType::kInt64;
    case VectorTypes::kReal:
      return type == DataType::kFp16 || type == DataType::kFp32;
  }
  return false;
}

bool native(const Vector& vector) {
  if (static_cast<unsigned>(vector.op) >= platform::kVectorOps) return false;
  const VectorOperator& op = operator_of(vector.op);
  if (!knows(op.types, vector.type)) return false;
  if (op.result == VectorResult::kOtherType) return matrix_type(vector.to_type);
  return op.result != VectorResult::kMask || vector.comparison <= platform::Comparison::kNotEqual;
}

bool convertible(DataType from, DataType to) {
  if (from == DataType::kInt32)
    return to == DataType::kInt32 || to == DataType::kFp32 || to == DataType::kFp16;
  return from == DataType::kFp32 && matrix_type(to) && !integer(to);
}

// A copy between L1 or UB and global memory.
template <class Copy>
Finding check_copy(const BufferSizes& sizes, Field field, Local local, Bytes local_pitch,
                   std::uint64_t global, std::uint64_t global_pitch, const Copy& copy) {
  const auto pieces = check_pieces(copy.rows, Field::kRowBytes, copy.row_bytes, local_pitch);
  if (pieces.wrong()) return pieces;
  if (local.buffer != LocalBuffer::kL1 && local.buffer != LocalBuffer::kUb) return malformed(field);
  const auto found = check_local(sizes, field, local, copy.rows, copy.row_bytes, local_pitch);
  if (found.wrong()) return found;
  return check_global(global, copy.rows, copy.row_bytes, global_pitch);
}

// From UB to L1, of this core or of another.
Finding check_local_copy(const BufferSizes& sizes, const platform::CopyOut& copy,
                         const FixpipeWays& ways) {
  if (ways.l1_from_ub == 0) return malformed(Field::kKind);
  if (copy.from.buffer != LocalBuffer::kUb) return malformed(Field::kFrom);
  for (const Bytes pitch : {Bytes{copy.from_pitch}, Bytes{copy.to_pitch}}) {
    const auto pieces = check_pieces(copy.rows, Field::kRowBytes, copy.row_bytes, pitch);
    if (pieces.wrong()) return pieces;
  }
  const auto found =
      check_local(sizes, Field::kFrom, copy.from, copy.rows, copy.row_bytes, copy.from_pitch);
  if (found.wrong()) return found;
  BufferSizes only{};
  only[static_cast<std::size_t>(LocalBuffer::kL1)] = ways.l1_from_ub;
  const Bytes most = ways.l1_from_ub;
  const auto to = static_cast<std::uint32_t>(std::min<Bytes>(copy.to, UINT32_MAX));
  if (copy.to > most || copy.to_pitch > most) {
    return {FaultCode::kLocalBuffer, Field::kTo, static_cast<unsigned>(LocalBuffer::kL1) + 1, to, 0,
            copy.row_bytes};
  }
  return check_local(only, Field::kTo, {LocalBuffer::kL1, to}, copy.rows, copy.row_bytes,
                     copy.to_pitch);
}

}  // namespace

namespace {

// Rows become columns: `rows` elements each.
Finding check_transposing(const BufferSizes& sizes, const platform::CopyIn& copy) {
  const std::uint32_t element = copy.fractals ? kBlock : copy.element;
  const bool width = element == 1 || element == 2 || element == 4 || element == 8;
  const bool to_ub = copy.to.buffer == LocalBuffer::kUb;
  const bool to_l1 = copy.to.buffer == LocalBuffer::kL1;
  if (copy.fractals ? copy.element != 0 || !(to_ub || to_l1) : !width || !to_ub) {
    return malformed(Field::kKind);
  }
  if (copy.row_bytes % element != 0) return malformed(Field::kRowBytes);
  const Bytes row = Bytes{copy.rows} * element;
  const Bytes rows = copy.row_bytes / element;
  const auto pieces = check_pieces(copy.rows, Field::kRowBytes, copy.row_bytes, copy.row_bytes);
  if (pieces.wrong()) return pieces;
  const auto columns = check_pieces(rows, Field::kRows, row, copy.to_pitch);
  if (columns.wrong()) return columns;
  const auto found = check_local(sizes, Field::kTo, copy.to, rows, row, copy.to_pitch);
  if (found.wrong()) return found;
  return check_global(copy.from, copy.rows, copy.row_bytes, copy.from_pitch);
}

Finding check_fractals(const BufferSizes& sizes, const platform::LoadL0& load) {
  if (load.transpose && bytes_of(load.type) != 2) return malformed(Field::kKind);
  const auto pieces = check_pieces(load.rows, Field::kRows, kFractalBytes, load.from_pitch);
  if (pieces.wrong()) return pieces;
  const auto from = check_local(sizes, Field::kFrom, {LocalBuffer::kL1, load.from}, load.rows,
                                kFractalBytes, load.from_pitch);
  if (from.wrong()) return from;
  return check_local(sizes, Field::kTo, load.to, 1, load.rows * kFractalBytes, 0);
}

}  // namespace

Finding check(const BufferSizes& sizes, const platform::CopyIn& copy, bool transposes) {
  if (copy.fractals) return check_transposing(sizes, copy);
  if (copy.element != 0) {
    return transposes ? check_transposing(sizes, copy) : malformed(Field::kKind);
  }
  return check_copy(sizes, Field::kTo, copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy);
}

Finding check(const BufferSizes& sizes, const platform::CopyOut& copy, const FixpipeWays& ways) {
  if (copy.target > platform::CopyOutTarget::kL1) return malformed(Field::kKind);
  if (copy.target == platform::CopyOutTarget::kL1) return check_local_copy(sizes, copy, ways);
  return check_copy(sizes, Field::kFrom, copy.from, copy.from_pitch, copy.to, copy.to_pitch, copy);
}

Finding check(const BufferSizes& sizes, const platform::LoadL0& load) {
  if (!matrix_type(load.type)) return malformed(Field::kKind);
  if (load.to.buffer != LocalBuffer::kL0a && load.to.buffer != LocalBuffer::kL0b) {
    return malformed(Field::kTo);
  }
  if (load.fractals) return check_fractals(sizes, load);
  const Bytes row_bytes = load.columns * bytes_of(load.type);
  const auto pieces = check_pieces(load.rows, Field::kColumns, row_bytes, load.from_pitch);
  if (pieces.wrong()) return pieces;
  const auto from = check_local(sizes, Field::kFrom, {LocalBuffer::kL1, load.from}, load.rows,
                                row_bytes, load.from_pitch);
  if (from.wrong()) return from;
  const Bytes rows = load.transpose ? load.columns : load.rows;
  const Bytes columns = load.transpose ? load.rows : load.columns;
  return check_local(sizes, Field::kTo, load.to, 1,
                     round_up(rows, 16) * l0_pitch(columns, load.type), 0);
}

namespace {

// `n` numbers in L1.
Finding check_table(const BufferSizes& sizes, Field field, std::uint32_t at, Bytes n,
                    DataType type) {
  return check_local(sizes, field, {LocalBuffer::kL1, at}, 1, n * bytes_of(type), 0);
}

// C goes on from itself, or begins with numbers that become its type.
Finding check_bias(const BufferSizes& sizes, const platform::Mmad& mmad) {
  const bool integers = mmad.type == DataType::kInt8;
  const bool known = integers
                         ? mmad.bias_type == DataType::kInt32
                         : mmad.bias_type == DataType::kFp32 || mmad.bias_type == DataType::kFp16;
  if (mmad.accumulate || mmad.start != platform::MmadStart::kBias || !known) {
    return malformed(Field::kKind);
  }
  return check_table(sizes, Field::kSecond, mmad.bias, mmad.n, mmad.bias_type);
}

}  // namespace

Finding check(const BufferSizes& sizes, const platform::Mmad& mmad) {
  const std::pair<Field, std::uint32_t> lengths[] = {
      {Field::kRows, mmad.m}, {Field::kDepth, mmad.k}, {Field::kColumns, mmad.n}};
  for (const auto& [field, length] : lengths) {
    if (length == 0 || length > kMaxMatrix) {
      return {FaultCode::kInstruction, field, 0, length, 0, 0};
    }
  }
  if (!matrix_type(mmad.type) || mmad.type == DataType::kInt32) return malformed(Field::kKind);
  // Whole fractals.
  platform::Mmad whole = mmad;
  whole.m = static_cast<std::uint32_t>(round_up(mmad.m, 16));
  if (!mmad.fractals) whole.k = static_cast<std::uint32_t>(round_up(mmad.k, 16));
  const Bytes a_bytes = mmad.fractals ? bytes_of(mmad).a : whole.m * l0_pitch(mmad.k, mmad.type);
  const auto a = check_local(sizes, Field::kFrom, {LocalBuffer::kL0a, mmad.a}, 1, a_bytes, 0);
  if (a.wrong()) return a;
  const auto b =
      check_local(sizes, Field::kSecond, {LocalBuffer::kL0b, mmad.b}, 1, bytes_of(whole).b, 0);
  if (b.wrong()) return b;
  if (mmad.fractals && mmad.start != platform::MmadStart::kZero) return malformed(Field::kKind);
  if (mmad.start != platform::MmadStart::kZero) {
    const auto bias = check_bias(sizes, mmad);
    if (bias.wrong()) return bias;
  }
  return check_local(sizes, Field::kTo, {LocalBuffer::kL0c, mmad.c}, 1, bytes_of(whole).c, 0);
}

// Elements and rows: far beyond any buffer, and products of two fit into 64 bits.
constexpr std::uint32_t kMostLocal = std::uint32_t{1} << 24;

namespace {

bool scalable(const FixpipeWays& ways, DataType from, DataType to) {
  if (from != DataType::kInt32) return false;
  return to == DataType::kFp16 || (to == DataType::kBf16 && ways.scaled_bf16);
}

// FixPipe's result in a local buffer.
Finding check_target(const FixpipeWays& ways, const platform::Fixpipe& fixpipe, Bytes row) {
  const bool ub = fixpipe.target == FixpipeTarget::kUb;
  const Bytes size = ub ? ways.ub : fixpipe.target == FixpipeTarget::kL1 ? ways.l1 : 0;
  if (size == 0) return malformed(Field::kTo);
  if (ub && fixpipe.vector_core >= ways.vector_cores) return malformed(Field::kKind);
  const auto pieces = check_pieces(fixpipe.m, Field::kColumns, row, fixpipe.to_pitch);
  if (pieces.wrong()) return pieces;
  if (fixpipe.to >= size || fixpipe.to_pitch > size) {
    const auto buffer = static_cast<unsigned>(ub ? LocalBuffer::kUb : LocalBuffer::kL1) + 1;
    return {FaultCode::kLocalBuffer,
            Field::kTo,
            buffer,
            static_cast<std::uint32_t>(fixpipe.to),
            0,
            row};
  }
  BufferSizes only{};
  only[static_cast<std::size_t>(LocalBuffer::kUb)] = size;
  auto found =
      check_local(only, Field::kTo, {LocalBuffer::kUb, static_cast<std::uint32_t>(fixpipe.to)},
                  fixpipe.m, row, fixpipe.to_pitch);
  if (found.wrong() && !ub) found.buffer = static_cast<unsigned>(LocalBuffer::kL1) + 1;
  return found;
}

// An operand or result in UB: rows, bytes of each, bytes from row to row (0: dense).
struct UbRows {
  Bytes offset, rows, row, pitch;
  Bytes length() const { return (rows - 1) * (pitch == 0 ? row : pitch) + row; }
  bool meets(const UbRows& other) const {
    return row != 0 && other.row != 0 && offset < other.offset + other.length() &&
           other.offset < offset + length();
  }
  // Written in order in their place, they come to none of `read` that has not been read.
  bool stay_behind(const UbRows& read) const {
    const auto apart = [](const UbRows& r) { return r.pitch == 0 ? r.row : r.pitch; };
    return offset <= read.offset && row <= read.row && (rows == 1 || apart(*this) <= apart(read));
  }
};

Finding check_rows(const BufferSizes& sizes, Field field, const UbRows& rows) {
  if (rows.row == 0) return {};
  const Local at{LocalBuffer::kUb, static_cast<std::uint32_t>(rows.offset)};
  // Dense rows may end anywhere.
  if (rows.pitch == 0) return check_local(sizes, field, at, 1, rows.rows * rows.row, 0);
  return check_local(sizes, field, at, rows.rows, rows.row, rows.pitch);
}

}  // namespace

Finding check(const BufferSizes& sizes, const platform::Fixpipe& fixpipe, const FixpipeWays& ways) {
  const auto rows = check_count(Field::kRows, fixpipe.m, kMostLocal);
  if (rows.wrong()) return rows;
  const auto columns = check_count(Field::kColumns, fixpipe.n, kMostLocal);
  if (columns.wrong()) return columns;
  const bool scales = fixpipe.scaling != platform::FixpipeScale::kNone;
  const bool possible = scales ? scalable(ways, fixpipe.type, fixpipe.to_type)
                               : convertible(fixpipe.type, fixpipe.to_type);
  if (!possible || fixpipe.scaling > platform::FixpipeScale::kColumns) {
    return malformed(Field::kKind);
  }
  if (fixpipe.scaling == platform::FixpipeScale::kColumns) {
    const auto table =
        check_table(sizes, Field::kSecond, fixpipe.scales, fixpipe.n, DataType::kFp32);
    if (table.wrong()) return table;
  }
  const bool fractals = fixpipe.column_pitch != 0;
  const Bytes height = round_up(fixpipe.m, 16);
  const auto local =
      check_local(sizes, Field::kFrom, {LocalBuffer::kL0c, fixpipe.from},
                  fractals ? ceil_div(fixpipe.n, 16) : 1,
                  fractals ? height * 64 : height * l0c_pitch(fixpipe.n), fixpipe.column_pitch);
  if (local.wrong()) return local;
  const Bytes row = fixpipe.n * bytes_of(fixpipe.to_type);
  if (fixpipe.target != FixpipeTarget::kGlobal) return check_target(ways, fixpipe, row);
  return check_global(fixpipe.to, fixpipe.m, row, fixpipe.to_pitch);
}

Finding check(const BufferSizes& sizes, const Vector& vector) {
  const auto columns = check_count(Field::kColumns, vector.count, kMostLocal);
  if (columns.wrong()) return columns;
  const auto rows = check_count(Field::kRows, vector.rows, kMostLocal);
  if (rows.wrong()) return rows;
  if (!native(vector)) return malformed(Field::kKind);
  const VectorShape shape = shape_of(vector);
  const UbRows to{vector.to, shape.results, shape.to_row, vector.to_pitch};
  const UbRows operands[] = {{vector.a, vector.rows, shape.a_row, vector.a_pitch},
                             {vector.b, vector.rows, shape.b_row, vector.b_pitch},
                             {vector.mask, vector.rows, shape.mask_row, vector.mask_pitch}};
  const auto found = check_rows(sizes, Field::kTo, to);
  if (found.wrong()) return found;
  const VectorResult result = operator_of(vector.op).result;
  const bool apart = result == VectorResult::kMask || result == VectorResult::kTransposed ||
                     result == VectorResult::kMoved;
  constexpr Field kFields[] = {Field::kFrom, Field::kSecond, Field::kMask};
  for (std::size_t i = 0; i < std::size(operands); ++i) {
    const auto wrong = check_rows(sizes, kFields[i], operands[i]);
    if (wrong.wrong()) return wrong;
    if (apart && to.meets(operands[i])) return malformed(kFields[i]);
  }
  const UbRows& source = operands[0];
  if (result == VectorResult::kOtherType && to.meets(source) && !to.stay_behind(source)) {
    return malformed(Field::kFrom);
  }
  // A mask is read while the result is written.
  return to.meets(operands[2]) ? malformed(Field::kMask) : Finding{};
}

}  // namespace npu::model
