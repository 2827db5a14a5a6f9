// SPDX-License-Identifier: Apache-2.0
// Where the time of a step goes on a card.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/operators/launcher/spans.hpp"

namespace npu::workloads::transformer {

using operators::Spans;

struct PartTimes {
  std::uint64_t launches = 0;
  Spans card;
};

// Of a step on a card; or sums of several.
struct StepTimes {
  std::uint64_t launches = 0, operations = 0;
  Spans duration;  // from the first input that is written to the last token that is read
  Spans host;      // of it, from the first operator's call to the last one's doorbell
  Spans card;      // of kernels: from the first block's begin to the last one's end each
  Spans busy;      // of the card: kernels that overlap count once
  // Of operations of all cards: from when the card comes to one until it may use what came.
  Spans communication;
  Spans exposed;                  // of it, where no kernel runs on the card
  Spans hidden;                   // of it, where one does
  Spans gap;                      // neither a kernel nor an operation of all cards
  std::uint64_t collectives = 0;  // such operations
  std::map<std::string, PartTimes> parts;
  std::vector<Spans> layers;  // from the end of what came before to the end of its kernels

  void add(const StepTimes& other);
  // `step`: its duration. What was done in it: `kernels`, and operations of all cards.
  void set_spans(const operators::KernelSpan& step, const Spans& kernels,
                 const Spans& operations_of_all);
  // Nobody records events: the sums are enough.
  void keep_time_only();
  Picoseconds last_layer() const { return layers.empty() ? Picoseconds{} : layers.back().time(); }
};

}  // namespace npu::workloads::transformer
