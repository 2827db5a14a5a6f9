// SPDX-License-Identifier: Apache-2.0
// What the results directory holds of one point, points/NAME:
//   point.json    what run it is of (RunIdentity::text())
//   report.json   its report: there only if the run ended well, whole, and of that very run
//   report.sha256 its digest, by which a report that was changed or damaged later is found out
//   failure.json  instead of it: exit code and what the run said
//   log           what the run wrote to standard error
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "tools/cli/sweep/run_identity.hpp"

namespace npu::sweep {

struct RunFailure {
  int exit_code = 0;  // 128 + n: ended by signal n
  std::string line;
};

class PointFolder {
 public:
  // `results`: the results directory.
  PointFolder(const std::string& results, RunIdentity identity);

  const std::string& path() const { return path_; }
  const RunIdentity& identity() const { return identity_; }
  std::string running() const { return path_ + "/running.json"; }  // what the run is to write
  std::string log() const { return path_ + "/log"; }

  // The report, if it is there and of this run.
  std::optional<reports::Report> report() const;
  std::optional<RunFailure> failure() const;

  Status make() const;  // the folder itself. kIo, kInvalidArgument
  // Before the run: what is there of earlier ones is gone afterwards. kIo, kInvalidArgument
  Status begin() const;
  // The run ended with exit code 0: its report becomes report.json. kWrongData: it wrote none of
  // this point; kIo
  Status accept() const;
  // The run failed; without a line of its own it is the log's last one. The failure as recorded.
  Result<RunFailure> reject(int exit_code, std::string line) const;
  // The run was stopped: nothing is left of it.
  void abandon() const;
  std::string last_words() const;  // the last line of the log

 private:
  bool is_ours() const;  // point.json says that what is there is of this run
  std::string file(const char* name) const { return path_ + "/" + name; }

  RunIdentity identity_;
  std::string path_;
};

}  // namespace npu::sweep
