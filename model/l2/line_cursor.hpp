// SPDX-License-Identifier: Apache-2.0
// The bytes of a request that were not looked up yet: row after row, cut at the borders of lines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/l2/line_store.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class LineCursor {
 public:
  LineCursor() = default;
  // `rows` pieces of `piece` bytes, `pitch` bytes apart, the first at `address`; neither is 0.
  // A line has 2^line_shift bytes.
  LineCursor(std::uint64_t address, Bytes piece, std::uint16_t rows, std::uint32_t pitch,
             unsigned line_shift)
      : row_(address),
        end_(address + piece),
        address_(address),
        pitch_(pitch),
        rows_(rows),
        line_shift_(static_cast<std::uint16_t>(line_shift)) {}

  bool at_end() const { return rows_ == 0; }
  // The line that the next bytes lie in, and how many of the row's bytes do.
  Line line() const { return address_ >> line_shift_; }
  Bytes bytes() const { return std::min(end_, (line() + 1) << line_shift_) - address_; }
  // Where in the line they begin.
  Bytes offset() const { return address_ - (line() << line_shift_); }
  // `bytes`: bytes(), which the caller has at hand.
  void advance(Bytes bytes) {
    address_ += bytes;
    if (address_ != end_ || --rows_ == 0) return;
    const Bytes piece = end_ - row_;
    row_ += pitch_;
    address_ = row_;
    end_ = row_ + piece;
  }

 private:
  std::uint64_t row_ = 0, end_ = 0;  // of the present row
  std::uint64_t address_ = 0;
  std::uint32_t pitch_ = 0;
  std::uint16_t rows_ = 0;  // that were not looked up to their end
  std::uint16_t line_shift_ = 0;
};

}  // namespace npu::model
