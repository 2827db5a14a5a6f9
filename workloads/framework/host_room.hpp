// SPDX-License-Identifier: Apache-2.0
// How much more memory the machine under the simulator gives this process: a run that needs more
// is refused before it begins instead of being killed in the middle.
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"

namespace npu::workloads {

struct HostRoom {
  Bytes bytes = 0;
  std::string bound;  // "MemAvailable", "memory limit of the control group", "ulimit -v", ...
};

// The least of free memory, the control group's limit (version 1 and 2) and the limits on address
// space and data. What cannot be found out does not count.
// `root`: of the files that say so, for tests.
HostRoom host_room(const std::string& root = {});

// kInvalidArgument with one line unless `needed` bytes are there. `what` is the parameters that
// call for them: "elements=1073741824".
Status require_host_memory(const std::string& what, Bytes needed);

}  // namespace npu::workloads
