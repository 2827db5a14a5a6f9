// SPDX-License-Identifier: Apache-2.0
// Storage and access rules of a block of registers, made from the ABI's table of it.
// Host accesses obey Access; the device reads and writes by register type and is not bound by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "npu/abi/register.hpp"

namespace npu::model {

class RegisterBank {
 public:
  // `table` is sorted by offset and outlives the bank (the ABI's tables are constants).
  template <std::size_t N>
  explicit RegisterBank(const std::array<abi::RegisterInfo, N>& table)
      : RegisterBank(table.data(), N) {}

  // All registers to their reset values; hooks stay.
  void reset();

  // The device's side. Of registers that are alike R is the first, and `word` says how many bytes
  // behind it the one that is meant lies.
  template <class R>
  R get(std::uint32_t word = 0) const {
    return R::from_raw(static_cast<typename R::raw_type>(values_[row_of(R::kOffset + word)]));
  }
  template <class R>
  void set(R value) {
    values_[row_of(R::kOffset)] = value.raw;
  }

  // Called after a host write took effect, with the register's new content (both halves, if one
  // half of a 64-bit register was written). Not called for writes that the access rule drops.
  template <class R, class F>
  void on_write(F hook) {
    hook_of(R::kOffset).write = [hook](std::uint64_t raw) {
      hook(R::from_raw(static_cast<typename R::raw_type>(raw)));
    };
  }
  // Called for a host read; gives the register's content, which is stored too.
  template <class R, class F>
  void on_read(F hook, std::uint32_t word = 0) {
    hook_of(R::kOffset + word).read = [hook]() -> std::uint64_t { return hook().raw; };
  }

  // The host's side. `offset` and `length` are multiples of 4; a run may cover many registers and
  // is served as naturally aligned 8- and 4-byte accesses in ascending order. Bytes that no
  // register covers read 0 and ignore writes. False: misaligned, nothing done.
  bool host_read(std::uint64_t offset, unsigned char* data, std::size_t length);
  bool host_write(std::uint64_t offset, const unsigned char* data, std::size_t length);

 private:
  struct Hooks {
    std::function<void(std::uint64_t)> write;
    std::function<std::uint64_t()> read;
  };
  static constexpr std::uint16_t kNoRow = 0xFFFF;

  RegisterBank(const abi::RegisterInfo* table, std::size_t rows);
  std::uint16_t find(std::uint64_t offset) const {
    return offset / 4 < index_->size() ? (*index_)[offset / 4] : kNoRow;
  }
  std::size_t row_of(std::uint32_t offset) const;
  Hooks& hook_of(std::uint32_t offset);
  std::uint64_t load(std::size_t row);
  void store(std::size_t row, std::uint64_t written, std::uint64_t mask);
  std::size_t piece(std::uint64_t offset, std::size_t left) const;

  const abi::RegisterInfo* table_;
  std::vector<std::uint64_t> values_;                        // by row
  std::vector<Hooks> hooks_;                                 // by row; empty if there are none
  std::shared_ptr<const std::vector<std::uint16_t>> index_;  // offset / 4 -> row; copies share it
};

}  // namespace npu::model
