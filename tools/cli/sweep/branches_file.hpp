// SPDX-License-Identifier: Apache-2.0
// The runs that one process makes of a common beginning, as `run --branches` reads them.
#pragma once

#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::sweep {

struct Branch {
  std::vector<std::string> sets;  // "key=value", all that --set says
  std::string report;             // file that it writes
  std::string log;                // file that its standard error goes to
};

// A JSON array with an object for each branch.
std::string branches_text(const std::vector<Branch>& branches);
// kInvalidArgument: not such a text, or no branch.
Result<std::vector<Branch>> parse_branches(const std::string& text);

// The end of a branch, a line on the standard output of the process that they come from.
struct BranchEnd {
  std::size_t number = 0;  // in the file, from 0 on
  int exit_code = 0;       // 128 + n: ended by signal n
};
std::string line_of(const BranchEnd& end);
// Takes whole lines out of `text`; what is no such line is dropped.
std::vector<BranchEnd> take_ends(std::string& text);

}  // namespace npu::sweep
