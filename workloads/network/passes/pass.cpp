// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/passes/pass.hpp"

#include <algorithm>

namespace npu::network::passes {

const std::vector<PassRow>& all_passes() {
  static const std::vector<PassRow> kRows = {
      {"identities", "Identity, and Dropout that drops nothing", drop_identities},
      {"constants", "nodes of constants alone run once, before inputs come", keep_constants},
      {"batch_norm", "BatchNormalization into the weights of a Conv", scale_convolutions},
      {"layer_norm", "mean, difference, variance and root as one LayerNormalization",
       find_layer_norms},
      {"rms_norm", "mean of squares and root as one operator", find_rms_norms},
      {"attention", "two products with a Softmax between them as one operator", find_attention},
      {"transpose", "Transpose of the last two axes into a product", turn_products},
      {"bias", "Add of a number for each column into a product", begin_with_bias},
      {"elementwise", "chains of operators on each element as one", chain_elements},
  };
  return kRows;
}

std::vector<PassResult> run_passes(Graph& graph, const std::vector<std::string>& names) {
  std::vector<PassResult> results;
  for (const auto& row : all_passes()) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    PassResult result{row.name, row.what, 0, graph.nodes.size(), 0};
    GraphEdit edit(graph);
    result.found = row.run(edit);
    edit.finish();
    result.nodes_after = graph.nodes.size();
    results.push_back(result);
  }
  return results;
}

}  // namespace npu::network::passes
