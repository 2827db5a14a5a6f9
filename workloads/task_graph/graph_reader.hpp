// SPDX-License-Identifier: Apache-2.0
// Reads graph files as strictly as configurations: unknown, missing and duplicate keys, names that
// nothing has, expressions that make no sense are errors with file, line and column.
#pragma once

#include <string>

#include "workloads/task_graph/graph_spec.hpp"

namespace npu::workloads {

inline constexpr const char* kGraphSchema = "npusim.graph/1";

// `overrides`: "batch=4,blocks=8", new values of the graph's parameters; empty: none.
model::ConfigResult<GraphSpec> parse_graph(const std::string& text, const std::string& file,
                                           const std::string& overrides);
model::ConfigResult<GraphSpec> read_graph_file(const std::string& path,
                                               const std::string& overrides);

}  // namespace npu::workloads
