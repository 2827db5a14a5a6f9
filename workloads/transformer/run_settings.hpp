// SPDX-License-Identifier: Apache-2.0
// What the parameters of `run transformer` ask for.
#pragma once

#include <string>
#include <vector>

#include "workloads/framework/context.hpp"
#include "workloads/transformer/rank.hpp"

namespace npu::workloads::transformer {

inline constexpr std::uint64_t kMostTokens = 1U << 20;

// Algorithms that an all-reduce can be done by.
std::vector<std::string> reduce_algorithms();

// Of the model, the layers that are simulated; and of these, what a card has. Errors: those of
// part_of().
Model simulated(const ParameterSet& parameters, const Model& model);
Result<Model> part_of_run(const ParameterSet& parameters, const Model& model);
// Routers must have the same sums on all ranks, to the last bit: a one-shot sum of more than two
// has the order in which terms come.
// Where tokens are dispatched, one card alone chooses for each.
bool needs_equal_sums(const Model& part);
// kInvalidArgument: an algorithm by which cards choose different experts.
Result<driver::CollectiveAlgorithm> algorithm_of(const ParameterSet& parameters, const Model& part);
// New tokens of a sequence in the largest step of the run.
std::uint64_t largest_tokens(const Context& context);
// kOutOfMemory: the weights are more than the card's memory.
Result<DecoderOptions> options_of(const Context& context, const Model& part);
// kInvalidArgument: one line that names the parameter, or the key of the model's file.
Status check_run(const ParameterSet& parameters);

}  // namespace npu::workloads::transformer
