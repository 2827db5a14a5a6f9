// SPDX-License-Identifier: Apache-2.0
// docs/accuracy/errors.csv: the error of each measurement, by what npusim validate says of it.
// Bands of durations in reports are made of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/system/cli/program.hpp"

namespace npu::accuracy {

inline constexpr const char* kErrorColumns = "sku,operator,bound,id,use,error_percent";

class ErrorTable : public cli::Program {
 protected:
  // Kernels that are compiled on demand are kept for the rows of a test.
  ErrorTable() { ::setenv("NPUSIM_JIT_CACHE_DIR", path("kernels").c_str(), 1); }

  // By id, lines of the rows of these files that run.
  std::map<std::string, std::string> lines_of(const std::vector<std::string>& files);

 private:
  // By id, as rows.csv says.
  static std::map<std::string, std::string> uses();
};

}  // namespace npu::accuracy
