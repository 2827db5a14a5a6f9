// SPDX-License-Identifier: Apache-2.0
// Random faults of a card that copies can meet.
#pragma once

#include <string>
#include <vector>

#include "workloads/framework/context.hpp"
#include "workloads/framework/fault_text.hpp"

namespace npu::workloads {

struct FaultRange {
  unsigned card;
  Picoseconds longest;  // that a fault with a duration lasts
  Bytes used;           // of the card's memory; the lowest pages are in use
  Bytes touched;        // of each of these pages' beginning, by copies: errors of memory are here
};

// Names of the kinds that copies of one card can meet: none needs another card or a kernel.
std::vector<std::string> kinds_of_copies();

// A fault of the class, whose keys have random values.
testkit::Fault draw_fault(Random& random, const FaultClass& row, const FaultRange& range);

// At least 0, and less than `below`.
Picoseconds draw_time(Random& random, Picoseconds below);

}  // namespace npu::workloads
