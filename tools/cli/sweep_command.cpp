// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "npu/base/shortened.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/point_runs.hpp"
#include "tools/cli/sweep/folder_lock.hpp"
#include "tools/cli/sweep/job_scripts.hpp"
#include "tools/cli/sweep/planner.hpp"
#include "tools/cli/sweep/results_directory.hpp"
#include "tools/cli/sweep/sweep_reader.hpp"
#include "tools/cli/sweep/sweep_table.hpp"
#include "tools/reports/html/page.hpp"

namespace npu::cli {
namespace {

namespace fs = std::filesystem;
using sweep::FolderLock;
using sweep::PlannedPoint;
using sweep::PointFolder;
using sweep::ResultsDirectory;
using Points = std::vector<PlannedPoint>;

// Where each point's results are kept.
std::string results_path(const Options& options, const sweep::SweepSpec& spec) {
  if (!options.output.empty()) return options.output;
  return (fs::path(spec.file).parent_path() / spec.name).string();
}

std::vector<const PlannedPoint*> still_to_run(const Points& points, const std::string& results) {
  std::vector<const PlannedPoint*> left;
  for (const auto& point : points) {
    if (!PointFolder(results, point.identity).report()) left.push_back(&point);
  }
  return left;
}

// Does not return after a signal.
Outcome run_all_of(const sweep::SweepSpec& spec, const std::vector<const PlannedPoint*>& points,
                   const ResultsDirectory& results, unsigned jobs, sweep::SweepState& state) {
  const auto signal = run_points(spec.name, points, results.path(), jobs, state);
  if (!signal) return tl::unexpected(signal.error());
  if (*signal != 0) end_by(*signal, spec.name, state, "; the same command goes on");
  return {};
}

// Table and page of what is there.
Outcome collect(const sweep::SweepSpec& spec, const std::vector<sweep::Axis>& axes,
                const Points& points, const ResultsDirectory& results) {
  sweep::SweepTable table(spec, NPU_VERSION, axes);
  std::size_t done = 0, failed = 0;
  std::string first;
  for (const auto& point : points) {
    const PointFolder folder(results.path(), point.identity);
    const auto report = folder.report();
    const auto failure = report ? std::nullopt : folder.failure();
    table.add(point, report, failure);
    done += report ? 1 : 0;
    failed += failure ? 1 : 0;
    if (failure && failed == 1) {
      first = fmt::format("point {} ({}), exit code {}: {}", point.number, point.label,
                          failure->exit_code, failure->line);
    }
  }
  const std::string json = table.json();
  for (const auto& [name, text] : {std::pair{"sweep.csv", table.csv()},
                                   {"sweep.json", json},
                                   {"sweep.html", reports::sweep_page(json)}}) {
    if (auto ok = results.write(name, text); !ok) return give_up(ok.error());
  }
  const std::size_t missing = points.size() - done - failed;
  if (auto ok = print(fmt::format(
          "{}: {} of {} points done{}\n{}: sweep.csv, sweep.json, sweep.html\n", spec.name, done,
          points.size(), missing > 0 ? fmt::format(", {} not run", missing) : "", results.path()));
      !ok) {
    return ok;
  }
  if (failed > 0) {
    return failure(fmt::format("{}: {} of {} points failed, first {}", spec.name, failed,
                               points.size(), first));
  }
  if (missing > 0) {
    return failure(
        fmt::format("{}: {} of {} points have not been run", spec.name, missing, points.size()));
  }
  if (const auto mistake = table.mistake()) return bad_input(mistake->message());
  return {};
}

Outcome run_all(const Options& options, const sweep::SweepSpec& spec,
                const std::vector<sweep::Axis>& axes, const Points& points,
                const ResultsDirectory& results) {
  const auto jobs = jobs_of(options.sweep.jobs);
  if (!jobs) return tl::unexpected(jobs.error());
  const auto lock = FolderLock::take(results.path(), FolderLock::Kind::kAlone);
  if (!lock) return give_up(lock.error());
  const auto left = still_to_run(points, results.path());
  sweep::SweepState state;
  state.total = points.size();
  state.before = points.size() - left.size();
  auto ran = run_all_of(spec, left, results, *jobs, state);
  if (!ran) return ran;
  return collect(spec, axes, points, results);
}

// One point, as a job of an engine's: others may run at the same time.
Outcome run_one(const Options& options, const sweep::SweepSpec& spec, sweep::Planner& planner,
                const ResultsDirectory& results) {
  const sweep::Grid grid(spec);
  const auto number = number_of("--point", options.sweep.point, 0, grid.size() - 1);
  if (!number) return tl::unexpected(number.error());
  const auto point = planner.plan(grid.point(*number));
  if (!point) return tl::unexpected(point.error());
  const auto shared = FolderLock::take(results.path(), FolderLock::Kind::kShared);
  if (!shared) return give_up(shared.error());
  const PointFolder folder(results.path(), point->identity);
  if (auto made = folder.make(); !made) return give_up(made.error());
  const auto alone = FolderLock::take(folder.path(), FolderLock::Kind::kAlone);
  if (!alone) return give_up(alone.error());
  if (folder.report()) return {};
  sweep::SweepState state;
  state.total = 1;
  if (auto ran = run_all_of(spec, {&*point}, results, 1, state); !ran) return ran;
  const auto failed = folder.failure();
  if (!failed) return {};
  return failure(fmt::format("{}: point {} ({}) failed, exit code {}: {}", spec.name, point->number,
                             point->label, failed->exit_code, failed->line));
}

tl::expected<sweep::JobPaths, Failure> job_paths(const sweep::SweepSpec& spec,
                                                 const ResultsDirectory& results) {
  std::error_code code;
  sweep::JobPaths paths;
  paths.program = fs::read_symlink("/proc/self/exe", code).string();
  if (!code) paths.sweep = fs::absolute(spec.file, code).lexically_normal().string();
  if (!code) paths.results = fs::absolute(results.path(), code).lexically_normal().string();
  if (!code) paths.folder = fs::current_path(code).string();
  if (code) return failure("no absolute path: " + code.message());
  for (const auto* path : {&paths.program, &paths.sweep, &paths.results, &paths.folder}) {
    if (path->find_first_of("\n\"\\") == std::string::npos) continue;
    return bad_input(shortened(*path, kShownPath) +
                     ": a path in a job has no line break, '\"' or '\\'");
  }
  return paths;
}

// What is still to run, for an engine.
Outcome print_jobs(const Options& options, const sweep::SweepSpec& spec, const Points& points,
                   const ResultsDirectory& results) {
  const auto paths = job_paths(spec, results);
  if (!paths) return tl::unexpected(paths.error());
  std::vector<std::size_t> numbers;
  for (const auto* point : still_to_run(points, results.path())) numbers.push_back(point->number);
  if (numbers.empty()) {
    std::fputs((spec.name + ": every point is done; --collect makes the table\n").c_str(), stderr);
    return {};
  }
  return print(options.sweep.slurm ? sweep::slurm_script(*paths, spec.name, numbers)
                                   : sweep::command_lines(*paths, numbers));
}

Outcome check_options(const Options& options) {
  if (options.arguments.empty() || options.arguments[0].empty()) {
    return bad_input("sweep: give a file; see npusim sweep --help");
  }
  if (auto ok = expect_at_most(1, "sweep", options.arguments); !ok) return ok;
  const int modes = (options.sweep.point.empty() ? 0 : 1) + (options.sweep.print_commands ? 1 : 0) +
                    (options.sweep.slurm ? 1 : 0) + (options.sweep.collect ? 1 : 0);
  if (modes > 1) {
    return bad_input("sweep: only one of --point, --print-commands, --slurm and --collect");
  }
  if (modes == 1 && !options.sweep.jobs.empty()) {
    return bad_input("sweep: --jobs is of a sweep that runs all points itself");
  }
  return {};
}

}  // namespace

Outcome sweep_command(const Options& options) {
  if (auto ok = check_options(options); !ok) return ok;
  const auto spec = sweep::read_sweep_file(options.arguments[0]);
  if (!spec) return bad_input(spec.error().message());
  auto planner = sweep::Planner::make(*spec);
  if (!planner) return tl::unexpected(planner.error());
  const std::string path = results_path(options, *spec);
  const auto open_results = [&]() -> tl::expected<ResultsDirectory, Failure> {
    auto results = ResultsDirectory::open(path);
    if (!results) return give_up(results.error());
    return std::move(*results);
  };
  if (!options.sweep.point.empty()) {
    const auto results = open_results();
    return results ? run_one(options, *spec, *planner, *results) : tl::unexpected(results.error());
  }
  const auto points = planner->plan_all();
  if (!points) return tl::unexpected(points.error());
  const auto results = open_results();
  if (!results) return tl::unexpected(results.error());
  if (options.sweep.print_commands || options.sweep.slurm) {
    return print_jobs(options, *spec, *points, *results);
  }
  if (options.sweep.collect) return collect(*spec, planner->axes(), *points, *results);
  return run_all(options, *spec, planner->axes(), *points, *results);
}

}  // namespace npu::cli
