// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/run.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::demo {
namespace {

struct Totals {
  unsigned ok = 0, failed = 0;
};

bool is_selected(const Selection& selection, const char* name) {
  const auto& names = selection.steps;
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void report(const std::string& name, const Result<std::string>& figures, const Print& print,
            Totals& totals) {
  if (figures) {
    ++totals.ok;
    print(fmt::format("ok {}: {}", name, *figures));
  } else {
    ++totals.failed;
    print(fmt::format("FAILED {}: {}", name, figures.error().message()));
  }
}

// A step that failed may have left anything; the next one gets the card as it is after opening.
bool ready(Session& session, bool fresh, const Print& print, Totals& totals) {
  if (fresh) session.close();
  const auto opened = session.open();
  if (opened) return true;
  report("open", forward_error(opened), print, totals);
  return false;
}

void run_all(Session& session, const Selection& selection, const Print& print, Totals& totals) {
  for (const auto& step : steps()) {
    if (!is_selected(selection, step.name)) continue;
    const auto failed = totals.failed;
    if (step.needs_card && !ready(session, false, print, totals)) return;
    report(step.name, step.run(session), print, totals);
    if (totals.failed > failed) session.close();
  }
  if (selection.ending == Ending::kNone) return;
  if (!ready(session, true, print, totals)) return;
  if (selection.ending == Ending::kRemoved) {
    print("working until the card is removed");
    report("removal", removal(session), print, totals);
  } else {
    print("working until the card has an error");
    report("error", recovery(session), print, totals);
  }
}

}  // namespace

Status check_selection(const Selection& selection) {
  for (const auto& name : selection.steps) {
    const auto is_it = [&name](const Step& step) { return step.name == name; };
    if (std::none_of(steps().begin(), steps().end(), is_it)) {
      return fail(ErrorCode::kInvalidArgument, "no step '" + name + "'; --list shows them");
    }
  }
  return {};
}

bool run_steps(Session& session, const Selection& selection, const Print& print) {
  Totals totals;
  run_all(session, selection, print, totals);
  session.close();
  print(fmt::format("{} steps: {} ok, {} failed", totals.ok + totals.failed, totals.ok,
                    totals.failed));
  return totals.failed == 0;
}

}  // namespace npu::demo
