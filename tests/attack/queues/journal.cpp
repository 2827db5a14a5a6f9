// SPDX-License-Identifier: Apache-2.0
#include "tests/attack/queues/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace npu::attack {

namespace {

std::optional<std::uint32_t> other_word(const std::vector<std::uint32_t>& words,
                                        std::initializer_list<std::uint32_t> allowed) {
  for (const auto word : words) {
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) return word;
  }
  return std::nullopt;
}

}  // namespace

void apply(const Operation& operation, CellValues& cells) {
  switch (operation.kind) {
    case Operation::Kind::kNothing:
      return;
    case Operation::Kind::kFill:
      cells[operation.to] = operation.value;
      return;
    case Operation::Kind::kCopy:
      cells[operation.to] = cells[operation.from];
      return;
    case Operation::Kind::kAdd: {
      float sum = 0;
      std::memcpy(&sum, &cells[operation.to], sizeof sum);
      sum += 0.5F;
      std::memcpy(&cells[operation.to], &sum, sizeof sum);
      return;
    }
  }
}

void Journal::begin(const CellValues& cells) {
  first_ = last_ = cells;
  operations_.clear();
}

void Journal::add(const Operation& operation) {
  operations_.push_back(operation);
  apply(operation, last_);
}

std::optional<std::string> Journal::all_done(const CellWords& words) const {
  for (unsigned cell = 0; cell < kCells; ++cell) {
    if (const auto other = other_word(words[cell], {last_[cell]})) {
      return fmt::format("after {} entries cell {} must be {:#x}, is {:#x}", operations_.size(),
                         cell, last_[cell], *other);
    }
  }
  return std::nullopt;
}

std::optional<std::string> Journal::in_order(const CellWords& words, std::size_t least,
                                             std::size_t most) const {
  auto cells = first_;
  std::string why;
  for (std::size_t done = 0; done <= std::min(most, operations_.size()); ++done) {
    auto next = cells;
    if (done < operations_.size()) apply(operations_[done], next);
    if (done >= least) {
      bool fits = true;
      for (unsigned cell = 0; cell < kCells && fits; ++cell) {
        const auto other = other_word(words[cell], {cells[cell], next[cell]});
        fits = !other;
        if (other) why = fmt::format("with {} done cell {} is {:#x}", done, cell, *other);
      }
      if (fits) return std::nullopt;
    }
    cells = next;
  }
  return fmt::format("no state between {} and {} of {} entries fits: {}", least, most,
                     operations_.size(), why);
}

std::optional<std::string> Journal::some_done(const CellWords& words) const {
  std::array<std::set<std::uint32_t>, kCells> seen;
  auto cells = first_;
  for (unsigned cell = 0; cell < kCells; ++cell) seen[cell].insert(cells[cell]);
  for (const auto& operation : operations_) {
    apply(operation, cells);
    seen[operation.to].insert(cells[operation.to]);
  }
  for (unsigned cell = 0; cell < kCells; ++cell) {
    for (const auto word : words[cell]) {
      if (seen[cell].count(word) == 0) {
        return fmt::format("cell {} is {:#x}, which no entry leaves there", cell, word);
      }
    }
  }
  return std::nullopt;
}

}  // namespace npu::attack
