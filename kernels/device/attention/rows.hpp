// SPDX-License-Identifier: Apache-2.0
// The rows of a step that a vector core's block works on.
#pragma once

#include "kernels/device/attention/work.hpp"
#include "kernels/device/common/rows.hpp"

namespace npu::kernels::attention {

// Calls part.run(rows of the wave, query of the first one) for the block's part of queries [first,
// end) of the heads of `groups` groups; at most part.rows() at a time. A tile of all queries goes
// on from one head to the next.
template <class Part>
void for_rows(AicorePort& port, const Work& w, std::uint32_t groups, std::uint32_t first,
              std::uint32_t end, Part&& part) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 31) - 1;
  const bool whole = first == 0 && end == w.queries;
  const std::uint64_t heads = std::uint64_t{groups} * w.shared;
  const std::uint64_t ranges = whole ? 1 : heads;
  const std::uint64_t length = whole ? heads * w.queries : end - first;
  const std::uint32_t blocks = port.call().blocks;
  const std::uint64_t share = aicore::divide_up<std::uint64_t>(ranges * length, blocks);
  const auto rows =
      static_cast<std::uint32_t>(std::min({std::uint64_t{part.rows()}, share, length, kMost}));
  const std::uint64_t tiles = aicore::divide_up<std::uint64_t>(length, rows);
  for (std::uint64_t i = port.call().block; i < tiles * ranges; i += blocks) {
    const std::uint64_t from = i % tiles * rows;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, length - from));
    part.run(AreaTile{i / tiles * w.queries + first + from, 0, count, 0},
             static_cast<std::uint32_t>(first + (whole ? from % w.queries : from)));
  }
}

}  // namespace npu::kernels::attention
