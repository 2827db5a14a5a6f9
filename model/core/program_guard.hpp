// SPDX-License-Identifier: Apache-2.0
// Programs run as code of this process. One that loops without a call of its port would hang the
// simulator, one that follows a pointer of the host's or of the card's would end it without a word.
// Both end the process with one line on stderr that names core, block and program. The guard
// against hanging looks at the clock on the wall; nothing else comes of that.
#pragma once

namespace npu::model {

class ProgramGuard {
 public:
  static constexpr unsigned kExitCode = 1;
  static constexpr unsigned kTimeout = 60;  // s without a call

  // A program begins on the calling thread, on which all of them run, or ends.
  static void program_begins();
  static void program_ends();
  // For tests. At least 1 s.
  static void set_timeout(unsigned seconds);
};

}  // namespace npu::model
