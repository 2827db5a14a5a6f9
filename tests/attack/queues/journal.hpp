// SPDX-License-Identifier: Apache-2.0
// What the entries of one queue do to the cells that it alone uses, in the order of submission.
// Cells are pieces of memory of one size; all words of a cell are equal once entries are complete.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace npu::attack {

inline constexpr unsigned kDeviceCells = 5, kHostCells = 3, kCells = kDeviceCells + kHostCells;
inline constexpr unsigned kSumCell = 0;             // counts kernels
inline constexpr unsigned kInputCell = kCells - 1;  // of the host; nobody writes it

using CellValues = std::array<std::uint32_t, kCells>;
using CellWords = std::array<std::vector<std::uint32_t>, kCells>;  // as read; empty: not read

struct Operation {
  enum class Kind : std::uint8_t { kNothing, kFill, kAdd, kCopy };
  Kind kind = Kind::kNothing;
  unsigned from = 0, to = 0;
  std::uint32_t value = 0;
};

void apply(const Operation& operation, CellValues& cells);

class Journal {
 public:
  // All cells are known; nothing is in flight.
  void begin(const CellValues& cells);
  void add(const Operation& operation);
  std::size_t size() const { return operations_.size(); }
  const CellValues& last() const { return last_; }

  // Each of these: what is wrong with `words`, or nothing. Everything has been executed.
  std::optional<std::string> all_done(const CellWords& words) const;
  // The first `least` to `most`, in order, and a part of the next one.
  std::optional<std::string> in_order(const CellWords& words, std::size_t least,
                                      std::size_t most) const;
  // Any of them.
  std::optional<std::string> some_done(const CellWords& words) const;

 private:
  CellValues first_{}, last_{};
  std::vector<Operation> operations_;
};

}  // namespace npu::attack
