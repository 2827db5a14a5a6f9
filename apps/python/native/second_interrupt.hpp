// SPDX-License-Identifier: Apache-2.0
// The second SIGINT of a sender while a call of the simulator does not look at the first one, since
// a kernel loops for ever between two events: it ends the process. Python's handler only leaves a
// note, which nobody reads then. The terminal is one sender, each process another one.
#pragma once

#include <signal.h>

namespace npu::python {

// While it lives, in the interpreter's first thread. Elsewhere, or if SIGINT has no handler of a
// program, it does nothing.
class SecondInterrupt {
 public:
  SecondInterrupt();
  ~SecondInterrupt();
  SecondInterrupt(const SecondInterrupt&) = delete;
  SecondInterrupt& operator=(const SecondInterrupt&) = delete;

  // Python has been asked: the next one is the first again.
  static void looked();

 private:
  bool taken_ = false;
};

}  // namespace npu::python
