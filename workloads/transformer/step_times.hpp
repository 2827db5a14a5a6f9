// SPDX-License-Identifier: Apache-2.0
// Where the time of a step goes on a card.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/operators/launcher/launch_times.hpp"

namespace npu::workloads::transformer {

struct PartTimes {
  std::uint64_t launches = 0;
  Picoseconds card{};
};

// Of a step on a card; or sums of several.
struct StepTimes {
  std::uint64_t launches = 0, operations = 0;
  Picoseconds duration{};  // from the first input that is written to the last token that is read
  Picoseconds host{};      // of it, from the first operator's call to the last one's doorbell
  Picoseconds card{};      // of kernels: from the first block's begin to the last one's end each
  Picoseconds busy{};      // of the card: kernels that overlap count once
  // Of operations of all cards: from when the card comes to one until it may use what came.
  Picoseconds communication{};
  Picoseconds exposed{};          // of it, where no kernel runs on the card
  std::uint64_t collectives = 0;  // such operations
  std::map<std::string, PartTimes> parts;
  std::vector<Picoseconds> layers;  // from the end of what came before to the end of its kernels

  void add(const StepTimes& other);
  // Times in which something was done: `kernels`, and operations of all cards.
  void set_spans(const std::vector<operators::KernelSpan>& kernels,
                 const std::vector<operators::KernelSpan>& operations_of_all);
  Picoseconds hidden() const { return communication - exposed; }
  // Neither a kernel nor an operation of all cards.
  Picoseconds gap() const { return duration - busy - exposed; }
  Picoseconds last_layer() const { return layers.empty() ? Picoseconds{} : layers.back(); }
};

}  // namespace npu::workloads::transformer
