// SPDX-License-Identifier: Apache-2.0
// Cards of the npusim that has started this program, where a library knows how to reach them: the
// shared libnpudsmi does. The simulator itself has the same objects without it.
#pragma once

#include "npu/dsmi/attach.hpp"

namespace npu::dsmi {

// kNotFound: this program does not run under `npusim exec`.
using MachineMaker = Result<Machine> (*)();
// Null: nobody knows. Set while the library is loaded.
MachineMaker& program_machine_maker();
// Around fork(): nobody is attaching meanwhile. What was attached is the parent's, whose threads a
// child does not have.
void hold_session();
void release_session();  // by the parent
void forget_session();   // by the child

}  // namespace npu::dsmi
