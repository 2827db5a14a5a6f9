// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/job_scripts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::sweep {
namespace {

std::string command(const JobPaths& paths) {
  return shell_word(paths.program) + " sweep " + shell_word(paths.sweep) + " --output " +
         shell_word(paths.results);
}

// The file of each task's output as sbatch reads it, where '%' begins a pattern.
std::string output_pattern(const std::string& results) {
  std::string text;
  for (const char c : results) text += c == '%' ? std::string("%%") : std::string(1, c);
  return "\"" + text + "/slurm-%a.log\"";
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string command_lines(const JobPaths& paths, const std::vector<std::size_t>& points) {
  std::string text;
  for (const auto point : points) text += fmt::format("{} --point {}\n", command(paths), point);
  return text;
}

std::string slurm_script(const JobPaths& paths, const std::string& name,
                         const std::vector<std::size_t>& points) {
  const std::size_t tasks = std::min(points.size(), kMostTasks);
  std::string numbers;
  for (const auto point : points) numbers += (numbers.empty() ? "" : " ") + std::to_string(point);
  return fmt::format(R"(#!/bin/sh
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --output={output}
# Runs what is still to run of a sweep. When the array has ended, table and page are made by
#   {command} --collect
cd {folder} || exit 1
points="{numbers}"
failed=0
i=0
for point in $points; do
  if [ $((i % {tasks})) -eq "$SLURM_ARRAY_TASK_ID" ]; then
    {command} --point "$point" || failed=1
  fi
  i=$((i + 1))
done
exit $failed
)",
                     fmt::arg("name", name), fmt::arg("last", tasks - 1), fmt::arg("tasks", tasks),
                     fmt::arg("output", output_pattern(paths.results)),
                     fmt::arg("folder", shell_word(paths.folder)), fmt::arg("numbers", numbers),
                     fmt::arg("command", command(paths)));
}

}  // namespace npu::sweep
