// SPDX-License-Identifier: Apache-2.0
// A kernel of an attention that works on rows.
#pragma once

#include "kernels/device/common/stages.hpp"
#include "kernels/device/shipped/attention.hpp"

namespace npu::kernels::attention {

using aicore::kLongestRow;
using aicore::UbParts;

// `Rows` is made of the port and the task's `Work`, says how many rows it takes at a time, and runs
// on so many.
template <class Rows, class Work>
int run_rows(AicorePort& port) {
  const auto work = Work::from(aicore::Arguments(port, Work::kWords));
  if (!work.valid()) return aicore::kBadArguments;
  {
    Rows rows(port, work);
    const std::uint32_t piece = rows.piece();
    if (piece == 0) return kTooLarge;
    aicore::for_rows(port.call(), work.rows, piece,
                     [&](std::uint32_t first, std::uint32_t count) { rows.run(first, count); });
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// Maxima, then sums, of all rows in global memory: those of a tile's rows.
class Statistics {
 public:
  Statistics(std::uint64_t address, std::uint32_t rows, const AreaTile& tile)
      : all_{address, rows}, maxima_{0, tile.row, 1, tile.rows}, sums_{1, tile.row, 1, tile.rows} {}
  void load(AicorePort& port, std::uint32_t maxima, std::uint32_t sums) const {
    load_rows(port, maxima, all_, maxima_, DataType::kFp32);
    load_rows(port, sums, all_, sums_, DataType::kFp32);
  }
  void store(AicorePort& port, std::uint32_t maxima, std::uint32_t sums) const {
    store_rows(port, all_, maxima_, maxima, DataType::kFp32);
    store_rows(port, all_, sums_, sums, DataType::kFp32);
  }

 private:
  const GlobalRows all_;
  const AreaTile maxima_, sums_;
};

}  // namespace npu::kernels::attention
