// SPDX-License-Identifier: Apache-2.0
// The graph file that a workload's parameters `graph` and `parameters` name.
#pragma once

#include <string>
#include <vector>

#include "workloads/framework/context.hpp"
#include "workloads/task_graph/graph_builder.hpp"

namespace npu::workloads {

template <class T>
Result<T> checked(model::ConfigResult<T> result) {
  if (!result) return fail(ErrorCode::kInvalidArgument, result.error().message());
  return std::move(*result);
}

// graph: `name` if none is given; parameters.
std::vector<ParameterSpec> graph_parameters(const std::string& name, const std::string& example);
// kNotFound: no such graph; kInvalidArgument: a mistake in it.
Result<GraphSpec> read_graph(const ParameterSet& parameters,
                             const std::vector<std::string>& configs);
// Mistakes in the file are the user's, found before anything is simulated.
Status check_graph(const ParameterSet& parameters, const std::vector<std::string>& configs);
// The file.
std::vector<std::string> graph_inputs(const ParameterSet& parameters,
                                      const std::vector<std::string>& configs);
// A run of the graph that the parameters name: `Run(context, spec, tensors).run()`.
template <class Run>
Status run_graph(Context& context) {
  const auto spec = read_graph(context.parameters, context.config_directories);
  if (!spec) return forward_error(spec);
  auto tensors = checked(make_tensors(*spec));
  if (!tensors) return forward_error(tensors);
  return Run(context, *spec, std::move(*tensors)).run();
}
// The error of a run, whose scheduler knows tasks by number, with the names that the file has.
tl::unexpected<Error> name_tasks(const Error& error, const abi::RunResult& result,
                                 const BuiltGraph& graph);

}  // namespace npu::workloads
