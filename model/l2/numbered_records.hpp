// SPDX-License-Identifier: Apache-2.0
// Records that are known by their numbers, as a transaction's context carries them. A number that
// was given back is given out again, so that there are as many records as were ever in use at once.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::model {

template <class Record>
class NumberedRecords {
 public:
  // The record of the number given holds what it held when it was given back. References to other
  // records are void after this.
  std::uint32_t take() {
    if (free_.empty()) {
      records_.emplace_back();
      return static_cast<std::uint32_t>(records_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void give_back(std::uint32_t number) { free_.push_back(number); }

  Record& operator[](std::uint32_t number) { return records_[number]; }
  const Record& operator[](std::uint32_t number) const { return records_[number]; }

 private:
  std::vector<Record> records_;
  std::vector<std::uint32_t> free_;
};

}  // namespace npu::model
