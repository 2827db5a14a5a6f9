// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/local_memory.hpp"

#include <algorithm>
#include <cstring>

#include "model/aicore/arithmetic/convert.hpp"
#include "model/aicore/arithmetic/fractals.hpp"
#include "model/aicore/arithmetic/function_unit.hpp"
#include "model/aicore/arithmetic/matrix.hpp"
#include "model/aicore/arithmetic/vector_unit.hpp"

namespace npu::model {

using platform::LocalBuffer;

unsigned char* LocalMemory::at(LocalBuffer buffer, Bytes offset) {
  const auto index = static_cast<std::size_t>(buffer);
  Buffer& lines = buffers_[index];
  if (lines.empty()) lines.resize(sizes_[index] / sizeof(Line) + 1);
  return lines.front().bytes + offset;
}

void LocalMemory::clear() {
  for (const auto& rows : borrowed_) memory_->give_back(rows.from, rows.extent(), *this);
  borrowed_.clear();
  for (auto& buffer : buffers_) buffer.clear();
  for (auto& loads : deferred_) loads = {};
  pieces_.clear();
  sources_.clear();
}

CommandFault LocalMemory::execute(const Instruction& instruction,
                                  const platform::StoreReduction& reduction,
                                  DeviceMemoryPort& memory, SpaceId vmid) {
  if (!functional_) return {};
  if (const auto* in = std::get_if<platform::CopyIn>(&instruction)) {
    return copy_in(*in, memory, vmid);
  }
  if (const auto* out = std::get_if<platform::CopyOut>(&instruction)) {
    return copy_out(*out, {memory, vmid, reduction});
  }
  if (const auto* result = std::get_if<platform::Fixpipe>(&instruction)) {
    return fixpipe(*result, {memory, vmid, reduction});
  }
  if (const auto* load = std::get_if<platform::LoadL0>(&instruction)) {
    load_l0(*load);
  } else if (const auto* product = std::get_if<platform::Mmad>(&instruction)) {
    mmad(*product);
  } else if (const auto* function = std::get_if<HeldFunction>(&instruction)) {
    arithmetic::execute(*function->body, at(LocalBuffer::kUb, 0));
  } else {
    arithmetic::execute(std::get<platform::Vector>(instruction), at(LocalBuffer::kUb, 0));
  }
  return {};
}

CommandFault LocalMemory::copy_in(const platform::CopyIn& copy, DeviceMemoryPort& memory,
                                  SpaceId vmid) {
  if (copy.fractals || copy.element != 0) return copy_transposed(copy, memory, vmid);
  const bool dense = copy.to_pitch == copy.row_bytes;
  if (copy.to.buffer == LocalBuffer::kL1) {
    if (dense && borrow(copy, memory, vmid)) return {};
    // Reads may fail half way: what lies there is kept up to the row that is read.
    l1_written({copy.to.offset, Bytes{copy.rows - 1U} * copy.to_pitch + copy.row_bytes});
  }
  unsigned char* to = at(copy.to.buffer, copy.to.offset);
  std::uint64_t from = copy.from;
  const bool whole = dense && copy.from_pitch == copy.row_bytes;
  const std::uint32_t rows = whole ? 1 : copy.rows;
  const Bytes length = Bytes{copy.row_bytes} * (whole ? copy.rows : 1);
  if (dense && rows > 1 &&
      memory.read_rows(vmid, from, rows, length, copy.from_pitch, to) == Completion::kSuccess) {
    return {};
  }
  // Row by row, and to the one that fails.
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto completion = memory.read(vmid, from, to, length);
    if (completion != Completion::kSuccess) {
      return {device_fault(completion), from, vmid, false};
    }
    from += copy.from_pitch;
    to += copy.to_pitch;
  }
  return {};
}

CommandFault LocalMemory::copy_transposed(const platform::CopyIn& copy, DeviceMemoryPort& memory,
                                          SpaceId vmid) {
  const Bytes element = copy.fractals ? 32 : copy.element;
  if (copy.to.buffer == LocalBuffer::kL1) {
    const Bytes rows = copy.row_bytes / element;
    l1_written({copy.to.offset, (rows - 1) * copy.to_pitch + copy.rows * element});
  }
  row_.resize(copy.row_bytes);
  std::uint64_t from = copy.from;
  for (std::uint32_t row = 0; row < copy.rows; ++row) {
    const auto completion = memory.read(vmid, from, row_.data(), copy.row_bytes);
    if (completion != Completion::kSuccess) return {device_fault(completion), from, vmid, false};
    unsigned char* to = at(copy.to.buffer, copy.to.offset) + row * element;
    for (Bytes i = 0; i < copy.row_bytes; i += element) {
      std::memcpy(to, row_.data() + i, element);
      to += copy.to_pitch;
    }
    from += copy.from_pitch;
  }
  return {};
}

CommandFault LocalMemory::copy_out(const platform::CopyOut& copy, const GlobalStores& stores) {
  if (copy.from.buffer == LocalBuffer::kL1) {
    complete_l1_loads({copy.from.offset, Bytes{copy.rows - 1U} * copy.from_pitch + copy.row_bytes});
  }
  const unsigned char* from = at(copy.from.buffer, copy.from.offset);
  std::uint64_t to = copy.to;
  const bool whole = copy.from_pitch == copy.row_bytes && copy.to_pitch == copy.row_bytes;
  const std::uint32_t rows = whole ? 1 : copy.rows;
  const Bytes length = Bytes{copy.row_bytes} * (whole ? copy.rows : 1);
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (const auto fault = stores.write(to, from, length); fault.failed()) return fault;
    from += copy.from_pitch;
    to += copy.to_pitch;
  }
  return {};
}

CommandFault LocalMemory::fixpipe(const platform::Fixpipe& fixpipe, const GlobalStores& stores) {
  finish_product();
  take_scales(fixpipe);
  const unsigned char* from = at(LocalBuffer::kL0c, fixpipe.from);
  const Bytes length = fixpipe.n * bytes_of(fixpipe.to_type);
  row_.resize(length);
  std::uint64_t to = fixpipe.to;
  for (std::uint32_t row = 0; row < fixpipe.m; ++row) {
    convert_row(fixpipe, from, row_.data());
    if (const auto fault = stores.write(to, row_.data(), length); fault.failed()) return fault;
    from += arithmetic::row_pitch(fixpipe);
    to += fixpipe.to_pitch;
  }
  return {};
}

void LocalMemory::move(const platform::Fixpipe& fixpipe, LocalMemory& target) {
  if (!functional_) return;
  finish_product();
  take_scales(fixpipe);
  const bool ub = fixpipe.target == platform::FixpipeTarget::kUb;
  const unsigned char* from = at(LocalBuffer::kL0c, fixpipe.from);
  unsigned char* to = target.at(ub ? LocalBuffer::kUb : LocalBuffer::kL1, fixpipe.to);
  const Bytes length = Bytes{fixpipe.n} * bytes_of(fixpipe.to_type);
  if (!ub) l1_written({fixpipe.to, (fixpipe.m - 1) * fixpipe.to_pitch + length});
  for (std::uint32_t row = 0; row < fixpipe.m; ++row) {
    convert_row(fixpipe, from, to);
    from += arithmetic::row_pitch(fixpipe);
    to += fixpipe.to_pitch;
  }
}

void LocalMemory::move(const platform::CopyOut& copy, LocalMemory& target) {
  if (!functional_) return;
  const unsigned char* from = at(LocalBuffer::kUb, copy.from.offset);
  target.l1_written({copy.to, Bytes{copy.rows - 1U} * copy.to_pitch + copy.row_bytes});
  unsigned char* to = target.at(LocalBuffer::kL1, copy.to);
  for (std::uint32_t row = 0; row < copy.rows; ++row) {
    std::memcpy(to, from, copy.row_bytes);
    from += copy.from_pitch;
    to += copy.to_pitch;
  }
}

// As FixPipe sees them.
void LocalMemory::take_scales(const platform::Fixpipe& fixpipe) {
  if (fixpipe.scaling == platform::FixpipeScale::kNone) return;
  scales_.assign(fixpipe.n, fixpipe.scale);
  if (fixpipe.scaling == platform::FixpipeScale::kColumns) {
    const Bytes length = fixpipe.n * sizeof(float);
    complete_l1_loads({fixpipe.scales, length});
    std::memcpy(scales_.data(), at(LocalBuffer::kL1, fixpipe.scales), length);
  }
  for (float& scale : scales_) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &scale, sizeof bits);
    bits &= platform::kFixpipeScaleBits;
    std::memcpy(&scale, &bits, sizeof scale);
  }
}

void LocalMemory::convert_row(const platform::Fixpipe& fixpipe, const unsigned char* from,
                              unsigned char* to) {
  if (fixpipe.column_pitch != 0) from = arithmetic::row_of(fixpipe, from, gathered_);
  if (fixpipe.scaling == platform::FixpipeScale::kNone) {
    return arithmetic::convert(fixpipe.type, from, fixpipe.to_type, to, fixpipe.n);
  }
  scaled_.resize(fixpipe.n);
  arithmetic::to_float(fixpipe.type, from, scaled_.data(), fixpipe.n);
  for (std::uint32_t i = 0; i < fixpipe.n; ++i) scaled_[i] *= scales_[i];
  arithmetic::from_float(scaled_.data(), fixpipe.to_type, to, fixpipe.n);
}

void LocalMemory::load_l0(const platform::LoadL0& load) {
  // What is overwritten need not be moved before.
  const auto target = DeferredLoads::target(load);
  deferred(load.to.buffer)
      .settle([&](const auto& old) { return target.covers(DeferredLoads::target(old)); },
              [](const auto&) {});
  settle(load.to.buffer, target);
  if (load.transpose || load.fractals) return move_l0(load);
  deferred(load.to.buffer).add(load);
}

void LocalMemory::move_l0(const platform::LoadL0& load) {
  complete_l1_loads(DeferredLoads::source(load));
  if (load.fractals) {
    return arithmetic::copy_fractals(load, at(LocalBuffer::kL1, load.from),
                                     at(load.to.buffer, load.to.offset));
  }
  const Bytes columns = load.transpose ? load.rows : load.columns;
  const arithmetic::Matrix matrix{load.rows, load.columns, load.from_pitch};
  arithmetic::copy(matrix, at(LocalBuffer::kL1, load.from), at(load.to.buffer, load.to.offset),
                   l0_pitch(columns, load.type), bytes_of(load.type), load.transpose);
}

void LocalMemory::settle(LocalBuffer l0, const DeferredLoads::Range& target) {
  deferred(l0).settle([&](const auto& load) { return target.meets(DeferredLoads::target(load)); },
                      [this](const auto& load) { move_l0(load); });
}

void LocalMemory::l1_written(const DeferredLoads::Range& l1, bool wholly) {
  if (std::any_of(sources_.begin(), sources_.end(), [&](const auto& s) { return s.meets(l1); })) {
    finish_product();
  }
  for (auto& loads : deferred_) {
    loads.settle([&](const auto& load) { return l1.meets(DeferredLoads::source(load)); },
                 [this](const auto& load) { move_l0(load); });
  }
  for (std::size_t i = 0; wholly && i < borrowed_.size();) {
    const BorrowedRows rows = borrowed_[i];
    if (!l1.covers(rows.l1)) {
      ++i;
      continue;
    }
    borrowed_[i] = borrowed_.back();
    borrowed_.pop_back();
    memory_->give_back(rows.from, rows.extent(), *this);
  }
  complete_l1_loads(l1);
}

bool LocalMemory::borrow(const platform::CopyIn& copy, DeviceMemoryPort& memory, SpaceId vmid) {
  constexpr Bytes kWorthwhile = 4096;
  const Bytes length = Bytes{copy.rows} * copy.row_bytes;
  if (length < kWorthwhile) return false;
  BorrowedRows rows{{copy.to.offset, length}, copy.row_bytes, copy.rows, copy.from_pitch, nullptr};
  rows.from = memory.direct_pointer(vmid, copy.from, rows.extent(), *this);
  if (rows.from == nullptr) return false;
  l1_written(rows.l1, true);
  memory_ = &memory;
  borrowed_.push_back(rows);
  return true;
}

void LocalMemory::carry_out(const BorrowedRows& rows) {
  const arithmetic::Matrix matrix{rows.rows, static_cast<std::uint32_t>(rows.row_bytes),
                                  rows.pitch};
  arithmetic::copy(matrix, reinterpret_cast<const unsigned char*>(rows.from),
                   at(LocalBuffer::kL1, rows.l1.begin), rows.row_bytes, 1, false);
}

void LocalMemory::complete_l1_loads(const DeferredLoads::Range& l1) {
  for (std::size_t i = 0; i < borrowed_.size();) {
    if (!l1.meets(borrowed_[i].l1)) {
      ++i;
      continue;
    }
    finish_product();  // it may read what is given back
    const BorrowedRows rows = borrowed_[i];
    borrowed_[i] = borrowed_.back();
    borrowed_.pop_back();
    carry_out(rows);
    memory_->give_back(rows.from, rows.extent(), *this);
  }
}

void LocalMemory::invalidate_direct(const std::byte* from, Bytes length) {
  finish_product();
  const auto lent = std::find_if(borrowed_.begin(), borrowed_.end(), [&](const auto& rows) {
    return rows.from == from && rows.extent() == length;
  });
  if (lent == borrowed_.end()) return;
  carry_out(*lent);
  *lent = borrowed_.back();
  borrowed_.pop_back();
}

const BorrowedRows* LocalMemory::borrowed(const platform::LoadL0& load) const {
  for (const auto& rows : borrowed_) {
    if (rows.hold(load)) return &rows;
  }
  return nullptr;
}

const platform::LoadL0* LocalMemory::deferred_operand(LocalBuffer l0, Bytes offset,
                                                      std::uint32_t rows, std::uint32_t columns,
                                                      platform::DataType type) {
  const auto* const load = deferred(l0).find(offset, rows, columns, bytes_of(type));
  if (load != nullptr && borrowed(*load) == nullptr) {
    complete_l1_loads(DeferredLoads::source(*load));
  }
  return load;
}

LocalMemory::Operand LocalMemory::operand(const platform::LoadL0* load, LocalBuffer l0,
                                          Bytes offset, std::uint32_t rows, std::uint32_t columns,
                                          platform::DataType type) {
  if (load != nullptr) {
    const auto source = DeferredLoads::source(*load);
    if (const auto* const lent = borrowed(*load)) return {lent->at(*load), lent->pitch, source};
    return {at(LocalBuffer::kL1, load->from), load->from_pitch, source};
  }
  const Bytes pitch = l0_pitch(columns, type);
  settle(l0, {offset, rows * pitch});
  return {at(l0, offset), pitch, {}};
}

bool LocalMemory::continues(const platform::Mmad& mmad) const {
  constexpr std::size_t kMost = 8;
  return pieces_.size() < kMost && mmad.accumulate && mmad.c == product_.c &&
         mmad.m == product_.m && mmad.n == product_.n && mmad.type == product_.type;
}

void LocalMemory::mmad(const platform::Mmad& mmad) {
  if (mmad.start == platform::MmadStart::kBias) {
    begin_with_bias(mmad);
    platform::Mmad rest = mmad;
    rest.accumulate = true;
    rest.start = platform::MmadStart::kZero;
    return this->mmad(rest);
  }
  if (mmad.fractals) return multiply_fractals(mmad);
  // What has to be in L1 is brought there for both, before either is looked for.
  const auto* const a_load = deferred_operand(LocalBuffer::kL0a, mmad.a, mmad.m, mmad.k, mmad.type);
  const auto* const b_load = deferred_operand(LocalBuffer::kL0b, mmad.b, mmad.k, mmad.n, mmad.type);
  const auto a = operand(a_load, LocalBuffer::kL0a, mmad.a, mmad.m, mmad.k, mmad.type);
  const auto b = operand(b_load, LocalBuffer::kL0b, mmad.b, mmad.k, mmad.n, mmad.type);
  if (!pieces_.empty() && !continues(mmad)) finish_product();
  if (pieces_.empty()) product_ = mmad;
  pieces_.push_back({a.data, b.data, a.pitch, b.pitch, mmad.k});
  sources_.push_back(a.l1);
  sources_.push_back(b.l1);
  // Nobody watches over L0.
  if (a.l1.length == 0 || b.l1.length == 0) finish_product();
}

void LocalMemory::multiply_fractals(const platform::Mmad& mmad) {
  finish_product();
  settle(LocalBuffer::kL0a, {mmad.a, bytes_of(mmad).a});
  settle(LocalBuffer::kL0b, {mmad.b, bytes_of(mmad).b});
  arithmetic::multiply_fractals(mmad, at(LocalBuffer::kL0a, mmad.a), at(LocalBuffer::kL0b, mmad.b),
                                at(LocalBuffer::kL0c, mmad.c));
}

void LocalMemory::begin_with_bias(const platform::Mmad& mmad) {
  finish_product();
  complete_l1_loads({mmad.bias, mmad.n * bytes_of(mmad.bias_type)});
  const auto to_type = mmad.type == platform::DataType::kInt8 ? platform::DataType::kInt32
                                                              : platform::DataType::kFp32;
  unsigned char* const first = at(LocalBuffer::kL0c, mmad.c);
  arithmetic::convert(mmad.bias_type, at(LocalBuffer::kL1, mmad.bias), to_type, first, mmad.n);
  for (std::uint32_t row = 1; row < mmad.m; ++row) {
    std::memcpy(first + row * l0c_pitch(mmad.n), first, mmad.n * bytes_of(to_type));
  }
}

void LocalMemory::finish_product() {
  if (pieces_.empty()) return;
  const arithmetic::MatrixProduct product{product_.m, product_.n, l0c_pitch(product_.n),
                                          product_.type, product_.accumulate};
  arithmetic::multiply(product, pieces_.data(), pieces_.size(), at(LocalBuffer::kL0c, product_.c));
  pieces_.clear();
  sources_.clear();
}

std::uint32_t LocalMemory::load_ub(std::uint32_t offset) {
  std::uint32_t value = 0;
  if (functional_) std::memcpy(&value, at(LocalBuffer::kUb, offset), sizeof value);
  return value;
}

void LocalMemory::store_ub(std::uint32_t offset, std::uint32_t value) {
  if (functional_) std::memcpy(at(LocalBuffer::kUb, offset), &value, sizeof value);
}

}  // namespace npu::model
