// SPDX-License-Identifier: Apache-2.0
// The run of a program, which is anybody's code, on a core's process, and the calls it makes of
// the core's port.
//
// A core that is stopped, reset or at fault is taken from its program: the port throws Ended
// through it. Programs are not written for that. Their destructors call the port, while the stack
// unwinds or as the last thing a scope does; they catch everything and go on. So, once a run is
// over, calls that tell the program nothing return at once, calls that have an answer throw, and
// while the stack unwinds nothing does. A program that still goes on calling, or lets the exception
// run into a noexcept function, is left where it is: its stack is dropped.
#pragma once

#include <array>
#include <csetjmp>
#include <cstdint>
#include <exception>
#include <systemc>
#include <utility>

#include "model/core/process_state.hpp"

namespace npu::model {

class ProgramRun {
 public:
  ProgramRun() = default;
  ~ProgramRun() { finish(); }
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  struct Ended {};  // by the core; through the program
  enum class Outcome : std::uint8_t { kReturned, kEnded, kThrew };

  // Which one it is, for messages.
  struct Identity {
    const char* core = "";  // "AI Core"
    unsigned number = 0;    // of the core
    unsigned block = 0, blocks = 0;
    std::array<char, 17> name{};  // ends with a zero; empty: not known
  };

  // Calls `body`, which runs the program by call_program(). Exceptions of its own are kThrew, as is
  // a call of std::terminate().
  template <class Body>
  Outcome run(Body&& body);

  // One call of the port: of the first kind nothing comes back.
  template <class Call>
  void act(Call&& call);
  template <class Call>
  auto ask(Call&& call) -> decltype(call());
  // Never comes back.
  template <class Call>
  [[noreturn]] void end(Call&& call);

  // The program, or one that is called by a call of the port. `counter` counts what it executes
  // (LoadedProgram::executed).
  template <class Program>
  auto call_program(const std::uint64_t* counter, Program&& program);
  // Instructions that programs have executed since the last call of this.
  std::uint64_t take_executed() { return std::exchange(executed_, 0); }

  // Unwinds nothing. Only while the program runs.
  [[noreturn]] void leave();

  bool over() const { return over_; }
  bool in_program() const { return calls_ % 2 == 0; }  // else in the port
  std::uint64_t calls() const { return calls_; }
  // Just below where it began: what it has used of its stack, and what it has not got.
  bool on_stack(std::uintptr_t address) const;
  const Identity& identity() const { return identity_; }
  void identify(const Identity& identity) { identity_ = identity; }
  // For debuggers; it outlives this.
  void runs_on(DebuggedCore& core) { core_ = &core; }
  DebuggedCore* core() const { return core_; }  // null: not known

  // Calls of each kind after the end that a program is allowed; then it is left.
  static constexpr unsigned kTimeout = 1'000;

 private:
  // Counts how often the border between program and port was crossed.
  class Crossing {
   public:
    explicit Crossing(ProgramRun& run) : run_(run) { run_.cross(); }
    ~Crossing() { run_.cross(); }
    Crossing(const Crossing&) = delete;
    Crossing& operator=(const Crossing&) = delete;

   private:
    ProgramRun& run_;
  };

  // The program that goes on counts from here; what others count meanwhile is theirs.
  void cross() {
    ++calls_;
    if (counter_ == nullptr) return;
    if (in_program()) {
      counted_ = *counter_;
    } else {
      executed_ += *counter_ - counted_;
    }
  }
  static constexpr std::uintptr_t kStackNear = std::uintptr_t{1} << 20;

  void begin();
  void finish();
  void refuse(bool has_answer);
  static bool unwinds() { return std::uncaught_exceptions() > 0; }

  std::jmp_buf where_;
  std::uintptr_t base_ = 0;  // of its stack
  Identity identity_;
  DebuggedCore* core_ = nullptr;
  std::uint64_t calls_ = 1;
  const std::uint64_t* counter_ = nullptr;  // of the program that runs or has called the port
  std::uint64_t counted_ = 0;               // by it when it went on
  std::uint64_t executed_ = 0;
  unsigned refused_ = 0;
  bool over_ = false;
  bool begun_ = false;
  Outcome outcome_ = Outcome::kReturned;
};

template <class Body>
ProgramRun::Outcome ProgramRun::run(Body&& body) {
  begin();
  base_ = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (_setjmp(where_) == 0) {
    try {
      body();
    } catch (const Ended&) {
      outcome_ = Outcome::kEnded;
    } catch (const sc_core::sc_unwind_exception&) {
      throw;
    } catch (...) {
      outcome_ = over_ ? Outcome::kEnded : Outcome::kThrew;
    }
  }
  finish();
  return outcome_;
}

template <class Call>
void ProgramRun::act(Call&& call) {
  const Crossing crossing(*this);
  if (over_) return refuse(false);
  try {
    call();
  } catch (const Ended&) {
    over_ = true;
  }
}

template <class Call>
auto ProgramRun::ask(Call&& call) -> decltype(call()) {
  const Crossing crossing(*this);
  if (over_) {
    refuse(true);
    return {};
  }
  try {
    return call();
  } catch (const Ended&) {
    over_ = true;
    if (!unwinds()) throw;
  }
  return {};
}

template <class Call>
void ProgramRun::end(Call&& call) {
  if (!over_) act(std::forward<Call>(call));
  over_ = true;
  if (unwinds()) leave();
  throw Ended{};
}

template <class Program>
auto ProgramRun::call_program(const std::uint64_t* counter, Program&& program) {
  const auto* const caller = std::exchange(counter_, counter);
  const auto result = [&] {
    const Crossing crossing(*this);
    return program();
  }();
  counter_ = caller;
  return result;
}

}  // namespace npu::model
