// SPDX-License-Identifier: Apache-2.0
// npusim validate: published measurements of kernels beside what npusim predicts for them.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "npu/base/shortened.hpp"
#include "npu/base/temporary_folder.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/identity.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/point_runs.hpp"
#include "tools/cli/sweep/folder_lock.hpp"
#include "tools/cli/sweep/planner.hpp"
#include "tools/cli/sweep/point_folder.hpp"
#include "tools/cli/sweep/results_directory.hpp"
#include "tools/cli/validate/validation.hpp"
#include "tools/reports/digest.hpp"
#include "tools/reports/trust/kind.hpp"

namespace npu::cli {
namespace {

using sweep::PlannedPoint;
using sweep::PointFolder;
using validate::Measurement;

// A row that can be run, and the run.
struct Wanted {
  const Measurement* row;
  validate::Operation operation;
  PlannedPoint point;
  std::optional<PlannedPoint> reference = {};  // the run whose time is divided
};

// The checks of `run`; the error is its line.
tl::expected<PlannedPoint, std::string> plan(
    const Measurement& row, const validate::Operation& operation,
    const std::vector<std::pair<std::string, std::string>>& wanted,
    const std::vector<std::string>& assignments) {
  const auto placed = [&](const std::string& text) {
    return sweep::PlacedText{text, {row.file, row.line, 0}};
  };
  sweep::SweepSpec spec;
  spec.file = row.file;
  spec.name = "validate";
  spec.workload = placed(operation.workload);
  spec.configurations = {placed(operation.configuration)};
  spec.seeds = {placed("1")};
  auto& settings = spec.list.emplace_back();
  for (const auto& [key, value] : wanted) {
    settings.push_back({placed(key), placed(value)});
  }
  for (const auto& assignment : assignments) {
    const auto equals = assignment.find('=');
    settings.push_back(
        {placed(assignment.substr(0, equals)), placed(assignment.substr(equals + 1))});
  }
  auto planner = sweep::Planner::make(spec);
  if (!planner) return tl::unexpected(planner.error().text);
  auto points = planner->plan_all();
  if (!points) return tl::unexpected(points.error().text);
  points->front().label = row.id;
  return std::move(points->front());
}

class Command {
 public:
  Command(const Options& options, std::vector<Measurement> rows)
      : options_(options), rows_(std::move(rows)) {}

  // The error: what --set asks for cannot be.
  Outcome plan_rows() {
    for (const auto& row : rows_) {
      auto operation = validate::operation_of(row);
      if (!operation) {
        validation_.skip(row, operation.error());
        continue;
      }
      auto point = plan(row, *operation, operation->settings, options_.sets);
      if (!point) {
        if (!options_.sets.empty() && plan(row, *operation, operation->settings, {})) {
          const auto place = fmt::format("{}:{}:0: ", row.file, row.line);
          return bad_input("--set: " + point.error().substr(place.size()));
        }
        validation_.skip(row, point.error());
        continue;
      }
      auto& wanted = wanted_.emplace_back(Wanted{&row, std::move(*operation), std::move(*point)});
      if (wanted.operation.reference.empty()) continue;
      auto reference = plan(row, wanted.operation, wanted.operation.reference, options_.sets);
      if (reference) {
        wanted.reference = std::move(*reference);
        continue;
      }
      validation_.skip(row, reference.error());
      wanted_.pop_back();
    }
    return {};
  }

  // Does not return after a signal.
  Outcome run(const std::string& results, std::optional<TemporaryFolder>& scratch) {
    const auto jobs = jobs_of(options_.sweep.jobs);
    if (!jobs) return tl::unexpected(jobs.error());
    std::map<std::string, const PlannedPoint*> runs;  // rows may ask for the same one
    sweep::SweepState state;
    std::vector<const PlannedPoint*> left;
    const auto add = [&](PlannedPoint& point) {
      if (!runs.emplace(point.identity.name(), &point).second) return;
      point.number = ++state.total;
      const bool done = PointFolder(results, point.identity).report().has_value();
      if (done) ++state.before;
      if (!done) left.push_back(&point);
    };
    for (auto& each : wanted_) {
      add(each.point);
      if (each.reference) add(*each.reference);
    }
    const auto signal = run_points("validate", left, results, *jobs, state);
    if (!signal) return tl::unexpected(signal.error());
    if (*signal != 0) {
      scratch.reset();
      end_by(*signal, "validate", state, "");
    }
    return {};
  }

  void collect(const std::string& results) {
    for (const auto& each : wanted_) {
      const auto run = took(results, each.point, each);
      const auto other = each.reference ? took(results, *each.reference, each)
                                        : tl::expected<Taken, std::string>(Taken{});
      if (run && other) {
        const double value = predicted(*each.row, each.operation, run->figure, other->figure);
        validation_.add({each.row, each.operation, value, run->bound});
        continue;
      }
      validation_.skip(*each.row, run ? other.error() : run.error());
      ++failed_;
    }
  }

  reports::Report report() const {
    reports::Report report;
    report.version = NPU_VERSION;
    report.workload = "validate";
    report.config = "of each row";
    report.config_sha256 = reports::sha256_text(digests_);
    report.seed = 1;
    report.simulated = simulated_;
    reports::NamedValue files{"files", options_.arguments, true, true};
    report.parameters.push_back(std::move(files));
    if (!options_.sets.empty()) {
      report.parameters.push_back({"set", options_.sets, true, true});
    }
    validation_.report(report);
    report.add_note(
        "predicted: from the dispatch of a kernel's first block to the report of its last; of wall "
        "times from the driver's submission until the host has seen the completion");
    return report;
  }
  std::size_t failed() const { return failed_; }

 private:
  struct Taken {
    double figure = 0;  // microseconds, or of the metric's unit; above 0
    std::string bound = {};
  };
  tl::expected<Taken, std::string> took(const std::string& results, const PlannedPoint& point,
                                        const Wanted& each) {
    const PointFolder folder(results, point.identity);
    const auto report = folder.report();
    auto terms = each.operation.terms;
    if (terms.empty()) terms.emplace_back(each.operation.metric, 1);
    double figure = 0;
    for (const auto& [name, factor] : terms) {
      const auto* const metric = report ? report->find(name) : nullptr;
      if (metric == nullptr) {
        const auto failed = folder.failure();
        return tl::unexpected<std::string>(failed ? failed->line : "the run has no such figure");
      }
      figure += factor * std::stod(metric->value.text());
    }
    simulated_ += report->simulated;
    digests_ += report->config_sha256;
    if (!(figure > 0)) return tl::unexpected<std::string>("its run took no time");
    const auto& first = terms.front().first;
    return Taken{figure, reports::bound_of(report->limits(), first.substr(0, first.rfind('.')))};
  }

  const Options& options_;
  const std::vector<Measurement> rows_;
  std::vector<Wanted> wanted_;
  validate::Validation validation_;
  std::size_t failed_ = 0;
  Picoseconds simulated_;
  std::string digests_;
};

tl::expected<std::vector<Measurement>, Failure> load_all(const std::vector<std::string>& files) {
  std::vector<Measurement> rows;
  for (const auto& file : files) {
    auto some = validate::load_measurements(file);
    if (!some) return bad_input(some.error().context);
    for (auto& row : *some) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Outcome validate_command(const Options& options) {
  if (options.arguments.empty()) return bad_input("validate: give a file of measurements");
  for (const auto& [option, path] :
       {std::pair{"--report", options.report}, {"--html", options.html}}) {
    if (auto other = check_not_read(option, path, options.arguments); !other) return other;
  }
  auto rows = load_all(options.arguments);
  if (!rows) return tl::unexpected(rows.error());
  auto file = OptionFile::open("--report", options.report);
  if (!file) return tl::unexpected(file.error());
  auto page = OptionFile::open("--html", options.html);
  if (!page) return tl::unexpected(page.error());
  std::optional<TemporaryFolder> scratch;
  std::string results = options.output;
  if (results.empty()) {
    auto made = TemporaryFolder::make();
    if (!made) return give_up(made.error());
    scratch.emplace(std::move(*made));
    results = scratch->path() + "/results";
  }
  const auto folder = sweep::ResultsDirectory::open(results);
  if (!folder) return give_up(folder.error());
  const auto lock = sweep::FolderLock::take(folder->path(), sweep::FolderLock::Kind::kAlone);
  if (!lock) return give_up(lock.error());
  Command command(options, std::move(*rows));
  if (auto planned = command.plan_rows(); !planned) return planned;
  if (auto ran = command.run(folder->path(), scratch); !ran) return ran;
  command.collect(folder->path());
  if (auto said = publish(*file, *page, command.report()); !said) return said;
  if (command.failed() == 0) return {};
  return failure(
      fmt::format("validate: {} rows could not be run, the table names them", command.failed()));
}

}  // namespace npu::cli
