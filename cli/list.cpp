// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands.hpp"
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

Outcome list_workloads(const Options& options) {
  if (options.arguments.size() > 1) {
    return bad_input("list: unexpected '" + options.arguments[1] + "'");
  }
  std::string text;
  if (options.arguments.size() == 1) {
    const auto workload = workloads::all_workloads().find(options.arguments[0]);
    if (!workload) return bad_input(workload.error().context);
    text = describe(**workload);
  } else {
    for (const auto& workload : workloads::all_workloads().all()) text += describe(workload);
  }
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace npu::cli
