// SPDX-License-Identifier: Apache-2.0
// A task waits for an interrupt.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "model/host/cpu.hpp"
#include "model/host/interrupts.hpp"
#include "npu/platform/time.hpp"

namespace npu::model {

class VectorWait : public platform::InterruptVector {
 public:
  // `what` it is, in errors.
  VectorWait(HostCpus& cpus, std::shared_ptr<VectorState> state, std::string what)
      : cpus_(cpus), state_(std::move(state)), what_(std::move(what)) {}

  std::uint64_t count() override {
    cpus_.synchronise();
    return state_->count;
  }
  Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) override {
    return wait(seen, deadline, LimitOf::kWait);
  }
  Result<std::uint64_t> daemon_wait_after(std::uint64_t seen, Instant deadline) override {
    return wait(seen, deadline, LimitOf::kLook);
  }
  void wake() override {
    cpus_.synchronise();
    ++state_->count;
    cpus_.notify(state_->arrived);
  }

 private:
  Result<std::uint64_t> wait(std::uint64_t seen, Instant deadline, LimitOf of) {
    cpus_.synchronise();
    const auto came = [&] { return state_->count != seen; };
    if (came()) return state_->count;
    const bool woken = cpus_.block(state_->arrived, deadline_ticks(deadline), came, what_, of);
    if (woken || came()) return state_->count;
    return fail(ErrorCode::kTimeout, "no interrupt on " + what_.substr(what_.find(' ') + 1));
  }

  HostCpus& cpus_;
  std::shared_ptr<VectorState> state_;
  std::string what_;
};

}  // namespace npu::model
