// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/local_memory.hpp"

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
  std::uint64_t from = copy.from;
  const bool whole = copy.from_pitch == copy.row_bytes && copy.to_pitch == copy.row_bytes;
  const std::uint32_t rows = whole ? 1 : copy.rows;
  const Bytes length = Bytes{copy.row_bytes} * (whole ? copy.rows : 1);
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
  const unsigned char* from = at(LocalBuffer::kL1, load.from);
  unsigned char* to = at(load.to.buffer, load.to.offset);
  const Bytes columns = load.transpose ? load.rows : load.columns;
  const arithmetic::Matrix matrix{load.rows, load.columns, load.from_pitch};
  arithmetic::copy(matrix, from, to, l0_pitch(columns, load.type), bytes_of(load.type),
                   load.transpose);
}

void LocalMemory::mmad(const platform::Mmad& mmad) {
  const arithmetic::Product product{mmad.m,
                                    mmad.k,
                                    mmad.n,
                                    l0_pitch(mmad.k, mmad.type),
                                    l0_pitch(mmad.n, mmad.type),
                                    l0c_pitch(mmad.n),
                                    mmad.type,
                                    mmad.accumulate};
  arithmetic::multiply(product, at(LocalBuffer::kL0a, mmad.a), at(LocalBuffer::kL0b, mmad.b),
                       at(LocalBuffer::kL0c, mmad.c));
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
