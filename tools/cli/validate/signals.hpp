// SPDX-License-Identifier: Apache-2.0
// Measurements of launches, copies between cards and tasks: what npusim runs for them.
#pragma once

#include "tools/cli/validate/operation.hpp"

namespace npu::validate {

// By the column op.
bool is_signal(const Measurement& row);
// Of a signal. The error is why npusim cannot run it.
tl::expected<Operation, std::string> signal_of(const Measurement& row);

}  // namespace npu::validate
