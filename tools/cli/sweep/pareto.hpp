// SPDX-License-Identifier: Apache-2.0
// Which of several alternatives are worth a look.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace npu::sweep {

enum class Goal { kMinimum, kMaximum };

// A value per objective, decimals; none: the alternative has not got it.
using Alternative = std::vector<std::optional<std::string>>;

// For each alternative whether no other is as good in every objective and better in one. Equal ones
// are on the front together. Nothing for an alternative that lacks a value: it is compared with
// none. One goal per objective, at least one.
std::vector<std::optional<bool>> pareto_front(const std::vector<Alternative>& alternatives,
                                              const std::vector<Goal>& goals);

}  // namespace npu::sweep
