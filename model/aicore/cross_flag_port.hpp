// SPDX-License-Identifier: Apache-2.0
// One core's side of the flags between cores: which member of its call it is, and its scalar
// unit's wait for others.
#pragma once

#include <optional>

#include "model/aicore/core_thread.hpp"
#include "model/aicore/program_services.hpp"

namespace npu::model {

class CrossFlagPort {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The other cores of the launch may have been waiting for the flag.
    virtual void cross_flag_raised(std::uint64_t context) = 0;
  };

  CrossFlagPort(ProgramServices& services, unsigned number, const CallStack& calls,
                CoreThread& thread, Listener& listener)
      : services_(services), number_(number), calls_(calls), thread_(thread), listener_(listener) {}

  // Of the innermost call.
  CrossFlags::Member member(platform::CrossScope scope) const;
  // A fault of the program if there is no such flag, or if it could never be raised by all.
  void check(platform::CrossScope scope, unsigned flag);
  // Others see it `cross_flag` after `when`.
  void raise(platform::CrossScope scope, unsigned flag, SimTime when);
  // When the next wait for the flag ends, which lowers it; nothing if that is not known.
  std::optional<SimTime> lower(platform::CrossScope scope, unsigned flag) {
    return services_.cross_flags.lower(member(scope), flag);
  }
  // The scalar unit waits until lower() knows.
  void await(platform::CrossScope scope, unsigned flag);
  // Another core has raised one.
  void others_raised() {
    if (thread_.waits_on(raised_)) thread_.wake_up();
  }
  // The innermost call ends.
  void leave_call();

 private:
  // Whoever raises the flag says so.
  struct Raised final : CoreThread::Condition {
    bool satisfied() const override { return false; }
  };

  ProgramServices& services_;
  const unsigned number_;
  const CallStack& calls_;
  CoreThread& thread_;
  Listener& listener_;
  const Raised raised_{};
};

}  // namespace npu::model
