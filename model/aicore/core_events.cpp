// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/core_events.hpp"

#include "model/aicore/instruction_checks.hpp"
#include "model/aicore/vector_shape.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

using platform::DataType;
using platform::LocalBuffer;

namespace {

// Bytes of an access, as public profilers reckon them for these events (docs/sources/runtime.md
// A5).
constexpr Bytes kUb = 128, kUbVectorRead = 512, kUbVectorWrite = 256;
constexpr Bytes kL1Read = 512, kL1Write = 128;
constexpr Bytes kL0Read = 512, kL0aWrite = 512, kL0bWrite = 256, kL0c = 256;
constexpr Bytes kGlobal = 256;
constexpr Bytes kFractal = 16;  // rows and columns of the cube's result

CoreEvent type_of(const platform::Vector& vector) {
  const bool casts = vector.op == platform::VectorOp::kCast;
  switch (vector.type) {
    case DataType::kFp32:
      return CoreEvent::kVectorFp32;
    case DataType::kFp16:
      return casts && bytes_of(vector.to_type) == 4 ? CoreEvent::kVectorFp16Wide
                                                    : CoreEvent::kVectorFp16;
    case DataType::kInt32:
      return CoreEvent::kVectorInt32;
    default:
      return CoreEvent::kVectorOther;
  }
}

// The first of its operations that is no cast.
CoreEvent type_of(const FunctionBody& function) {
  platform::Vector vector;
  vector.type = function.stores.front().type;
  for (const auto& step : function.steps) {
    vector.type = step.type;
    if (step.op != platform::VectorOp::kCast) break;
  }
  return type_of(vector);
}

class Counter {
 public:
  Counter(CoreEventCounts& counts, SimTime length) : counts_(counts), length_(length) {}

  void operator()(const platform::CopyIn& copy) const {
    const Bytes bytes = Bytes{copy.rows} * copy.row_bytes;
    if (copy.to.buffer != LocalBuffer::kUb) return access(CoreEvent::kL1Writes, bytes, kL1Write);
    access(CoreEvent::kUbWrites, bytes, kUb);
    access(CoreEvent::kUbMteWrites, bytes, kUb);
  }
  void operator()(const platform::CopyOut& copy) const {
    const Bytes bytes = Bytes{copy.rows} * copy.row_bytes;
    if (copy.from.buffer != LocalBuffer::kUb) return access(CoreEvent::kL1Reads, bytes, kL1Read);
    access(CoreEvent::kUbReads, bytes, kUb);
    access(CoreEvent::kUbMteReads, bytes, kUb);
  }
  void operator()(const platform::LoadL0& load) const {
    const Bytes read = load.fractals ? load.rows * kFractalBytes
                                     : Bytes{load.rows} * load.columns * bytes_of(load.type);
    access(CoreEvent::kL1Reads, read, kL1Read);
    const Bytes rows = load.transpose ? load.columns : load.rows;
    const Bytes columns = load.transpose ? load.rows : load.columns;
    const Bytes bytes =
        load.fractals ? read : round_up(rows, kFractal) * l0_pitch(columns, load.type);
    const bool a = load.to.buffer == LocalBuffer::kL0a;
    access(a ? CoreEvent::kL0aWrites : CoreEvent::kL0bWrites, bytes, a ? kL0aWrite : kL0bWrite);
  }
  // For each fractal that it multiplies the cube fetches one of A and one of B.
  void operator()(const platform::Mmad& mmad) const {
    const bool int8 = mmad.type == DataType::kInt8;
    counts_.add(int8 ? CoreEvent::kCubeInt8 : CoreEvent::kCubeFloat, length_);
    const Bytes k = int8 ? 2 * kFractal : kFractal;
    const Bytes results = ceil_div(mmad.m, kFractal) * ceil_div(mmad.n, kFractal);
    const Bytes reads =
        results * ceil_div(mmad.k, k) * ceil_div(kFractal * k * bytes_of(mmad.type), kL0Read);
    counts_.add(CoreEvent::kL0aReads, reads);
    counts_.add(CoreEvent::kL0bReads, reads);
    const Bytes bytes = results * kFractal * kFractal * sizeof(float);
    access(CoreEvent::kL0cWrites, bytes, kL0c);
    if (mmad.accumulate) access(CoreEvent::kL0cReads, bytes, kL0c);
  }
  void operator()(const platform::Fixpipe& fixpipe) const {
    access(CoreEvent::kL0cReads, fixpipe.m * l0c_pitch(fixpipe.n), kL0c);
    const Bytes bytes = Bytes{fixpipe.m} * fixpipe.n * bytes_of(fixpipe.to_type);
    if (fixpipe.target == platform::FixpipeTarget::kL1) {
      access(CoreEvent::kL1Writes, bytes, kL1Write);
    } else if (fixpipe.target == platform::FixpipeTarget::kUb) {
      access(CoreEvent::kUbWrites, bytes, kUb);
    }
  }
  void operator()(const platform::Vector& vector) const {
    counts_.add(type_of(vector), length_);
    const VectorShape shape = shape_of(vector);
    const Bytes reads = vector.rows * (shape.a_row + shape.b_row + shape.mask_row);
    const Bytes writes = shape.results * shape.to_row;
    access(CoreEvent::kUbReads, reads, kUb);
    access(CoreEvent::kUbVectorReads, reads, kUbVectorRead);
    access(CoreEvent::kUbWrites, writes, kUb);
    access(CoreEvent::kUbVectorWrites, writes, kUbVectorWrite);
  }

  void operator()(const HeldFunction& held) const {
    const FunctionBody& function = *held.body;
    counts_.add(type_of(function), length_);
    const auto bytes = [&](const std::vector<platform::FunctionTensor>& tensors) {
      Bytes sum = 0;
      for (const auto& tensor : tensors) {
        const auto extent = extent_of(tensor, function.count, function.rows);
        sum += extent.rows * extent.row;
      }
      return sum;
    };
    const Bytes reads = bytes(function.loads), writes = bytes(function.stores);
    access(CoreEvent::kUbReads, reads, kUb);
    access(CoreEvent::kUbVectorReads, reads, kUbVectorRead);
    access(CoreEvent::kUbWrites, writes, kUb);
    access(CoreEvent::kUbVectorWrites, writes, kUbVectorWrite);
  }

 private:
  void access(CoreEvent event, Bytes bytes, Bytes each) const {
    counts_.add(event, ceil_div(bytes, each));
  }
  CoreEventCounts& counts_;
  const SimTime length_;
};

}  // namespace

void CoreEventCounts::executed(const Instruction& instruction, SimTime length) {
  std::visit(Counter(*this, length), instruction);
}

void CoreEventCounts::sent(bool write, Bytes bytes) {
  add(write ? CoreEvent::kMainWrites : CoreEvent::kMainReads, ceil_div(bytes, kGlobal));
}

void CoreEventCounts::answered(bool write, Bytes bytes, std::uint32_t hits, std::uint32_t misses) {
  if (hits + misses == 0) return;
  const Bytes had = bytes * hits / (hits + misses);
  add(write ? CoreEvent::kL2Writes : CoreEvent::kL2Reads, ceil_div(had, kGlobal));
  add(write ? CoreEvent::kL2WriteHits : CoreEvent::kL2ReadHits, hits);
  add(write ? CoreEvent::kL2WriteMisses : CoreEvent::kL2ReadMisses, misses);
}

}  // namespace npu::model
