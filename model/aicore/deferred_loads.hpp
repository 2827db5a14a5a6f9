// SPDX-License-Identifier: Apache-2.0
// Loads from L1 to one of L0A and L0B whose bytes have not been moved: a product mostly takes just
// the matrix that was loaded, and reads it from L1. They lie in different places of the buffer.
// Whoever writes to L1, or reads the buffer otherwise, has them carried out before.
#pragma once

#include <algorithm>
#include <vector>

#include "model/aicore/instruction_checks.hpp"

namespace npu::model {

class DeferredLoads {
 public:
  struct Range {
    Bytes begin, length;
    bool meets(const Range& other) const {
      return begin < other.begin + other.length && other.begin < begin + length;
    }
    bool covers(const Range& other) const {
      return begin <= other.begin && other.begin + other.length <= begin + length;
    }
  };

  // Where a load that is not transposed lies in L1, and what it writes.
  static Range source(const platform::LoadL0& load) {
    if (load.fractals) {
      return {load.from, Bytes{load.rows - 1U} * load.from_pitch + kFractalBytes};
    }
    return {load.from,
            Bytes{load.rows - 1U} * load.from_pitch + load.columns * bytes_of(load.type)};
  }
  static Range target(const platform::LoadL0& load) {
    if (load.fractals) return {load.to.offset, load.rows * kFractalBytes};
    const bool turned = load.transpose;
    const Bytes rows = turned ? load.columns : load.rows;
    return {load.to.offset, rows * l0_pitch(turned ? load.rows : load.columns, load.type)};
  }

  // Behind settle() of its target.
  void add(const platform::LoadL0& load) { loads_.push_back(load); }
  // The load of just rows x columns elements of `bytes` at `offset`; null: there is none.
  const platform::LoadL0* find(Bytes offset, std::uint32_t rows, std::uint32_t columns,
                               Bytes bytes) const {
    const auto same = [&](const platform::LoadL0& load) {
      return load.to.offset == offset && load.rows == rows && load.columns == columns &&
             bytes_of(load.type) == bytes;
    };
    const auto found = std::find_if(loads_.begin(), loads_.end(), same);
    return found == loads_.end() ? nullptr : &*found;
  }
  // Takes out those that `which` says, after `carry_out` of each.
  template <class Which, class CarryOut>
  void settle(Which which, CarryOut carry_out) {
    for (std::size_t i = 0; i < loads_.size();) {
      if (!which(loads_[i])) {
        ++i;
        continue;
      }
      carry_out(loads_[i]);
      loads_[i] = loads_.back();
      loads_.pop_back();
    }
  }

 private:
  std::vector<platform::LoadL0> loads_;
};

}  // namespace npu::model
