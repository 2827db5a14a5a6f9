// SPDX-License-Identifier: Apache-2.0
// The core that runs the kernel: functions of the AscendC interface are not given one.
//
// Cores take turns in calls of their ports, and share this program's variables. So every call of a
// port is one of these functions, which says again behind it whose turn it is.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "npu/aicore/kernel.hpp"

namespace AscendC {
class TPipe;
}

namespace npu::ascendc {

using aicore::AicorePort;
using platform::CrossScope;
using platform::DataType;
using platform::Local;
using platform::LocalBuffer;
using platform::Pipe;

// What ends a kernel: the code of its trap.
enum class Refusal : std::uint16_t {
  kNotModelled = 42432,  // a mode that this interface has no instruction for
  kNoBuffer,             // a queue has no free tensor, or none that was put into it
  kNoEvent,              // all eight flags between two pipes are in use
  kPlace,                // a tensor lies where the instruction cannot reach it
  kTrap,                 // the kernel's own: asm("trap"), Trap()
};

struct KernelState {
  AicorePort* port = nullptr;
  AscendC::TPipe* pipe = nullptr;
  // Flags in use, a bit each, by the pipes that set and wait.
  std::array<std::array<std::uint8_t, platform::kPipes>, platform::kPipes> events{};
  bool mixed = false;        // cube and vector cores together
  bool reads_fresh = false;  // the data cache holds nothing from before this kernel
  // Of printf(): where its arguments are, the core's region once it is known, a region's bytes.
  std::uint64_t print_arguments = 0, print_region = 0, print_bytes = 0;
};

inline KernelState* current = nullptr;

// Calls `function` with the core's port.
template <class Function>
auto on_core(Function function) {
  KernelState* const mine = current;
  struct Return {
    KernelState* state;
    ~Return() { current = state; }
  } const back{mine};
  return function(*mine->port);
}

template <class Instruction>
void issue(const Instruction& instruction) {
  on_core([&](AicorePort& port) { port.issue(instruction); });
}
[[noreturn]] inline void refuse(Refusal why) {
  current->port->trap(static_cast<std::uint16_t>(why));
}
inline void set_flag(Pipe from, Pipe to, unsigned id) {
  on_core([&](AicorePort& port) { port.set_flag(from, to, id); });
}
inline void wait_flag(Pipe from, Pipe to, unsigned id) {
  on_core([&](AicorePort& port) { port.wait_flag(from, to, id); });
}
inline void pipe_barrier(Pipe pipe) {
  on_core([&](AicorePort& port) { port.pipe_barrier(pipe); });
}
inline platform::KernelCall call() {
  return on_core([](AicorePort& port) { return port.call(); });
}
inline abi::CoreType core_type() {
  return on_core([](AicorePort& port) { return port.core_type(); });
}

// A free flag between two pipes, which is taken then.
inline unsigned take_event(Pipe from, Pipe to, bool keep = true) {
  auto& used = current->events[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
  for (unsigned id = 0; id < platform::kFlagIds; ++id) {
    if ((used >> id & 1) != 0) continue;
    if (keep) used = static_cast<std::uint8_t>(used | 1U << id);
    return id;
  }
  refuse(Refusal::kNoEvent);
}
// One for as long as the kernel runs; -1: the first two are for others.
inline int keep_event(Pipe from, Pipe to) {
  auto& used = current->events[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
  for (unsigned id = platform::kFlagIds; id-- > 2;) {
    if ((used >> id & 1) != 0) continue;
    used = static_cast<std::uint8_t>(used | 1U << id);
    return static_cast<int>(id);
  }
  return -1;
}
inline void give_event(Pipe from, Pipe to, unsigned id) {
  auto& used = current->events[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
  used = static_cast<std::uint8_t>(used & ~(1U << id));
}

// Accesses of the scalar unit to global memory. The kernel sees what was written before it began,
// and what it wrote is in memory when it has ended.
inline void make_fresh() {
  if (current->reads_fresh) return;
  current->reads_fresh = true;
  on_core([](AicorePort& port) { port.clean_invalidate_all(); });
}
template <class T>
T load(std::uint64_t address) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  make_fresh();
  const std::uint64_t word =
      on_core([&](AicorePort& port) { return port.load(address, sizeof(T)); });
  T value;
  std::memcpy(static_cast<void*>(&value), &word, sizeof value);
  return value;
}
template <class T>
void store(std::uint64_t address, const T& value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  make_fresh();
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  on_core([&](AicorePort& port) { port.store(address, sizeof(T), word); });
}

}  // namespace npu::ascendc
