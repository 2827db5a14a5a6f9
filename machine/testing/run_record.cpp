// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/shortened.hpp"
#include "tools/reports/report_json.hpp"
#include "workloads/simulator/identity.hpp"

namespace npu::testkit {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
constexpr std::size_t kLongestUnit = 16;
constexpr unsigned kMostDecimals = 9;

}  // namespace

Status RunRecord::add(const std::string& name, std::int64_t value, unsigned decimals,
                      const std::string& unit) {
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    return fail(code,
                fmt::format("the metric '{}' ({}) {}", shortened(name), shortened(unit), why));
  };
  if (name.empty() || name.find_first_not_of(kNameCharacters) != std::string::npos) {
    return refuse(ErrorCode::kInvalidArgument,
                  "has a name that is not of letters, digits, . _ - /");
  }
  const bool plain =
      std::all_of(unit.begin(), unit.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (unit.size() > kLongestUnit || !plain) {
    return refuse(ErrorCode::kInvalidArgument, "has a unit of more than 16 characters, or blanks");
  }
  if (decimals > kMostDecimals) return refuse(ErrorCode::kInvalidArgument, "has over 9 decimals");
  const bool known = std::any_of(metrics_.begin(), metrics_.end(),
                                 [&](const reports::Metric& each) { return each.name == name; });
  if (known || name.rfind("test.", 0) == 0) {
    return refuse(ErrorCode::kAlreadyExists, "is there already; 'test.' is the report's own");
  }
  metrics_.push_back({name, reports::Number::scaled(value, decimals), unit});
  return {};
}

std::string RunRecord::report(const std::string& name, const std::string& outcome,
                              const std::vector<Leak>& leaks) const {
  auto report = workloads::begin_report(name, simulator_.config_name, simulator_.system.config(),
                                        simulator_.overrides);
  report.outcome = outcome;
  workloads::add_machine(report, simulator_.view);
  for (const auto& each : metrics_) report.add_metric(each.name, each.value, each.unit);
  std::uint64_t objects = 0;
  Bytes bytes = 0;
  for (const auto& leak : leaks) {
    objects += leak.count;
    bytes += leak.size;
  }
  using reports::Number;
  report.add_metric("test.simulated_us", Number::microseconds(report.simulated), "us");
  report.add_metric("test.never_freed.objects", Number::count(objects), "");
  report.add_metric("test.never_freed.bytes", Number::count(bytes), "B");
  if (objects > 0) report.add_note(describe(leaks));
  return reports::to_json(report);
}

}  // namespace npu::testkit
