// SPDX-License-Identifier: Apache-2.0
// The two halves that algorithms are made of, over chunks in the buffer that lie at the same place
// on all ranks, one per rank. Reduce-scatter: rank r's chunk r becomes the reduction of all ranks'.
// All-gather: everybody gets everybody's chunk.
#pragma once

#include <vector>

#include "driver/collectives/plan.hpp"

namespace npu::driver {

using PlanChunks = std::vector<PlanRange>;  // by rank, in the buffer; some may be empty

Bytes bytes_of(const PlanChunks& chunks);
// `elements` of `size` bytes dealt to so many ranks as evenly as can be.
PlanChunks deal(std::uint64_t elements, Bytes size, unsigned ranks);
// The same chunks at other places: those of a step of NHR lie behind each other, so that one read
// gets them all, if the number of ranks is a power of two or three times one.
PlanChunks in_nhr_order(const PlanChunks& chunks);

// One step: all pairs at once. A rank copies its own chunk of the caller's memory into its buffer,
// and adds the others to those in the peers' buffers: `from` and `to` by rank, of equal sizes.
void reduce_scatter_mesh(Plan& plan, const PlanRank& me, const PlanChunks& from,
                         const PlanChunks& to);
// The same; all_gather_mesh() puts all chunks, its own too, behind `to`.
void all_gather_mesh(Plan& plan, const PlanRank& me, const PlanChunks& chunks, PlanPlace to);
// Ranks - 1 steps, from the neighbour before.
void reduce_scatter_ring(Plan& plan, const PlanRank& me, const PlanChunks& chunks);
void all_gather_ring(Plan& plan, const PlanRank& me, const PlanChunks& chunks);
// ceil(log2 ranks) steps: distances 1, 2, 4, ... and back.
void reduce_scatter_nhr(Plan& plan, const PlanRank& me, const PlanChunks& chunks);
void all_gather_nhr(Plan& plan, const PlanRank& me, const PlanChunks& chunks);
// log2 steps of halves; ranks is a power of two. `names[i]` is rank i's number outside.
void reduce_scatter_halving(Plan& plan, const PlanRank& me, const PlanChunks& chunks,
                            const std::vector<unsigned>& names);
void all_gather_doubling(Plan& plan, const PlanRank& me, const PlanChunks& chunks,
                         const std::vector<unsigned>& names);

}  // namespace npu::driver
