// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exec_races.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "machine/card_work.hpp"

namespace npu::cli {

// What is kept of a run.
struct ExecRaces::Cards {
  exec::races::Detector detector{
      [](const std::string& line) { std::fputs(("npusim: " + line + "\n").c_str(), stderr); }};
  sim::CardWork work{detector};
};

ExecRaces::ExecRaces(const std::string& mode)
    : mode_(mode), cards_(mode.empty() ? nullptr : std::make_unique<Cards>()) {}
ExecRaces::~ExecRaces() = default;

exec::races::Detector* ExecRaces::detector() {
  return cards_ == nullptr ? nullptr : &cards_->detector;
}

void ExecRaces::watch(model::System& system) {
  if (cards_ != nullptr) cards_->work.attach(system);
}

void ExecRaces::add_to(reports::Report& report) const {
  if (cards_ == nullptr) return;
  const auto& detector = cards_->detector;
  report.add_metric("races.found", reports::Number::count(detector.races().count()), "");
  auto& table = report.add_table("races", {"times", "race"});
  for (const auto& row : detector.rows()) {
    table.rows.push_back({std::to_string(row.times), row.text});
  }
}

Outcome ExecRaces::outcome() const {
  if (mode_ != "fail" || cards_->detector.races().count() == 0) return {};
  const auto count = cards_->detector.races().count();
  return failure(fmt::format("exec: {} race{}, the report names {}", count, count == 1 ? "" : "s",
                             count == 1 ? "it" : "them"));
}

}  // namespace npu::cli
