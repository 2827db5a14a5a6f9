// SPDX-License-Identifier: Apache-2.0
// Cores as threads of gdb: those that have run a program, numbered from 2 in the order in which
// they first did. 1 is the host, which gdb sees nothing of.
#pragma once

#include <deque>
#include <string>

#include "machine/gdb/code.hpp"
#include "machine/gdb/registers.hpp"
#include "model/core/program_run.hpp"

namespace npu::gdb {

inline constexpr unsigned kHost = 1;

struct Thread {
  unsigned id = 0;
  model::ProgramRun* run = nullptr;
  bool active = false;      // a program is on it
  bool returned = false;    // that has, for good
  Context left;             // where it has left its code; empty: it has not begun
  Context outside;          // where it returns to, as gdb knows it
  std::uint64_t entry = 0;  // where on its stack its return address lies
};

class Threads {
 public:
  explicit Threads(const Code& code) : code_(code) {}

  Thread& of(model::ProgramRun& run);
  // Null: there is none of that number.
  Thread* find(std::uint64_t id);
  std::deque<Thread>& all() { return threads_; }
  void begins(model::ProgramRun& run);
  void ends(model::ProgramRun& run) { of(run).active = false; }
  // Called below the program: on its stack, or in a handler of a signal that it got.
  void leaves(model::ProgramRun& run);
  // It is outside now. False: nothing is known of that.
  bool returns(model::ProgramRun& run);
  // Where programs return to the model reads as 0, so that backtraces end there.
  void hide(std::uint64_t address, unsigned char* data, std::size_t bytes) const;
  // The core that an instruction belongs to; null: it has no program.
  Thread* find(const model::DeviceMemoryPort* memory, unsigned core);
  // "aiv 7", with the card's number in front if there are several.
  std::string name(const Thread& thread) const;
  // For qXfer:threads:read.
  std::string list() const;
  void add_card(const model::DeviceMemoryPort* memory) { cards_.push_back(memory); }

 private:
  const Code& code_;
  std::deque<Thread> threads_;
  std::vector<const model::DeviceMemoryPort*> cards_;
};

}  // namespace npu::gdb
