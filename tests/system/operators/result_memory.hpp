// SPDX-License-Identifier: Apache-2.0
// Results of operators in the bench's memory.
#pragma once

#include <gtest/gtest.h>

#include "tests/system/operators/matrices.hpp"

namespace npu::test {

// A result in memory that was something else before, with bytes behind it that stay.
class ResultMemory {
 public:
  ResultMemory(OperatorBench& bench, DataType type, std::uint64_t elements)
      : bench_(bench), type_(type), bytes_(elements * platform::bytes_of(type)) {
    address = bench.place(std::vector<unsigned char>(bytes_ + kBehind, kBefore));
  }
  void fetch() {
    all_ = bench_.fetch(address, bytes_ + kBehind);
    for (Bytes i = bytes_; i < all_.size(); ++i) ASSERT_EQ(all_[i], kBefore) << "behind the result";
  }
  double at(std::uint64_t i) const { return get_element(all_, i, type_); }
  DataType type() const { return type_; }

  std::uint64_t address = 0;

 private:
  static constexpr unsigned char kBefore = 0xA5;
  static constexpr Bytes kBehind = 64;
  OperatorBench& bench_;
  const DataType type_;
  const Bytes bytes_;
  std::vector<unsigned char> all_;
};

}  // namespace npu::test
