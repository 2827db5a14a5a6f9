// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/graph_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "npu/base/shortened.hpp"
#include "workloads/framework/suggestion.hpp"
#include "workloads/task_graph/graph_reader.hpp"

namespace npu::workloads {

namespace fs = std::filesystem;

namespace {

// Beside the configurations: PREFIX/share/npusim/graphs, or TREE/workloads/graphs.
Result<std::string> find_graph(const std::string& name, const std::vector<std::string>& configs) {
  std::error_code code;
  if (name.find('/') != std::string::npos || fs::path(name).extension() == ".yaml") return name;
  std::vector<std::string> names;
  for (const auto& directory : configs) {
    for (const auto* place : {"../graphs", "../workloads/graphs"}) {
      const fs::path folder = (fs::path(directory) / place).lexically_normal();
      const fs::path file = folder / (name + ".yaml");
      if (fs::is_regular_file(file, code)) return file.string();
      for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
        if (at->path().extension() == ".yaml") names.push_back(at->path().stem().string());
      }
    }
  }
  std::sort(names.begin(), names.end());
  return fail(ErrorCode::kNotFound, "no graph '" + shortened(name) + "'" + suggestion(name, names));
}

}  // namespace

std::vector<ParameterSpec> graph_parameters(const std::string& name, const std::string& example) {
  return {{"graph", ParameterType::kText, "", name, "name of a shipped graph, or a file"},
          {"parameters", ParameterType::kText, "", "", "of the graph: " + example}};
}

Result<GraphSpec> read_graph(const ParameterSet& parameters,
                             const std::vector<std::string>& configs) {
  const auto path = find_graph(parameters.choice("graph"), configs);
  if (!path) return forward_error(path);
  return checked(read_graph_file(*path, parameters.choice("parameters")));
}

Status check_graph(const ParameterSet& parameters, const std::vector<std::string>& configs) {
  const auto spec = read_graph(parameters, configs);
  if (!spec) return forward_error(spec);
  const auto tensors = checked(make_tensors(*spec));
  if (!tensors) return forward_error(tensors);
  const auto graph = checked(build_graph(*spec, *tensors));
  return graph ? Status{} : forward_error(graph);
}

std::vector<std::string> graph_inputs(const ParameterSet& parameters,
                                      const std::vector<std::string>& configs) {
  const auto path = find_graph(parameters.choice("graph"), configs);
  return path ? std::vector<std::string>{*path} : std::vector<std::string>{};
}

tl::unexpected<Error> name_tasks(const Error& error, const abi::RunResult& result,
                                 const BuiltGraph& graph) {
  std::string text = error.context;
  for (const auto task : {result.task, result.waits_for}) {
    if (result.status == 0 || task >= graph.names.size() || graph.names[task].empty()) continue;
    text += fmt::format("; task {} is '{}'", task, graph.names[task]);
  }
  return fail(error.code, text);
}

}  // namespace npu::workloads
