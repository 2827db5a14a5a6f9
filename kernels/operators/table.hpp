// SPDX-License-Identifier: Apache-2.0
// The operators there are: those that npusim brings along, and those of $NPUSIM_OPERATORS_PATH.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/operators/description.hpp"
#include "npu/base/result.hpp"

namespace npu::operators {

// A name stands for one operator. `folders`: of descriptions and sources, as in
// $NPUSIM_OPERATORS_PATH. Errors: read_descriptions(); kInvalidArgument: a name that is there
// twice; kNotFound: a folder that is not there, no operators of npusim's own (sources.hpp).
Result<std::vector<OperatorRow>> read_operators(const std::string& folders);

// Those of this process, read once: at the first call. Errors: read_operators().
Result<const std::vector<OperatorRow>*> operator_table();
// kNotFound: none of this name; the context names the nearest one. Errors: read_operators().
Result<const OperatorRow*> find_operator(std::string_view name);

}  // namespace npu::operators
