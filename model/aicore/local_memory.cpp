// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/local_memory.hpp"

#include <algorithm>
#include <cstring>

#include "model/aicore/arithmetic/convert.hpp"
#include "model/aicore/arithmetic/matrix.hpp"
#include "model/aicore/arithmetic/vector_unit.hpp"

namespace npu::model {

using platform::LocalBuffer;

unsigned char* LocalMemory::at(LocalBuffer buffer, Bytes offset) {
  const auto index = static_cast<std::size_t>(buffer);
  if (buffers_[index].empty()) buffers_[index].resize(sizes_[index]);
  return buffers_[index].data() + offset;
}

CommandFault LocalMemory::execute(const Instruction& instruction, DeviceMemory& memory,
                                  std::uint8_t vmid) {
  if (!functional_) return {};
  if (const auto* in = std::get_if<platform::CopyIn>(&instruction)) {
    return copy_in(*in, memory, vmid);
  }
  if (const auto* out = std::get_if<platform::CopyOut>(&instruction)) {
    return copy_out(*out, memory, vmid);
  }
  if (const auto* result = std::get_if<platform::Fixpipe>(&instruction)) {
    return fixpipe(*result, memory, vmid);
  }
  if (const auto* load = std::get_if<platform::LoadL0>(&instruction)) {
    load_l0(*load);
  } else if (const auto* product = std::get_if<platform::Mmad>(&instruction)) {
    mmad(*product);
  } else {
    arithmetic::execute(std::get<platform::Vector>(instruction), at(LocalBuffer::kUb, 0));
  }
  return {};
}

CommandFault LocalMemory::copy_in(const platform::CopyIn& copy, DeviceMemory& memory,
                                  std::uint8_t vmid) {
  unsigned char* to = at(copy.to.buffer, copy.to.offset);
  if (copy.to.buffer == LocalBuffer::kL1) {
    l1_written({copy.to.offset, Bytes{copy.rows - 1U} * copy.to_pitch + copy.row_bytes});
  }
  std::uint64_t from = copy.from;
  const bool dense = copy.to_pitch == copy.row_bytes;
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

CommandFault LocalMemory::copy_out(const platform::CopyOut& copy, DeviceMemory& memory,
                                   std::uint8_t vmid) {
  const unsigned char* from = at(copy.from.buffer, copy.from.offset);
  std::uint64_t to = copy.to;
  const bool whole = copy.from_pitch == copy.row_bytes && copy.to_pitch == copy.row_bytes;
  const std::uint32_t rows = whole ? 1 : copy.rows;
  const Bytes length = Bytes{copy.row_bytes} * (whole ? copy.rows : 1);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto completion = memory.write(Writer::kAiCore, vmid, to, from, length);
    if (completion != Completion::kSuccess) return {device_fault(completion), to, vmid, true};
    from += copy.from_pitch;
    to += copy.to_pitch;
  }
  return {};
}

CommandFault LocalMemory::fixpipe(const platform::Fixpipe& fixpipe, DeviceMemory& memory,
                                  std::uint8_t vmid) {
  finish_product();
  const unsigned char* from = at(LocalBuffer::kL0c, fixpipe.from);
  const Bytes length = fixpipe.n * bytes_of(fixpipe.to_type);
  row_.resize(length);
  std::uint64_t to = fixpipe.to;
  for (std::uint32_t row = 0; row < fixpipe.m; ++row) {
    arithmetic::convert(fixpipe.type, from, fixpipe.to_type, row_.data(), fixpipe.n);
    const auto completion = memory.write(Writer::kAiCore, vmid, to, row_.data(), length);
    if (completion != Completion::kSuccess) return {device_fault(completion), to, vmid, true};
    from += l0c_pitch(fixpipe.n);
    to += fixpipe.to_pitch;
  }
  return {};
}

void LocalMemory::load_l0(const platform::LoadL0& load) {
  // What is overwritten need not be moved before.
  const auto target = DeferredLoads::target(load);
  deferred(load.to.buffer)
      .settle([&](const auto& old) { return target.covers(DeferredLoads::target(old)); },
              [](const auto&) {});
  settle(load.to.buffer, target);
  if (load.transpose) return move_l0(load);
  deferred(load.to.buffer).add(load);
}

void LocalMemory::move_l0(const platform::LoadL0& load) {
  const Bytes columns = load.transpose ? load.rows : load.columns;
  const arithmetic::Matrix matrix{load.rows, load.columns, load.from_pitch};
  arithmetic::copy(matrix, at(LocalBuffer::kL1, load.from), at(load.to.buffer, load.to.offset),
                   l0_pitch(columns, load.type), bytes_of(load.type), load.transpose);
}

void LocalMemory::settle(LocalBuffer l0, const DeferredLoads::Range& target) {
  deferred(l0).settle([&](const auto& load) { return target.meets(DeferredLoads::target(load)); },
                      [this](const auto& load) { move_l0(load); });
}

void LocalMemory::l1_written(const DeferredLoads::Range& l1) {
  if (std::any_of(sources_.begin(), sources_.end(), [&](const auto& s) { return s.meets(l1); })) {
    finish_product();
  }
  for (auto& loads : deferred_) {
    loads.settle([&](const auto& load) { return l1.meets(DeferredLoads::source(load)); },
                 [this](const auto& load) { move_l0(load); });
  }
}

LocalMemory::Operand LocalMemory::operand(LocalBuffer l0, Bytes offset, std::uint32_t rows,
                                          std::uint32_t columns, platform::DataType type) {
  const auto* const load = deferred(l0).find(offset, rows, columns, bytes_of(type));
  if (load != nullptr) {
    return {at(LocalBuffer::kL1, load->from), load->from_pitch, DeferredLoads::source(*load)};
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
  const auto a = operand(LocalBuffer::kL0a, mmad.a, mmad.m, mmad.k, mmad.type);
  const auto b = operand(LocalBuffer::kL0b, mmad.b, mmad.k, mmad.n, mmad.type);
  if (!pieces_.empty() && !continues(mmad)) finish_product();
  if (pieces_.empty()) product_ = mmad;
  pieces_.push_back({a.data, b.data, a.pitch, b.pitch, mmad.k});
  sources_.push_back(a.l1);
  sources_.push_back(b.l1);
  // Nobody watches over L0.
  if (a.l1.length == 0 || b.l1.length == 0) finish_product();
}

void LocalMemory::finish_product() {
  if (pieces_.empty()) return;
  const arithmetic::Product product{product_.m, product_.n, l0c_pitch(product_.n), product_.type,
                                    product_.accumulate};
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
