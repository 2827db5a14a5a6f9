// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace npu::validate {
namespace {

using Made = tl::expected<Operation, std::string>;

tl::unexpected<std::string> refuse(std::string why) {
  return tl::unexpected<std::string>(std::move(why));
}

struct Named {
  std::string_view published, here;
};

// By the first word of the column sku. A part that is not stated more exactly is the one whose
// measurements are public.
constexpr Named kSkus[] = {{"910B1", "910b1"}, {"910B2", "910b2"}, {"910B3", "910b3"},
                           {"910B4", "910b4"}, {"910C", "910c"},   {"A3", "910c"},
                           {"910B", "910b2"},  {"A2", "910b2"},    {"A2/A3", "910b2"},
                           {"950PR", "950pr"}, {"950", "950"}};
constexpr Named kTypes[] = {{"float16", "fp16"}, {"bfloat16", "bf16"}, {"float32", "fp32"},
                            {"int8", "int8"},    {"int32", "int32"},   {"int64", "int64"}};
// Device time from the dispatch of the first block to the report of the last.
constexpr std::string_view kMetrics[] = {"task_duration", "kernel", "compute"};

template <std::size_t N>
std::optional<std::string> here(const Named (&names)[N], std::string_view published) {
  const auto* const found = std::find_if(std::begin(names), std::end(names), [&](const Named& row) {
    return row.published == published;
  });
  if (found == std::end(names)) return std::nullopt;
  return std::string(found->here);
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" ,"));
}

std::string type_of(const Measurement& row) {
  return row.types.empty() ? std::string() : row.types[0];
}

bool is_on(const Measurement& row, const char* attribute) {
  const auto& value = row.attributes.value(attribute, nlohmann::json());
  return value.is_boolean() && value.get<bool>();
}

std::string launches_of(const Measurement& row) {
  return row.cache == "warm" ? "2" : "1";
}

Made elementwise(const Measurement& row) {
  if (!row.has(0)) return refuse("the shape names no tensor");
  const auto type = here(kTypes, type_of(row));
  if (!type) return refuse(fmt::format("no elements of type '{}'", type_of(row)));
  if (row.has(1) && row.tensors[1] != row.tensors[0]) return refuse("operands are broadcast");
  return Operation{"",
                   "vector_operator",
                   {{"op", row.op},
                    {"type", *type},
                    {"elements", std::to_string(row.elements(0))},
                    {"launches", launches_of(row)}},
                   "operator.duration_us",
                   ""};
}

struct Product {
  std::uint64_t batch = 1, m = 0, n = 0, k = 0;
};

// From tensors m x k and k x n, n x k if `transposed`; a third side is the batch's.
std::optional<Product> product_of(const Measurement& row, bool transposed) {
  if (row.sides.count("m") != 0 && row.sides.count("n") != 0 && row.sides.count("k") != 0) {
    return Product{1, row.sides.at("m"), row.sides.at("n"), row.sides.at("k")};
  }
  if (row.sides.count("M") != 0 && row.sides.count("N") != 0 && row.sides.count("K") != 0) {
    return Product{1, row.sides.at("M"), row.sides.at("N"), row.sides.at("K")};
  }
  if (!row.has(0) || !row.has(1) || row.tensors[0].size() < 2 || row.tensors[1].size() < 2) {
    return std::nullopt;
  }
  const auto& a = row.tensors[0];
  const auto& b = row.tensors[1];
  return Product{b.size() == 3 ? b[0] : 1, a[a.size() - 2],
                 transposed ? b[b.size() - 2] : b[b.size() - 1], a[a.size() - 1]};
}

Made matmul(const Measurement& row) {
  const auto sides = product_of(row, false);
  if (!sides) return refuse("the shape has no m, n and k");
  if (sides->batch != 1) return refuse("products come in batches");
  const auto type = here(kTypes, type_of(row));
  if (!type) return refuse(fmt::format("no products of type '{}'", type_of(row)));
  return Operation{"",
                   "matmul_kernel",
                   {{"m", std::to_string(sides->m)},
                    {"n", std::to_string(sides->n)},
                    {"k", std::to_string(sides->k)},
                    {"type", *type},
                    {"launches", launches_of(row)}},
                   "matmul_kernel.duration_us",
                   ""};
}

// An operator compiled on demand; a second call finds its operands in the L2.
Operation compiled(const Measurement& row, const char* name, const std::string& shape) {
  return {"",
          "operator",
          {{"name", name},
           {"shape", shape},
           {"dtype", type_of(row)},
           {"calls", launches_of(row)},
           {"cache", "folder"}},
          "operator.device_us",
          ""};
}

Made quant_matmul(const Measurement& row) {
  const auto sides = product_of(row, false);
  if (!sides) return refuse("the shape has no m, n and k");
  if (sides->batch != 1) return refuse("quantised products come in batches");
  auto made = compiled(row, "quant_matmul", fmt::format("{},{},{}", sides->m, sides->n, sides->k));
  const auto out = row.attributes.value("output_dtype", nlohmann::json("float16"));
  made.settings.emplace_back("out_dtype", out.is_string() ? out.get<std::string>() : "float16");
  if (row.has(5)) made.left_out = "bias";
  return made;
}

Made grouped_matmul(const Measurement& row) {
  const bool transposed = is_on(row, "transpose_weight");
  const auto sides = product_of(row, transposed);
  if (!sides) return refuse("the shape has no groups, m, n and k");
  const auto named = row.sides.find("groups");
  const auto groups = named != row.sides.end() ? named->second : sides->batch;
  const auto m = named != row.sides.end() ? sides->m * groups : sides->m;
  if (!here(kTypes, type_of(row))) {
    return refuse(fmt::format("no products of type '{}'", type_of(row)));
  }
  auto made =
      compiled(row, "grouped_matmul", fmt::format("{},{},{},{}", groups, m, sides->n, sides->k));
  if (transposed) made.settings.emplace_back("transpose_b", "on");
  std::string ends;
  for (const auto& end : row.attributes.value("group_list", nlohmann::json::array())) {
    ends += (ends.empty() ? "" : ",") + end.dump();
  }
  if (!ends.empty()) made.settings.emplace_back("group_ends", ends);
  if (row.has(2)) made.left_out = "bias";
  return made;
}

Made rows_operator(const Measurement& row, const char* name) {
  if (!row.has(0)) return refuse("the shape names no tensor");
  if (!here(kTypes, type_of(row))) {
    return refuse(fmt::format("no elements of type '{}'", type_of(row)));
  }
  const auto columns = row.tensors[0].back();
  if (columns == 0) return refuse("the tensor is empty");
  return compiled(row, name, fmt::format("{},{}", row.elements(0) / columns, columns));
}

// Along the last axis, by the operator of this name.
Made on_last_axis(const Measurement& row) {
  const auto axes = row.has(0) ? static_cast<std::int64_t>(row.tensors[0].size()) : 0;
  const auto given = row.attributes.value("dim", nlohmann::json(-1));
  const auto dim = given.is_number_integer() ? given.get<std::int64_t>() : -1;
  if (axes != 0 && (dim < 0 ? dim + axes : dim) != axes - 1) {
    return refuse("the axis is not the last one");
  }
  return rows_operator(row, row.op.c_str());
}

Made on_rows(const Measurement& row) {
  return rows_operator(row, row.op.c_str());
}

// x, scales of weights and of activations, of columns before they are quantised.
Made dequant_swiglu_quant(const Measurement& row) {
  const bool integers = type_of(row) == "int32";
  if (integers != row.has(1) || integers != row.has(2)) {
    return refuse("int32, and nothing else, has scales of weights and activations");
  }
  auto made = rows_operator(row, "dequant_swiglu_quant");
  if (!made) return made;
  if (!is_on(row, "activate_left")) made->settings.emplace_back("activate_left", "off");
  if (row.has(3)) made->settings.emplace_back("quant_scales", "on");
  return made;
}

// Tensors of batch, sequence, heads, head; or B1 N1=12 N2=1 S0=128 S1=1024 D128.
Made attention(const Measurement& row) {
  if (!here(kTypes, type_of(row))) {
    return refuse(fmt::format("no attention of type '{}'", type_of(row)));
  }
  std::string shape;
  if (row.has(0) && row.has(1) && row.tensors[0].size() == 4 && row.tensors[1].size() == 4) {
    const auto& q = row.tensors[0];
    const auto& k = row.tensors[1];
    shape = fmt::format("{},{},{},{},{},{}", q[0], q[2], k[2], q[1], k[1], q[3]);
  } else {
    const auto side = [&](std::initializer_list<const char*> names, std::uint64_t none) {
      for (const auto* name : names) {
        if (const auto found = row.sides.find(name); found != row.sides.end()) return found->second;
      }
      return none;
    };
    const auto queries = side({"S0", "S"}, 0), keys = side({"S1", "S"}, 0), head = side({"D"}, 0);
    if (queries == 0 || keys == 0 || head == 0) return refuse("the shape has no S and D");
    const auto heads = side({"N1", "H"}, 1);
    shape = fmt::format("{},{},{},{},{},{}", side({"B"}, 1), heads, side({"N2"}, heads), queries,
                        keys, head);
  }
  auto made = compiled(row, "flash_attention", shape);
  made.settings.emplace_back("layout", "bsnd");
  if (is_on(row, "is_causal")) made.settings.emplace_back("causal", "on");
  return made;
}

struct OperatorRow {
  std::string_view op;
  Made (*make)(const Measurement&);
};

constexpr OperatorRow kOperators[] = {{"exp", elementwise},
                                      {"gelu", elementwise},
                                      {"sigmoid", elementwise},
                                      {"mish", elementwise},
                                      {"maximum", elementwise},
                                      {"matmul", matmul},
                                      {"gemm", matmul},
                                      {"quant_matmul", quant_matmul},
                                      {"softmax", on_last_axis},
                                      {"swi_glu", on_last_axis},
                                      {"rms_norm", on_rows},
                                      {"add_rms_norm", on_rows},
                                      {"dynamic_quant", on_rows},
                                      {"add_rms_norm_dynamic_quant", on_rows},
                                      {"dequant_swiglu_quant", dequant_swiglu_quant},
                                      {"grouped_matmul", grouped_matmul},
                                      {"mha", attention},
                                      {"gqa", attention},
                                      {"flash_attention", attention}};

}  // namespace

double microseconds_of(const std::string& unit) {
  if (unit == "us") return 1;
  if (unit == "ms") return 1e3;
  return unit == "ns" ? 1e-3 : 0;
}

tl::expected<Operation, std::string> operation_of(const Measurement& row) {
  const auto* const found =
      std::find_if(std::begin(kOperators), std::end(kOperators),
                   [&](const OperatorRow& known) { return known.op == row.op; });
  if (found == std::end(kOperators)) return refuse("no such operator");
  const auto configuration = here(kSkus, first_word(row.sku));
  if (!configuration) return refuse("no configuration of this part");
  if (std::find(std::begin(kMetrics), std::end(kMetrics), row.metric) == std::end(kMetrics)) {
    return refuse(fmt::format("the metric '{}' is no device time of a kernel", row.metric));
  }
  if (microseconds_of(row.unit) == 0) return refuse("the unit is no time");
  auto made = found->make(row);
  if (!made) return made;
  made->configuration = *configuration;
  // Cores do not compute data; times are the same.
  made->settings.emplace_back("functional", "off");
  return made;
}

}  // namespace npu::validate
