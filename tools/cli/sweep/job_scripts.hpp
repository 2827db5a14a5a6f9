// SPDX-License-Identifier: Apache-2.0
// A sweep for engines that run jobs: a line per point for GNU parallel, a batch script for Slurm.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace npu::sweep {

// `text` as one word of a shell.
std::string shell_word(const std::string& text);

struct JobPaths {  // all absolute
  std::string program;
  std::string sweep;  // the file
  std::string results;
  std::string folder;  // in which names of configurations are looked up
};

// "PROGRAM sweep FILE --output RESULTS --point NUMBER" for each number, a line each.
std::string command_lines(const JobPaths& paths, const std::vector<std::size_t>& points);

// A script for sbatch: an array with a task per point, or kMostTasks tasks that share them.
inline constexpr std::size_t kMostTasks = 1000;  // Slurm's MaxArraySize is 1001 unless configured
std::string slurm_script(const JobPaths& paths, const std::string& name,
                         const std::vector<std::size_t>& points);

}  // namespace npu::sweep
