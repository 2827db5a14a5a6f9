// SPDX-License-Identifier: Apache-2.0
// Runs npusim with a timeline, and the script on what it has written.
#pragma once

#include <string>
#include <vector>

#include "tests/support/folders.hpp"
#include "tests/system/cli/program.hpp"

namespace npu::cli {

class TracedRun : public Program {
 protected:
  static std::string script() { return source_dir() + "/tests/system/timeline/rebuild"; }

  // A workload on a machine; `more` are further arguments.
  void run(const std::string& config, const std::string& workload,
           const std::vector<std::string>& parameters, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"--config", config, "run", workload};
    for (const auto& parameter : parameters) {
      arguments.insert(arguments.end(), {"--set", parameter});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    good(npusim(arguments));
  }
  void expect_rebuilt(const std::string& trace, const std::string& report) const {
    good(shell("'" + script() + "' " + trace + " " + report));
  }
  void expect_well_formed(const std::string& trace) const {
    good(shell("'" + script() + "' --part " + trace));
  }
};

}  // namespace npu::cli
