// SPDX-License-Identifier: Apache-2.0
// Whether anything of a program still goes on by itself. A program is quiet if each of its threads
// has called npusim or sleeps in the kernel for something that only others can give it; it stays
// quiet until npusim answers a call, a program that is not quiet acts on it, or something from
// outside does.
#pragma once

#include <functional>

#include "exec/client.hpp"

namespace npu::exec {

// What can be said without asking the kernel; false: is_quiet() is to be asked.
bool is_surely_quiet(const ClientProcess& process);

// Asks the kernel. True for the second of two looks between which no thread has run; also for a
// process that is stopped, which is stalled then. Its children count as threads of its, but for
// those of which `is_known` says that they are asked about for themselves.
bool is_quiet(ClientProcess& process, const std::function<bool(pid_t)>& is_known);

}  // namespace npu::exec
