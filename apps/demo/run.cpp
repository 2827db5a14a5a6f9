// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/bare_machine.hpp"
#include "workloads/programs/programs.hpp"

namespace npu::demo {
namespace {

// Of the whole run, not of its rows: "14 shapes, time_us 12.3 us; note".
std::string figures_of(const workloads::Report& report) {
  std::string text;
  for (const auto& metric : report.metrics()) {
    const auto point = metric.name.find('.');
    if (metric.name.find('.', point + 1) != std::string::npos) continue;
    const auto name = metric.name.substr(point + 1);
    text += text.empty() ? "" : ", ";
    text += metric.unit.empty() ? metric.value.text() + " " + name
                                : name + " " + metric.value.text() + " " + metric.unit;
  }
  for (const auto& note : report.notes()) text += (text.empty() ? "" : "; ") + note;
  return text;
}

Result<std::string> run_step(platform::Platform& platform, const Request& request, const Step& step,
                             workloads::Progress progress) {
  const auto workload = workloads::card_workloads().find(step.workload);
  if (!workload) return forward_error(workload);
  workloads::ParameterSet parameters((*workload)->parameters);
  std::vector<std::string> settings;
  for (const auto& spec : parameters.specs()) {
    if (spec.name == "ring") settings.push_back("ring=" + request.ring);
    if (spec.name == "largest") settings.push_back(fmt::format("largest={}", request.max_bytes));
  }
  settings.insert(settings.end(), step.settings.begin(), step.settings.end());
  for (const auto& setting : settings) {
    if (auto set = parameters.assign(setting); !set) return forward_error(set);
  }
  workloads::BareMachine machine;
  workloads::Report report;
  workloads::Context context{platform, parameters,         1, report, machine,
                             machine,  std::move(progress)};
  context.function = request.bdf;
  context.patience = request.patience;
  if (auto ok = (*workload)->run(context); !ok) return forward_error(ok);
  return figures_of(report);
}

Result<platform::Bdf> first_card(platform::Platform& platform) {
  const auto found = driver::scan(platform);
  if (!found) return forward_error(found);
  if (!found->cards.empty()) return found->cards.front().bdf();
  auto none = fmt::format("no card among {} functions", found->functions.size());
  for (const auto& refusal : found->refused) {
    none += fmt::format("; {} refused: {}", to_string(refusal.bdf), refusal.error.message());
  }
  return fail(ErrorCode::kNotFound, none);
}

// Every workload opens the card itself. Here it is found out once which one, and whether it opens.
Result<platform::Bdf> try_open(platform::Platform& platform, const Request& request) {
  const auto bdf = request.bdf ? *request.bdf : first_card(platform);
  if (!bdf) return bdf;
  driver::DeviceOptions options;
  options.ready_timeout = request.patience;
  const auto device = driver::Device::open(platform, *bdf, options);
  return device ? bdf : forward_error(device);
}

bool is_wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Status check_steps(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto is_it = [&name](const Step& step) {
      return step.name == name && step.until.empty();
    };
    if (std::any_of(steps().begin(), steps().end(), is_it)) continue;
    return fail(ErrorCode::kInvalidArgument, "no step '" + name + "'; --list shows them");
  }
  return {};
}

bool run_steps(platform::Platform& platform, Request request, const Print& print) {
  unsigned ok = 0, failed = 0;
  const auto report = [&](const std::string& name, const Result<std::string>& figures) {
    ++(figures ? ok : failed);
    print(figures ? fmt::format("ok {}: {}", name, *figures)
                  : fmt::format("FAILED {}: {}", name, figures.error().message()));
  };
  bool is_open = false;
  for (const auto& step : steps()) {
    const bool is_last = !step.until.empty();
    if (is_last ? request.ending != step.name : !is_wanted(request.steps, step.name)) continue;
    if (step.needs_card && !is_open) {
      const auto bdf = try_open(platform, request);
      if (!bdf) {
        report("open", forward_error(bdf));
        break;
      }
      request.bdf = *bdf;
      is_open = true;
    }
    // From then on the card may be lost; while it is opened it may not.
    const auto working = [&](std::string_view, std::uint64_t done, std::uint64_t) {
      if (is_last && done == 0) print("working until the card " + step.until);
    };
    report(step.name, run_step(platform, request, step, working));
  }
  print(fmt::format("{} steps: {} ok, {} failed", ok + failed, ok, failed));
  return failed == 0;
}

}  // namespace npu::demo
