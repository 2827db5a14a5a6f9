// SPDX-License-Identifier: Apache-2.0
// Flat tensors in tiles that are computed where they were loaded: two buffers in turn, so that one
// is loaded while the other is computed or stored, or a single one. Block i of n works on the i-th
// of n equal parts.
#pragma once

#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::vector {

struct FlatWork {
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint64_t from = 0, to = 0;
  std::uint64_t grains = 0;  // that are dealt out
  std::uint32_t grain = 0;   // elements; the last one may be shorter
  std::uint32_t tile = 0;    // grains of a tile
  std::uint64_t count = 0;   // elements
  std::uint32_t columns = 0;
  std::uint32_t sets = kSets;  // of buffers: 1 or 2
};

// Compute(buffer, elements) issues vector instructions; kComputes false: it has none, and what was
// loaded is stored.
template <bool kComputes, class Compute>
class InPlace {
 public:
  InPlace(AicorePort& port, const FlatWork& work, DataType type, Compute& compute)
      : port_(port), work_(work), type_(type), compute_(compute) {}

  void run() {
    const auto& call = port_.call();
    first_ = work_.grains * call.block / call.blocks;
    end_ = work_.grains * (std::uint64_t{call.block} + 1) / call.blocks;
    const std::uint64_t tiles = aicore::divide_up<std::uint64_t>(end_ - first_, work_.tile);
    for (unsigned i = 0; i < kSets; ++i) free(i).set();
    const bool ahead = work_.sets > 1;
    if (tiles != 0) load(0);
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
      if (ahead && tile + 1 < tiles) load(tile + 1);
      const auto i = static_cast<unsigned>(tile % work_.sets);
      if constexpr (kComputes) {
        const Flag<Pipe::kMte2, Pipe::kVector> full(port_, i);
        const Flag<Pipe::kVector, Pipe::kMte3> made(port_, i);
        full.wait();
        compute_(buffer(i), count_of(tile));
        made.set();
        made.wait();
      } else {
        Flag<Pipe::kMte2, Pipe::kMte3>(port_, i).wait();
      }
      store_tile(port_, {work_.to, count_of(tile), begin_of(tile)}, place_of(tile), buffer(i),
                 type_);
      free(i).set();
      if (!ahead && tile + 1 < tiles) load(tile + 1);
    }
    for (unsigned i = 0; i < kSets; ++i) free(i).wait();
  }

 private:
  Flag<Pipe::kMte3, Pipe::kMte2> free(unsigned i) const { return {port_, i}; }
  std::uint32_t buffer(unsigned i) const { return i * work_.tile * work_.grain * size_of(type_); }
  std::uint64_t begin_of(std::uint64_t tile) const {
    return std::min((first_ + tile * work_.tile) * work_.grain, work_.count);
  }
  std::uint32_t count_of(std::uint64_t tile) const {
    const std::uint64_t last = std::min(first_ + (tile + 1) * work_.tile, end_);
    return static_cast<std::uint32_t>(std::min(last * work_.grain, work_.count) - begin_of(tile));
  }
  // As one row that begins anywhere.
  RowTile place_of(std::uint64_t tile) const { return {0, 1, count_of(tile), count_of(tile)}; }
  void load(std::uint64_t tile) {
    const auto i = static_cast<unsigned>(tile % work_.sets);
    free(i).wait();
    load_tile(port_, buffer(i), {work_.from, count_of(tile), begin_of(tile)}, place_of(tile),
              type_);
    if constexpr (kComputes) {
      Flag<Pipe::kMte2, Pipe::kVector>(port_, i).set();
    } else {
      Flag<Pipe::kMte2, Pipe::kMte3>(port_, i).set();
    }
  }

  AicorePort& port_;
  const FlatWork work_;
  const DataType type_;
  Compute& compute_;
  std::uint64_t first_ = 0, end_ = 0;
};

// The grains of a tile: those of `wanted` bytes, or of a core's part in four; `buffers` of them fit
// into UB.
inline std::uint32_t grains_of_tile(std::uint32_t wanted, std::uint32_t grain_bytes,
                                    std::uint64_t grains_of_core, unsigned buffers, Bytes ub) {
  const auto most = static_cast<std::uint32_t>(ub / buffers / grain_bytes);
  const std::uint64_t chosen = wanted != 0 ? std::max(wanted / grain_bytes, 1U)
                                           : aicore::divide_up<std::uint64_t>(grains_of_core, 4);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(chosen, 1, std::max(most, 1U)));
}

}  // namespace npu::kernels::vector
