// SPDX-License-Identifier: Apache-2.0
// Small graph files for tests.
#pragma once

#include <string>

#include "workloads/task_graph/graph_builder.hpp"
#include "workloads/task_graph/graph_reader.hpp"

namespace npu::workloads {

inline constexpr const char* kHead = "schema: npusim.graph/1\nabout: test\n";
inline constexpr int kHeadLines = 2;

struct ReadGraph {
  std::string error;  // empty: all is well
  BuiltGraph built;
};

inline ReadGraph read_graph(const std::string& text, const std::string& overrides = "") {
  const auto spec = parse_graph(kHead + text, "g.yaml", overrides);
  if (!spec) return {spec.error().message(), {}};
  const auto tensors = make_tensors(*spec);
  if (!tensors) return {tensors.error().message(), {}};
  auto built = build_graph(*spec, *tensors);
  if (!built) return {built.error().message(), {}};
  return {"", std::move(*built)};
}

// The message of a file of which `text` follows the head, without the file's name; lines count
// from the head's end.
inline std::string error_of(const std::string& text, const std::string& overrides = "") {
  const std::string error = read_graph(text, overrides).error;
  const std::string file = "g.yaml:";
  if (error.rfind(file, 0) != 0) return error;
  const std::size_t colon = error.find(':', file.size());
  const int line = std::stoi(error.substr(file.size(), colon - file.size()));
  return std::to_string(line - kHeadLines) + error.substr(colon);
}

}  // namespace npu::workloads
