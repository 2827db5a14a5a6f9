// SPDX-License-Identifier: Apache-2.0
// Page faults of the program on managed memory, as the signal SIGSEGV. The program may have a
// handler of its own: it gets the faults that are none of ours.
#pragma once

namespace npu::compat {

// From now on. SIGSEGV is blocked nowhere any more.
void catch_page_faults();

}  // namespace npu::compat
