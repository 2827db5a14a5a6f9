// SPDX-License-Identifier: Apache-2.0
#include "model/core/register_bank.hpp"

#include <cstring>
#include <systemc>

namespace npu::model {
namespace {

constexpr std::uint64_t ones(std::size_t bytes) {
  return bytes == 8 ? ~0ULL : (1ULL << (8 * bytes)) - 1;
}

}  // namespace

RegisterBank::RegisterBank(const abi::RegisterInfo* table, std::size_t rows)
    : table_(table), values_(rows) {
  const auto& last = table[rows - 1];
  std::vector<std::uint16_t> index((last.offset + last.size) / 4, kNoRow);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::uint32_t i = 0; i < table[row].size / 4; ++i) {
      index[table[row].offset / 4 + i] = static_cast<std::uint16_t>(row);
    }
  }
  index_ = std::make_shared<const std::vector<std::uint16_t>>(std::move(index));
  reset();
}

void RegisterBank::reset() {
  for (std::size_t row = 0; row < values_.size(); ++row) values_[row] = table_[row].reset;
}

std::size_t RegisterBank::row_of(std::uint32_t offset) const {
  const auto row = find(offset);
  sc_assert(row != kNoRow && "the register belongs to another block");
  return row;
}

RegisterBank::Hooks& RegisterBank::hook_of(std::uint32_t offset) {
  if (hooks_.empty()) hooks_.resize(values_.size());
  return hooks_[row_of(offset)];
}

std::uint64_t RegisterBank::load(std::size_t row) {
  if (!hooks_.empty() && hooks_[row].read) values_[row] = hooks_[row].read();
  return values_[row];
}

void RegisterBank::store(std::size_t row, std::uint64_t written, std::uint64_t mask) {
  switch (table_[row].access) {
    case abi::Access::kReadOnly:
      return;
    case abi::Access::kReadWrite:
      values_[row] = (values_[row] & ~mask) | (written & mask);
      break;
    case abi::Access::kWriteOneToClear:
      values_[row] &= ~(written & mask);
      break;
  }
  if (!hooks_.empty() && hooks_[row].write) hooks_[row].write(values_[row]);
}

// Bytes of the next access: 8 only where one 64-bit register is covered whole.
std::size_t RegisterBank::piece(std::uint64_t offset, std::size_t left) const {
  const auto row = find(offset);
  return row != kNoRow && table_[row].size == 8 && table_[row].offset == offset && left >= 8 ? 8
                                                                                             : 4;
}

bool RegisterBank::host_read(std::uint64_t offset, unsigned char* data, std::size_t length) {
  if (offset % 4 != 0 || length % 4 != 0) return false;
  while (length > 0) {
    const std::size_t bytes = piece(offset, length);
    const auto row = find(offset);
    const std::uint64_t value =
        row == kNoRow ? 0 : load(row) >> (8 * (offset - table_[row].offset));
    std::memcpy(data, &value, bytes);
    offset += bytes, data += bytes, length -= bytes;
  }
  return true;
}

bool RegisterBank::host_write(std::uint64_t offset, const unsigned char* data, std::size_t length) {
  if (offset % 4 != 0 || length % 4 != 0) return false;
  while (length > 0) {
    const std::size_t bytes = piece(offset, length);
    const auto row = find(offset);
    if (row != kNoRow) {
      std::uint64_t value = 0;
      std::memcpy(&value, data, bytes);
      const auto shift = 8 * (offset - table_[row].offset);
      store(row, value << shift, ones(bytes) << shift);
    }
    offset += bytes, data += bytes, length -= bytes;
  }
  return true;
}

}  // namespace npu::model
