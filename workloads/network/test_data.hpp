// SPDX-License-Identifier: Apache-2.0
// Inputs and results that stand beside a model: test_data_set_0/input_0.pb, output_0.pb, and so on,
// as the standard's own tests have them.
#pragma once

#include <filesystem>
#include <vector>

#include "workloads/network/interpreter.hpp"

namespace npu::network {

struct TestData {
  std::filesystem::path folder;
  Tensors inputs, outputs;  // by the names that the graph has for them
};

// In the order of their folders; none if there are none. Errors as of read_tensor().
Result<std::vector<TestData>> read_test_data(const std::filesystem::path& model,
                                             const Graph& graph);

// Inputs of the graph by seed: reals between -1 and 1, integers from 0 to 3, truth at random.
// kInvalidArgument: a side that the model leaves open, or more than 2^32 elements.
Result<Tensors> random_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace npu::network
