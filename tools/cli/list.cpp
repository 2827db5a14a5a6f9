// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workloads/framework/registry.hpp"

namespace npu::cli {
namespace {

std::string unit_and_range(const workloads::ParameterSpec& spec) {
  std::string text(to_string(spec.type));
  if (!spec.unit.empty()) text += ", " + spec.unit;
  const std::string allowed = spec.allowed();
  if (!allowed.empty()) text += ", " + allowed;
  return text;
}

std::string describe(const workloads::Workload& workload) {
  std::string text = fmt::format("{}\n  {}\n", workload.name, workload.doc);
  std::size_t width = 0;
  for (const auto& spec : workload.parameters) {
    width = std::max(width, spec.name.size() + 1 + spec.default_value.size());
  }
  for (const auto& spec : workload.parameters) {
    const std::string assignment = spec.name + "=" + spec.default_value;
    text += fmt::format("    {:{}}  {} ({})\n", assignment, width, spec.doc, unit_and_range(spec));
  }
  return text;
}

}  // namespace

tl::expected<std::string, Failure> describe_workload(const std::string& name) {
  const auto workload = workloads::all_workloads().find(name);
  if (!workload) return bad_input(workload.error().context);
  return describe(**workload);
}

Outcome list_workloads(const Options& options) {
  if (auto ok = expect_at_most(1, "list", options.arguments); !ok) return ok;
  if (options.arguments.size() == 1) {
    if (options.names) return bad_input("list: --names is for the list of all workloads");
    const auto workload = describe_workload(options.arguments[0]);
    if (!workload) return tl::unexpected(workload.error());
    return print(*workload);
  }
  std::size_t width = 0;
  for (const auto& workload : workloads::all_workloads().all()) {
    width = std::max(width, workload.name.size());
  }
  std::string text;
  for (const auto& workload : workloads::all_workloads().all()) {
    text += options.names ? workload.name + "\n"
                          : fmt::format("{:{}}  {}\n", workload.name, width, workload.doc);
  }
  return print(text);
}

}  // namespace npu::cli
