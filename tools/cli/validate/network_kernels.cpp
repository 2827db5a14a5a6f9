// SPDX-License-Identifier: Apache-2.0
// Kernels of a layer, each by one operator. Weights, keys and values are of one layer among many: a
// launch finds them in memory. What vector cores take comes from the kernel before: it is in the
// L2.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/cli/validate/network_row.hpp"
#include "tools/cli/validate/network_text.hpp"
#include "tools/cli/validate/recipe.hpp"

namespace npu::validate::network {
namespace {

using KernelSides = std::vector<std::uint64_t>;

constexpr double kMostOperations = 2e13;  // of a product: some minutes of a run
constexpr std::uint64_t kMostElements = 1U << 30;
constexpr std::uint64_t kPageOfCache = 128;  // tokens
constexpr std::uint64_t kUsualHead = 128;

struct KernelRow {
  const Measurement& row;
  const Facts& facts;

  bool divides() const { return facts.model && facts.divided != 0; }
  std::uint64_t part(std::uint64_t whole) const {
    return std::max<std::uint64_t>(whole / facts.divided, 1);
  }
  std::uint64_t heads() const { return part(facts.model->heads); }
  std::uint64_t kv_heads() const { return part(facts.model->kv_heads); }
  std::uint64_t head() const { return facts.model ? facts.model->head : kUsualHead; }
  // Rows of a step: "16x5120", "T=24624", "B16".
  std::uint64_t tokens() const {
    for (const auto* name : {"T", "B", "b"}) {
      if (const auto found = number_behind(row.shape, name)) return *found;
    }
    return 0;
  }
  std::uint64_t context() const { return middle_behind(row.shape, "ctx").value_or(0); }
};

Operation operator_run(const KernelRow& problem, const char* name, const KernelSides& shape,
                       bool warm) {
  Operation made;
  made.configuration = problem.facts.part;
  made.workload = "operator";
  made.settings = {{"name", name},
                   {"shape", fmt::format("{}", fmt::join(shape, ","))},
                   {"dtype", problem.facts.type},
                   {"calls", warm ? "2" : "1"},
                   {"cache", "folder"},
                   {"functional", "off"}};
  const auto cores = number_before(problem.row.shape, "AIC");
  if (cores && *cores != 0) made.settings.emplace_back("cores", std::to_string(*cores));
  made.device_metric = made.metric = "operator.device_us";
  return made;
}

double work_of_sides(const KernelSides& sides) {
  double all = 2;
  for (const auto side : sides) all *= static_cast<double>(side);
  return all;
}

// Of a model's product by its name: from how many columns to how many.
std::optional<std::pair<std::uint64_t, std::uint64_t>> role_of(const KernelRow& problem) {
  if (!problem.divides()) return std::nullopt;
  const auto& model = *problem.facts.model;
  const auto& op = problem.row.op;
  const auto q = problem.heads() * model.head, kv = problem.kv_heads() * model.head;
  const auto inner = problem.part(model.inner);
  if (says(op, "qkv") || says(op, "qkv_proj")) return {{model.hidden, q + 2 * kv}};
  if (says(op, "o_proj") || says(op, "o")) return {{q, model.hidden}};
  if (says(op, "gate_up") || says(op, "gate_up_proj")) return {{model.hidden, 2 * inner}};
  if (says(op, "down") || says(op, "down_proj")) return {{inner, model.hidden}};
  const auto rows = (model.vocabulary + problem.facts.divided - 1) / problem.facts.divided;
  if (says(op, "lm_head")) return {{model.hidden, rows}};
  return std::nullopt;
}

// [batch,] m, n, k; empty: the row does not say it.
KernelSides sides_of_product(const KernelRow& problem) {
  const auto sides = product_in(problem.row.shape);
  if (sides.size() == 3) return {sides[0], sides[2], sides[1]};
  if (sides.size() == 4) return {sides[0], sides[1], sides[3], sides[2]};
  const auto role = role_of(problem);
  const auto tokens = problem.tokens();
  if (!role || tokens == 0 || sides.size() > 1) return {};
  if (sides.size() == 1 && sides[0] != role->second) return {};
  return {tokens, role->second, role->first};
}

Made plain_product(const KernelRow& problem) {
  const auto sides = sides_of_product(problem);
  if (sides.empty()) return refuse("the sides of the product are not published");
  if (std::count(sides.begin(), sides.end(), 0U) != 0) return refuse("the product is empty");
  if (work_of_sides(sides) > kMostOperations) return refuse("the product is too large to simulate");
  if (problem.facts.type == "int8") return refuse("what becomes of the int32 is not published");
  const bool batched = sides.size() == 4;
  auto made = operator_run(problem, batched ? "batched_matmul" : "basic_matmul", sides, false);
  if (says(problem.row.note, "NZ") || says(problem.row.op, "NZ")) {
    made.settings.emplace_back("format_b", "NZ");
  }
  if (batched) made.left_out = "the order of the result's axes";
  return made;
}

// int8 with scales of rows and columns, as W8A8 with dynamic scales has them.
Made quantised_product(const KernelRow& problem) {
  Facts facts = problem.facts;
  facts.type = "int8";
  const KernelRow of_bytes{problem.row, facts};
  const auto sides = sides_of_product(of_bytes);
  if (sides.empty()) return refuse("the sides of the product are not published");
  if (std::count(sides.begin(), sides.end(), 0U) != 0) return refuse("the product is empty");
  if (work_of_sides(sides) > kMostOperations) return refuse("the product is too large to simulate");
  auto made = operator_run(of_bytes, "quant_matmul", sides, false);
  made.settings.emplace_back("out_dtype", "bfloat16");
  made.settings.emplace_back("scales", "both");
  return made;
}

Made grouped_product(const KernelRow& problem) {
  const auto groups = number_before(problem.row.shape, "groups");
  const auto sides = sides_of_product(problem);
  if (!groups || *groups == 0 || sides.size() != 3 || problem.facts.type == "int8") {
    return refuse("the groups of the product are not published");
  }
  if (work_of_sides(sides) > kMostOperations) return refuse("the product is too large to simulate");
  return operator_run(problem, "grouped_matmul", {*groups, sides[0], sides[1], sides[2]}, false);
}

// "decode B16 ctx 4096-5632; q 16x4x128, kv heads 1", "prefill T=24624 (6 x 4104) 4 q heads".
Made cached_attention(const KernelRow& problem) {
  const auto& shape = problem.row.shape;
  const auto q = tensor_in(shape);
  std::uint64_t batch = 0, queries = 1, keys = problem.context(), head = problem.head();
  auto heads = number_before(shape, "q heads").value_or(problem.divides() ? problem.heads() : 0);
  auto kv = number_behind(shape, "kv heads").value_or(problem.divides() ? problem.kv_heads() : 0);
  if (keys == 0 && q.size() == 2) {  // sequences and their length
    batch = q[0], queries = keys = q[1];
  } else if (keys != 0) {
    batch = number_behind(shape, "B").value_or(q.size() == 3 ? q[0] : 0);
    if (q.size() == 3) heads = q[1], head = q[2];
  }
  if (batch == 0 || keys == 0 || heads == 0 || kv == 0 || head == 0 || heads % kv != 0) {
    return refuse("batch, heads or context of the attention are not published");
  }
  const KernelSides sides{batch, heads, kv, queries, keys, head};
  if (work_of_sides({batch, heads, queries, keys, head}) > kMostOperations ||
      work_of_sides({batch, kv, keys, head}) > 2.0 * kMostElements) {
    return refuse("the attention is too large to simulate");
  }
  auto made = operator_run(problem, "flash_attention", sides, false);
  if (queries > 1) made.settings.emplace_back("causal", "on");
  made.left_out = queries > 1 ? "" : "the table of pages";
  return made;
}

// By rows and columns: "16x5120", "T=24624x3200".
Made on_tensor(const KernelRow& problem, const char* name) {
  auto sides = tensor_in(problem.row.shape);
  const auto product = product_in(problem.row.shape);
  if (sides.size() < 2 || !product.empty()) return refuse("the tensor's sides are not published");
  double all = 1;
  for (const auto side : sides) all *= static_cast<double>(side);
  if (all < 1) return refuse("the tensor is empty");
  if (all > kMostElements) return refuse("the tensor is too large to simulate");
  const auto columns = sides.back();
  return operator_run(problem, name, {static_cast<std::uint64_t>(all) / columns, columns}, true);
}

Made norm(const KernelRow& problem) {
  return on_tensor(problem, "rms_norm");
}
Made add_norm(const KernelRow& problem) {
  return on_tensor(problem, "add_rms_norm");
}
Made add_norm_quant(const KernelRow& problem) {
  return on_tensor(problem, "add_rms_norm_dynamic_quant");
}
Made swi_glu_rows(const KernelRow& problem) {
  return on_tensor(problem, "swi_glu");
}
Made dynamic_quant(const KernelRow& problem) {
  return on_tensor(problem, "dynamic_quant");
}

// Of a sampler logits are float, whatever the type of the model.
Made sampled(const KernelRow& problem, const char* name) {
  Facts facts = problem.facts;
  const bool sampling = says(problem.row.op, "sampling");
  if (sampling) facts.type = "float32";
  auto made = on_tensor({problem.row, facts}, name);
  if (made && sampling) made->left_out = "the type is not published, float32 assumed";
  return made;
}
Made row_softmax(const KernelRow& problem) {
  return sampled(problem, "softmax");
}
Made argmax(const KernelRow& problem) {
  return sampled(problem, "argmax");
}

constexpr std::uint64_t kFewestVectorCores = 40;  // of a 910B3 and 910B4

// Rows of keys and of values go to a place each, which here is one table. The library's kernel has
// a core for each token, whose key and value it writes (hicann/ascend-transformer-boost,
// reshape_and_cache_tiling.cpp).
Made cache_write(const KernelRow& problem) {
  const auto rows = problem.tokens(), context = problem.context();
  if (!problem.divides() || rows == 0) return refuse("rows and heads are not published");
  const auto columns = problem.kv_heads() * problem.head();
  const auto pages = context / kPageOfCache + 1;
  const auto table = rows * std::max<std::uint64_t>(pages, 1) * kPageOfCache;
  if (table * columns > kMostElements) return refuse("the cache is too large to simulate");
  auto made = operator_run(problem, "kv_cache_write", {2 * rows, columns, table}, true);
  if (rows < kFewestVectorCores) made.settings.emplace_back("cores", std::to_string(rows));
  made.left_out = "keys and values are rows of one table";
  return made;
}

Made rope(const KernelRow& problem) {
  const auto sides = tensor_in(problem.row.shape);
  if (sides.size() != 3 || sides[2] % 2 != 0) return refuse("tokens and heads are not published");
  if (work_of_sides(sides) > kMostElements) return refuse("the tensor is too large to simulate");
  const bool pairs = says(problem.row.op, "InterleaveRope");
  return operator_run(problem, pairs ? "rope_interleaved" : "rope_half", sides, true);
}

struct Kernel {
  std::string_view begin;  // of a word of the column model_op
  Made (*make)(const KernelRow&);
};
// A longer name stands before those that it begins with.
constexpr Kernel kKernels[] = {{"AddRmsNormDynamicQuant", add_norm_quant},
                               {"AddRmsNorm", add_norm},
                               {"RmsNorm", norm},
                               {"SwiGlu", swi_glu_rows},
                               {"DynamicQuant", dynamic_quant},
                               {"QuantBatchMatmul", quantised_product},
                               {"QuantMatmul", quantised_product},
                               {"GroupedMatmul", grouped_product},
                               {"TransposeBatchMatMul", plain_product},
                               {"BatchMatMul", plain_product},
                               {"MatMul", plain_product},
                               {"FusedInferAttention", cached_attention},
                               {"FlashAttention", cached_attention},
                               {"IncreFlashAttention", cached_attention},
                               {"PromptFlashAttention", cached_attention},
                               {"PagedAttention", cached_attention},
                               {"reshape_and_cache", cache_write},
                               {"ScatterPaKvCache", cache_write},
                               {"RotaryMul", rope},
                               {"InterleaveRope", rope},
                               {"ApplyRotaryPosEmb", rope},
                               {"rope", rope},
                               {"Softmax", row_softmax},
                               {"ArgMax", argmax}};

const Kernel* kernel_named(const std::string& op) {
  const auto small = lower(op);
  const auto begins_word = [&](const Kernel& known) {
    const auto name = lower(known.begin);
    for (auto at = small.find(name); at != std::string::npos; at = small.find(name, at + 1)) {
      if (at == 0 || small[at - 1] == ' ' || small[at - 1] == '_') return true;
    }
    return false;
  };
  const auto* const found = std::find_if(std::begin(kKernels), std::end(kKernels), begins_word);
  return found == std::end(kKernels) ? nullptr : found;
}

bool is_of_device(const std::string& metric) {
  constexpr std::string_view kDeviceMetrics[] = {"kernel",  "device time", "task_duration",
                                                 "latency", "kernel mean", "kernel median"};
  return std::find(std::begin(kDeviceMetrics), std::end(kDeviceMetrics), metric) !=
         std::end(kDeviceMetrics);
}

}  // namespace

std::optional<Made> kernel(const Measurement& row, const Facts& facts) {
  const auto* const known = kernel_named(row.op);
  if (known == nullptr) return std::nullopt;
  if (!is_of_device(row.metric)) {
    return Made(refuse(fmt::format("the metric '{}' is none of a kernel", row.metric)));
  }
  return known->make({row, facts});
}

}  // namespace npu::validate::network
