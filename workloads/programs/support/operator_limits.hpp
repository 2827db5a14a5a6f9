// SPDX-License-Identifier: Apache-2.0
// What an operator's call depends on besides the call: where groups end, what the card has; and its
// names and shapes for users.
#pragma once

#include <string>
#include <vector>

#include "kernels/operators/call.hpp"
#include "kernels/operators/launcher/launcher.hpp"
#include "model/config/system_config.hpp"
#include "workloads/framework/parameter.hpp"

namespace npu::workloads {

// Of the parameter group_ends; empty: not given.
std::vector<std::uint64_t> group_ends_of(const ParameterSet& parameters);
// kInvalidArgument: not of a grouped product, not an end for each group, not rising within the side
// that is sliced.
Status check_group_ends(const operators::NormalisedCall& call,
                        const std::vector<std::uint64_t>& ends);
// kInvalidArgument: far beyond any card. Below that no product of sides overflows.
Status check_size(const operators::OperatorCall& call);
operators::CardCores cores_of(const model::ChipConfig& chip);

// As measurements on silicon name it.
std::string published_name(const operators::OperatorCall& call);

}  // namespace npu::workloads
