// SPDX-License-Identifier: Apache-2.0
// Whether anything of a program still goes on by itself. A program is quiet if each of its threads
// has called npusim or sleeps in the kernel for something that only others can give it; it stays
// quiet until npusim answers a call, a program that is not quiet acts on it, or something from
// outside does.
#pragma once

#include <functional>

#include "exec/client.hpp"

namespace npu::exec {

// Whether it has children, or has had some, whose own may have outlived them: as its calls say.
bool had_children(const ClientProcess& process);

// What can be said without asking the kernel; false: is_quiet() is to be asked.
bool is_surely_quiet(const ClientProcess& process);

// The same with one question to the kernel: each of its threads, and as many are known as there
// are, waits for an answer, and it has no children.
bool is_quiet_by_count(const ClientProcess& process);

// Asks the kernel. True if no thread has run between two looks; also for a process that is stopped,
// which is stalled then. Its children count as threads of its, but for those of which `is_known`
// says that they are asked about for themselves.
bool is_quiet(ClientProcess& process, const std::function<bool(pid_t)>& is_known);

// The same for children of `parent` that are not known, and theirs.
bool are_quiet(pid_t parent, const std::function<bool(pid_t)>& is_known);

}  // namespace npu::exec
