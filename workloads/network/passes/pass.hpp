// SPDX-License-Identifier: Apache-2.0
// Passes over a network before it runs, a row each: they put nodes together, or away. What the
// network computes stays the same, but for roundings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/network/passes/graph_edit.hpp"

namespace npu::network::passes {

struct PassRow {
  std::string_view name;
  std::string_view what;
  // How many places it has found.
  std::size_t (*run)(GraphEdit&);
};

// In the order in which they run.
const std::vector<PassRow>& all_passes();

struct PassResult {
  std::string_view name, what;
  std::size_t found = 0, nodes_before = 0, nodes_after = 0;
};
// Those of `names`, in the order of the table.
std::vector<PassResult> run_passes(Graph& graph, const std::vector<std::string>& names);

// --- the rows
std::size_t keep_constants(GraphEdit& edit);
std::size_t drop_identities(GraphEdit& edit);
std::size_t scale_convolutions(GraphEdit& edit);
std::size_t find_layer_norms(GraphEdit& edit);
std::size_t find_rms_norms(GraphEdit& edit);
std::size_t find_attention(GraphEdit& edit);
std::size_t turn_products(GraphEdit& edit);
std::size_t begin_with_bias(GraphEdit& edit);
std::size_t chain_elements(GraphEdit& edit);

}  // namespace npu::network::passes
