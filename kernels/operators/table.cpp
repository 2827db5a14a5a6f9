// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include "kernels/operators/sources.hpp"
#include "npu/base/nearest_name.hpp"
#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

namespace fs = std::filesystem;

// The descriptions in a folder, by name.
Result<std::vector<std::string>> files_of(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".yaml") files.push_back(at->path().string());
  }
  if (error) {
    return fail(ErrorCode::kNotFound, fmt::format("NPUSIM_OPERATORS_PATH: {}: {}",
                                                  shortened(folder, kShownPath), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status add_file(const std::string& file, const std::string& folder,
                std::map<std::string, std::string>& files, std::vector<OperatorRow>& to) {
  auto rows = read_descriptions(file, folder);
  if (!rows) return forward_error(rows);
  for (auto& row : *rows) {
    const auto [first, is_new] = files.emplace(row.name, file);
    if (!is_new) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: an operator {} is in {} already", shortened(file, kShownPath),
                              row.name, shortened(first->second, kShownPath)));
    }
    to.push_back(std::move(row));
  }
  return {};
}

}  // namespace

Result<std::vector<OperatorRow>> read_operators(const std::string& folders) {
  std::vector<OperatorRow> rows;
  std::map<std::string, std::string> files;  // by operator
  const auto root = operators_root();
  if (!root) return forward_error(root);
  if (auto ok = add_file(*root + "/kernels/device/operators/operators.yaml", "", files, rows);
      !ok) {
    return forward_error(ok);
  }
  std::string_view rest = folders;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string given(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (given.empty()) continue;
    std::error_code ignored;
    const std::string folder = fs::absolute(given, ignored).lexically_normal().string();
    const auto found = files_of(folder);
    if (!found) return forward_error(found);
    for (const auto& file : *found) {
      if (auto ok = add_file(file, folder, files, rows); !ok) return forward_error(ok);
    }
  }
  return rows;
}

Result<const std::vector<OperatorRow>*> operator_table() {
  static const Result<std::vector<OperatorRow>> kTable = [] {
    const char* const path = std::getenv("NPUSIM_OPERATORS_PATH");
    return read_operators(path == nullptr ? "" : path);
  }();
  if (!kTable) return forward_error(kTable);
  return &*kTable;
}

Result<const OperatorRow*> find_operator(std::string_view name) {
  const auto table = operator_table();
  if (!table) return forward_error(table);
  std::vector<std::string> known;
  for (const auto& row : **table) {
    if (row.name == name) return &row;
    known.push_back(row.name);
  }
  const auto nearest = nearest_name(name, known);
  return fail(ErrorCode::kNotFound,
              fmt::format("no operator \"{}\"; {}`npusim operators` lists npusim's and those of "
                          "NPUSIM_OPERATORS_PATH",
                          shortened(name),
                          nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest)));
}

}  // namespace npu::operators
