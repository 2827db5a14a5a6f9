// SPDX-License-Identifier: Apache-2.0
// Recipes of products.
#include <fmt/format.h>

#include "tools/cli/validate/recipe.hpp"

namespace npu::validate {
namespace {

struct Product {
  std::uint64_t batch = 1, m = 0, n = 0, k = 0;
};

// From tensors m x k and k x n, n x k if `transposed`; a third side is the batch's.
std::optional<Product> product_of(const Measurement& row, bool transposed) {
  const Product named{1, side_of(row, {"m", "M"}), side_of(row, {"n", "N"}),
                      side_of(row, {"k", "K"})};
  if (named.m != 0 && named.n != 0 && named.k != 0) return named;
  if (!row.has(0) || !row.has(1) || row.tensors[0].size() < 2 || row.tensors[1].size() < 2) {
    return std::nullopt;
  }
  const auto& a = row.tensors[0];
  const auto& b = row.tensors[1];
  return Product{b.size() == 3 ? b[0] : 1, a[a.size() - 2],
                 transposed ? b[b.size() - 2] : b[b.size() - 1], a[a.size() - 1]};
}

double operations_of(const Product& product) {
  return 2.0 * static_cast<double>(product.batch) * static_cast<double>(product.m) *
         static_cast<double>(product.n) * static_cast<double>(product.k);
}

// Tensor `i` is a bias, or not there.
Made with_bias(Operation made, const Measurement& row, std::size_t i) {
  if (!row.has(i)) return made;
  const std::size_t of = row.types.size() == 1 ? 0 : i;
  const std::string type = of < row.types.size() ? row.types[of] : std::string();
  if (!type_here(type)) return refuse(fmt::format("no bias of type '{}'", type));
  made.settings.emplace_back("bias", type);
  return made;
}

// Elements of 8 or 4 bits with a scale for 32 of them. A curve's best m is not published.
Made mx_matmul(const Measurement& row, const char* name) {
  constexpr std::uint64_t kTall = 16384;
  Product sides{1, side_of(row, {"m"}), side_of(row, {"n"}), side_of(row, {"k"})};
  const bool best = sides.m == 0 && row.shape.find("best m") != std::string::npos;
  if (best) sides.m = kTall;
  if (sides.m == 0 || sides.n == 0 || sides.k == 0) return refuse("the shape has no m, n and k");
  Measurement bytes = row;
  bytes.types = {"int8"};
  auto made = compiled(bytes, name, fmt::format("{},{},{}", sides.m, sides.n, sides.k));
  made.settings.emplace_back("out_dtype", "float16");
  if (best) made.left_out = "m is not published, 16384 assumed";
  made.operations = operations_of(sides);
  return made;
}

}  // namespace

Made matmul(const Measurement& row) {
  const auto published = type_of(row);
  if (published.rfind("mxfp8 x", 0) != 0) {  // both of one type
    if (published.rfind("mxfp8", 0) == 0) return mx_matmul(row, "mxfp8_matmul");
    if (published.rfind("mxfp4", 0) == 0) return mx_matmul(row, "mxfp4_matmul");
  }
  const auto sides = product_of(row, false);
  if (!sides) return refuse("the shape has no m, n and k");
  if (published == "float16->float32" && sides->batch == 1) {
    Measurement from = row;
    from.types = {"float16"};
    auto made =
        compiled(from, "basic_matmul", fmt::format("{},{},{}", sides->m, sides->n, sides->k));
    made.settings.emplace_back("out_dtype", "float32");
    made.operations = operations_of(*sides);
    return made;
  }
  if (sides->batch != 1) return refuse("products come in batches");
  if (!type_here(published)) return refuse(fmt::format("no products of type '{}'", published));
  auto made = compiled(row, "basic_matmul", fmt::format("{},{},{}", sides->m, sides->n, sides->k));
  made.operations = operations_of(*sides);
  // Of repeated launches, with what lies between two of them.
  if (row.note.find("derived from published TFLOPS") != std::string::npos) {
    made.interval = Interval::kWall;
  }
  return made;
}

Made transpose_batch_matmul(const Measurement& row) {
  const auto sides = product_of(row, false);
  const auto batch = side_of(row, {"b"});
  if (!sides || batch == 0) return refuse("the shape has no b, m, n and k");
  if (!type_here(type_of(row))) {
    return refuse(fmt::format("no products of type '{}'", type_of(row)));
  }
  auto made = compiled(row, "batched_matmul",
                       fmt::format("{},{},{},{}", batch, sides->m, sides->n, sides->k));
  made.left_out = "that the batch becomes the result's second axis";
  made.operations = static_cast<double>(batch) * operations_of(*sides);
  return made;
}

Made quant_matmul(const Measurement& row) {
  const auto sides = product_of(row, false);
  if (!sides) return refuse("the shape has no m, n and k");
  const auto batch = sides->batch == 1 ? "" : fmt::format("{},", sides->batch);
  auto made =
      compiled(row, "quant_matmul", fmt::format("{}{},{},{}", batch, sides->m, sides->n, sides->k));
  const auto out = row.attributes.value("output_dtype", nlohmann::json("float16"));
  made.settings.emplace_back("out_dtype", out.is_string() ? out.get<std::string>() : "float16");
  // Tensors: A, B, scales of columns or one for all, offset, scales of rows, bias. Rows without
  // tensors are examples of catlass, which scale rows and columns.
  const bool one = !row.has(2) || (row.elements(2) == 1 && sides->n != 1);
  const bool both = !row.has(0) || row.has(4);
  made.settings.emplace_back("scales", both ? "both" : one ? "one" : "columns");
  made.operations = operations_of(*sides);
  return with_bias(std::move(made), row, 5);
}

Made grouped_matmul(const Measurement& row) {
  const bool transposed = is_on(row, "transpose_weight");
  const auto sides = product_of(row, transposed);
  if (!sides) return refuse("the shape has no groups, m, n and k");
  const auto named = row.sides.find("groups");
  const auto groups = named != row.sides.end() ? named->second : sides->batch;
  const auto m = named != row.sides.end() ? sides->m * groups : sides->m;
  if (!type_here(type_of(row))) {
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
  return with_bias(std::move(made), row, 2);
}

}  // namespace npu::validate
