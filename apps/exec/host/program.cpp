// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/host/program.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "apps/exec/host/thread_states.hpp"
#include "npu/base/child_program.hpp"

namespace npu::exec {

Result<pid_t> start_program(const std::vector<std::string>& words,
                            const std::vector<std::pair<std::string, std::string>>& variables) {
  ChildProgram program;
  program.file = words[0];
  program.arguments = words;
  program.environment = environment_with(variables);
  program.ends_with_parent = true;
  const pid_t child = start_child(program);
  if (child >= 0) return child;
  const bool no_process = errno == EAGAIN || errno == ENOMEM;
  return fail(no_process ? ErrorCode::kIo : ErrorCode::kNotFound,
              words[0] + ": " + std::strerror(errno));
}

void adopt_orphans(bool adopt) {
  ::prctl(PR_SET_CHILD_SUBREAPER, adopt ? 1 : 0);
}

bool has_orphans(const std::function<bool(pid_t)>& is_known) {
  bool some = false;
  for (const pid_t child : children_of(::getpid())) {
    if (!is_known(child) && ::waitpid(child, nullptr, WNOHANG) == 0) some = true;
  }
  return some;
}

// Whose parent has gone is a child of this one at the next look.
void end_children() {
  for (auto children = children_of(::getpid()); !children.empty();
       children = children_of(::getpid())) {
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) {
      while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
      }
    }
  }
}

}  // namespace npu::exec
