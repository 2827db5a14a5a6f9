// SPDX-License-Identifier: Apache-2.0
// The operators that there are: those that npusim brings along, and those of NPUSIM_OPERATORS_PATH.
#include <fmt/format.h>
#include <fnmatch.h>

#include "kernels/operators/table.hpp"
#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workloads/framework/suggestion.hpp"

namespace npu::cli {
namespace {

using operators::OperatorRow;
using operators::TensorRow;

constexpr const char* kCores[] = {"cube cores", "vector cores", "cube and vector cores"};

// "x [rows, columns], weight [columns] float32"
std::string text_of(const std::vector<TensorRow>& tensors) {
  std::string text;
  for (const auto& tensor : tensors) {
    text += (text.empty() ? "" : ", ") + tensor.name;
    if (!tensor.shape.empty()) text += fmt::format(" [{}]", tensor.shape);
    if (!tensor.dtype.empty()) text += " " + tensor.dtype;
    if (!tensor.below.empty()) text += fmt::format(" below {}", tensor.below);
  }
  return text;
}

std::string lines_of(const OperatorRow& row) {
  std::string text = fmt::format("{}\n  sides    {}\n  inputs   {}\n  results  {}\n", row.name,
                                 row.sides, text_of(row.inputs), text_of(row.results));
  if (!row.expression.empty()) text += fmt::format("  each     {}\n", row.expression);
  const auto folder = row.described() ? row.folder : "kernels/device/operators";
  return text + fmt::format("  source   {}/{}, on {}\n", folder, row.file,
                            kCores[static_cast<std::size_t>(row.type)]);
}

}  // namespace

Outcome list_operators(const Options& options) {
  if (auto ok = expect_at_most(1, "operators", options.arguments); !ok) return ok;
  const auto table = operators::operator_table();
  if (!table) return bad_input(table.error().context);
  const std::string pattern = options.arguments.empty() ? "*" : options.arguments[0];
  std::string text;
  std::vector<std::string> names;
  for (const auto& row : **table) {
    names.push_back(row.name);
    if (fnmatch(pattern.c_str(), row.name.c_str(), FNM_CASEFOLD) != 0) continue;
    text +=
        options.arguments.empty() ? fmt::format("{:<28}{}\n", row.name, row.sides) : lines_of(row);
  }
  if (text.empty()) {
    return bad_input("no operator '" + shortened(pattern) + "'" +
                     workloads::suggestion(pattern, names));
  }
  return print(text);
}

}  // namespace npu::cli
