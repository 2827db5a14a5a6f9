// SPDX-License-Identifier: Apache-2.0
// Where a sweep keeps what it has found out: points/ with a folder per point, sweep.csv, sweep.json
// and sweep.html.
#pragma once

#include <string>

#include "npu/base/result.hpp"

namespace npu::sweep {

class ResultsDirectory {
 public:
  // The directory is made if it is not there. kInvalidArgument: it is something else, or full of
  // something else; errors as code_of_errno().
  static Result<ResultsDirectory> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Replaces a file of it as a whole. kIo, kInvalidArgument
  Status write(const std::string& name, const std::string& text) const;

 private:
  explicit ResultsDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace npu::sweep
