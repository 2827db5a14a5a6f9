// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/described_tensors.hpp"

#include "kernels/operators/axes.hpp"
#include "kernels/operators/binding.hpp"

namespace npu::workloads {
namespace {

// normalise() has looked at all of them.
std::vector<std::uint64_t> sides_of(const std::string& text,
                                    const operators::NormalisedCall& call) {
  return operators::numbers_of(text, *call.row, call.sides).value();
}

OperatorTensor flat_tensor(const operators::TensorRow& row, const operators::NormalisedCall& call,
                           platform::DataType type) {
  const auto sides = sides_of(row.shape, call);
  OperatorTensor tensor{1, operators::product_of(sides, sides.size()), "RowMajor", type};
  if (!row.below.empty()) tensor.indices_below = sides_of(row.below, call).front();
  return tensor;
}

}  // namespace

OperatorTensors described_tensors(const operators::NormalisedCall& call) {
  OperatorTensors to;
  const auto& row = *call.row;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    to.inputs.push_back(flat_tensor(row.inputs[i], call, operators::type_of_input(call, i)));
  }
  for (std::size_t i = 0; i < row.results.size(); ++i) {
    to.results.push_back(flat_tensor(row.results[i], call, operators::type_of_result(call, i)));
  }
  return to;
}

std::vector<TensorValues> expected_by(jit::Reference reference,
                                      const operators::NormalisedCall& call,
                                      const std::function<TensorValues(std::size_t)>& values_of) {
  const auto tensors = described_tensors(call);
  std::vector<TensorValues> inputs, results;
  std::vector<const double*> from;
  std::vector<double*> to;
  inputs.reserve(tensors.inputs.size());
  for (std::size_t i = 0; i < tensors.inputs.size(); ++i) {
    from.push_back(inputs.emplace_back(values_of(i)).data());
  }
  results.reserve(tensors.results.size());
  for (const auto& tensor : tensors.results) {
    to.push_back(results.emplace_back(tensor.columns).data());
  }
  const auto binding = operators::bind(call);
  reference(binding.params_address(), from.data(), to.data());
  return results;
}

}  // namespace npu::workloads
