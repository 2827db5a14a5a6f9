// SPDX-License-Identifier: Apache-2.0
// gdb's remote serial protocol for the programs of a machine's cores. While gdb looks, all stands
// still and simulated time does not pass; it lets all go on, or one core make a step.
//
// One per process, on the thread that runs the machine: programs stop at instructions that trap, in
// a handler of SIGTRAP.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "npu/base/result.hpp"

namespace npu::model {
class System;
}

namespace npu::gdb {

class Debugger {
 public:
  // `folder`: for the programs' objects, which gdb opens there. `raised` is set where the machine
  // is to call look() soon. `given_up` is asked while gdb is waited for.
  struct Surroundings {
    std::string folder;
    std::atomic<bool>& raised;
    bool (*given_up)();
  };
  // `where`: Connection::listen(), with its errors.
  static Result<std::unique_ptr<Debugger>> listen(const std::string& where,
                                                  const Surroundings& surroundings);
  // gdb is at these, which are closed at the end.
  static std::unique_ptr<Debugger> at(int in, int out, const Surroundings& surroundings);
  ~Debugger();
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;

  // "127.0.0.1:2331"; empty: it does not listen.
  const std::string& address() const;
  // Before the machine runs: until gdb has come and lets it go on.
  void attach(model::System& system);
  // Between two events.
  void look();
  // The machine has come to its end.
  void detach();
  // gdb hears how the process will end.
  void ended(int exit_code);

 private:
  class Owned;
  explicit Debugger(std::unique_ptr<Owned> owned);

  std::unique_ptr<Owned> owned_;
};

}  // namespace npu::gdb
