// SPDX-License-Identifier: Apache-2.0
// Programs that stop and go on: traps, steps, and what the models tell.
//
// A call of the port is one step: it ends where the program goes on, while other cores go on in
// simulated time. gdb takes its breakpoints out for a step; for such a call they come back, because
// others may meet them.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "machine/gdb/session.hpp"
#include "model/core/agenda.hpp"
#include "model/core/memory_watch.hpp"
#include "model/core/program_debugger.hpp"

namespace npu::gdb {

class Server final : public model::ProgramDebugger {
 public:
  // Those of Debugger::Surroundings.
  Server(Connection connection, std::string folder, std::atomic<bool>& raised, bool (*given_up)());
  ~Server() override;

  Connection& connection() { return session_.connection(); }
  void add_card(model::DeviceMemoryPort& memory, model::MemoryWatch& watch);
  void attach();
  void look();
  void detach();
  void ended(int exit_code);

  void loaded(const void* link_map, ConstByteSpan file) override;
  void begins(model::ProgramRun& run) override;
  void ends(model::ProgramRun& run) override;
  void leaves(model::ProgramRun& run) override;
  void moves(const Effect& effect) override { effect_ = effect; }

 private:
  // Hears of a card's writes.
  class Snooper;
  // A step that has not ended.
  struct Step {
    model::ProgramRun* run = nullptr;  // null: none
    bool traps = false;                // at the next instruction; else at the return of a call
    std::uint64_t stack = 0;           // pointer, there
  };

  static void on_trap(int signal, siginfo_t* info, void* context);
  static void on_input(int signal, siginfo_t* info, void* context);
  void trap(bool breakpoint, ucontext_t& at);
  bool met(ucontext_t& at);
  bool stepped(ucontext_t& at);
  void input(ucontext_t& at);
  void written(const model::DeviceMemoryPort& memory, std::uint64_t watched, model::Writer writer);
  // All stands still until gdb lets it go on.
  void stop(const Stop& stop);
  void stop_in_model(const std::string& why, unsigned thread, unsigned signal);
  void go_on(const Action& action, const Stop& stop);
  void pass(ucontext_t& at);
  bool asked();
  unsigned current() const;

  Target target_;
  Session session_;
  const std::string folder_;
  std::atomic<bool>& raised_;
  std::vector<std::unique_ptr<Snooper>> snoopers_;
  Step step_;
  std::uint64_t open_ = 0;  // the breakpoint that is passed just now
  Effect effect_;
  bool attached_ = false, serving_ = false, has_stack_ = false;
  std::array<char, 256> came_{};  // while the machine ran
  volatile std::size_t came_bytes_ = 0;
  std::atomic<bool> wanted_{false}, gone_{false};  // by what came; the connection
};

}  // namespace npu::gdb
