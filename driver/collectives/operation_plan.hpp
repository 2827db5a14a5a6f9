// SPDX-License-Identifier: Apache-2.0
// Plans of operations. What does not fit into the buffers is done in turns, each with the buffer to
// itself: a plan is that of one turn.
#pragma once

#include <optional>
#include <vector>

#include "driver/collectives/phases.hpp"
#include "npu/driver/collectives.hpp"

namespace npu::driver {

// An operation of all ranks with equal counts.
struct PlanRequest {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kMesh;  // not kAutomatic
  std::uint64_t count = 0;
  Bytes element = 1;  // size
  unsigned root = 0;
};

// Most elements of `count` that a turn can have; 0: not one fits.
std::uint64_t elements_per_turn(const PlanRequest& request, unsigned ranks, Bytes buffer);
// Of the elements [first, first + elements).
Plan make_plan(const PlanRequest& request, const PlanRank& me, std::uint64_t first,
               std::uint64_t elements);

// Items of data for and from single ranks: all-to-all, sends and receives, gathers with counts of
// their own. In a turn each pair moves one window.
struct PlanItem {
  Bytes offset = 0;  // in the caller's memory
  Bytes size = 0;
};
struct ExchangeRequest {
  std::vector<PlanItem> sends, receives;  // by rank; the own ones are copied
  bool one_item = false;                  // all sends are of the same data
  bool reduces = false;                   // all that is received is for one place, and of one size
};
Bytes exchange_window(const ExchangeRequest& request, Bytes buffer);
// nullopt: no turn is left for this rank.
std::optional<Plan> make_exchange(const ExchangeRequest& request, const PlanRank& me, Bytes window,
                                  std::uint64_t turn);

}  // namespace npu::driver
