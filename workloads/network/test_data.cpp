// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/test_data.hpp"

#include <fmt/format.h>

#include "npu/base/checked.hpp"
#include "workloads/framework/random.hpp"
#include "workloads/network/onnx_file.hpp"
#include "workloads/programs/support/elements.hpp"

namespace npu::network {
namespace {

namespace fs = std::filesystem;

Result<Tensors> read_values(const fs::path& folder, const char* what,
                            const std::vector<NamedValue>& names) {
  Tensors all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto file = folder / fmt::format("{}_{}.pb", what, i);
    std::error_code code;
    // Constants may be inputs as well, for which there is no file.
    if (!fs::exists(file, code)) continue;
    auto tensor = read_tensor(file);
    if (!tensor) return forward_error(tensor);
    // Files have the bits of bfloat16 as integers.
    const bool is_bits =
        tensor->type == ElementType::kUint16 && names[i].type == ElementType::kBfloat16;
    if (is_bits) tensor->type = names[i].type;
    all[names[i].name] = std::move(*tensor);
  }
  return all;
}

}  // namespace

Result<std::vector<TestData>> read_test_data(const fs::path& model, const Graph& graph) {
  std::vector<TestData> sets;
  for (unsigned i = 0;; ++i) {
    TestData data;
    data.folder = model.parent_path() / fmt::format("test_data_set_{}", i);
    std::error_code code;
    if (!fs::is_directory(data.folder, code)) return sets;
    auto inputs = read_values(data.folder, "input", graph.inputs);
    if (!inputs) return forward_error(inputs);
    auto outputs = read_values(data.folder, "output", graph.outputs);
    if (!outputs) return forward_error(outputs);
    data.inputs = std::move(*inputs);
    data.outputs = std::move(*outputs);
    sets.push_back(std::move(data));
  }
}

constexpr std::uint64_t kMostRandom = std::uint64_t{1} << 32;

Result<Tensors> random_inputs(const Graph& graph, std::uint64_t seed) {
  workloads::Random random(seed);
  Tensors all;
  for (const auto& input : graph.inputs) {
    const auto& row = row_of(input.type);
    Tensor tensor{input.type, {}, {}, {}};
    bool known = input.has_shape && row.bytes != 0;
    std::uint64_t elements = 1;
    for (const auto side : input.sides) {
      known = known && side >= 0;
      tensor.sides.push_back(static_cast<std::uint64_t>(side));
      const auto more = checked_mul(elements, tensor.sides.back());
      elements = more && known ? *more : kMostRandom + 1;
    }
    if (!known) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("input '{}': the model leaves its sides open, there is no "
                              "test_data_set_0 beside it, and shapes does not name it",
                              input.name));
    }
    if (elements > kMostRandom) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("input '{}': more than {} elements", input.name, kMostRandom));
    }
    tensor.bytes.resize(tensor.elements() * row.bytes);
    for (std::uint64_t i = 0; i < tensor.elements(); ++i) {
      if (row.card && row.bytes < 8) {
        const bool is_real = input.type == ElementType::kFloat ||
                             input.type == ElementType::kFloat16 ||
                             input.type == ElementType::kBfloat16;
        const double value = is_real ? static_cast<double>(random.below(2001)) / 1000 - 1
                                     : static_cast<double>(random.below(4));
        workloads::store_element(*row.card, tensor.bytes.data(), i, value);
      } else {
        // The first byte is the lowest.
        tensor.bytes[i * row.bytes] =
            std::byte(random.below(input.type == ElementType::kBool ? 2 : 4));
      }
    }
    all[input.name] = std::move(tensor);
  }
  return all;
}

}  // namespace npu::network
