// SPDX-License-Identifier: Apache-2.0
// Whether anything of a program still goes on by itself. A program is quiet if each of its threads
// has called npusim or sleeps in the kernel for something that only others can give it; it stays
// quiet until npusim answers a call, a program that is not quiet acts on it, or something from
// outside does.
#pragma once

#include <functional>

#include "apps/exec/client.hpp"
#include "apps/exec/process_list.hpp"

namespace npu::exec {

// Whether it has children, or has had some, whose own may have outlived them: as its calls say.
bool had_children(const ClientProcess& process);

// Whether all are quiet that are waited for: with at most two questions to the kernel about each.
// False: are_quiet() is to be asked.
bool are_quiet_by_count(ProcessList& processes);

// Asks the kernel about every thread. True if none has run between two looks, each at all of the
// processes: one that acts on another and is quiet then is found out.
bool are_quiet(ProcessList& processes);

// Whether a process is quiet by itself; also true for one that is stopped, which is stalled then.
// Its children count as threads of its, but for those of which `is_known` says that they are asked
// about for themselves.
bool is_quiet(ClientProcess& process, const std::function<bool(pid_t)>& is_known);

// The same for children of `parent` that are not known, and theirs.
bool are_quiet(pid_t parent, const std::function<bool(pid_t)>& is_known);

}  // namespace npu::exec
