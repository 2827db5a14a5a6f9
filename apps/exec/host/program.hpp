// SPDX-License-Identifier: Apache-2.0
// A program as a process of its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::exec {

// Starts words[0], looked for as shells do, with standard input, output and errors of ours, and
// `variables` on top of our environment. It ends when this process does, however that comes. kIo:
// no process can be made; kNotFound: no such program, or it cannot be run.
Result<pid_t> start_program(const std::vector<std::string>& words,
                            const std::vector<std::pair<std::string, std::string>>& variables);

// Whose parents end before them are children of this process from now on (Linux' subreaper), or no
// longer.
void adopt_orphans(bool adopt);
// Children of this process that `is_known` does not know: those that have ended are not there any
// more, and true if some have not.
bool has_orphans(const std::function<bool(pid_t)>& is_known);
// Ends all of this process' children, and theirs.
void end_children();

}  // namespace npu::exec
