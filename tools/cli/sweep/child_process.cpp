// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/child_process.hpp"

#include <fcntl.h>

#include <cerrno>

#include "npu/base/child_program.hpp"
#include "npu/base/errno_text.hpp"
#include "npu/base/file_descriptor.hpp"
#include "npu/base/shortened.hpp"

namespace npu::sweep {

Result<pid_t> start_npusim(const std::vector<std::string>& arguments, const std::string& log,
                           int input, int output) {
  constexpr mode_t kMode = 0666;
  const FileDescriptor errors(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (!errors) {
    return fail(ErrorCode::kIo,
                shortened(log, kShownPath) + ": cannot be written: " + errno_text(errno));
  }
  ChildProgram npusim;
  npusim.file = "/proc/self/exe";  // what runs here, even if another has taken its place meanwhile
  npusim.arguments = {"npusim"};
  npusim.arguments.insert(npusim.arguments.end(), arguments.begin(), arguments.end());
  npusim.environment = environment_with({});
  npusim.standard = {input, output, errors.get()};
  npusim.ends_with_parent = true;
  const pid_t child = start_child(npusim);
  if (child >= 0) return child;
  return fail(ErrorCode::kIo, "a run cannot be started: " + errno_text(errno));
}

}  // namespace npu::sweep
