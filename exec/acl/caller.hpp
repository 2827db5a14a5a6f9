// SPDX-License-Identifier: Apache-2.0
// A thread of a program that has called, and what calls look up for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exec/acl/process.hpp"
#include "exec/host/channel.hpp"

namespace npu::exec::acl {

class Caller {
 public:
  Caller(Process& process, Channel& channel) : process_(process), channel_(channel) {}

  Process& process() { return process_; }
  Channel& channel() { return channel_; }
  platform::Clock& clock() { return process_.machine().platform.clock(); }
  std::uint64_t context() const { return context_; }
  void set_context(std::uint64_t handle) { context_ = handle; }
  std::string& error() { return error_; }  // of the last call that failed

  // Of the thread's context. kNoContext.
  Value<ProcessCard*> card();
  // `handle` 0: the default stream of the thread's context. kNoContext, kInvalidHandle,
  // kStreamContext.
  Value<StreamRecord*> stream(std::uint64_t handle);
  Value<EventRecord*> event(std::uint64_t handle);
  // The card on which the range is the program's memory. kRuntimeParameter.
  Value<ProcessCard*> card_of(driver::DeviceAddress address, Bytes size);

 private:
  Process& process_;
  Channel& channel_;
  std::uint64_t context_ = 0;
  std::string error_;
};

// Serves a call: its words become those of the answer.
using Handler = Outcome (*)(Caller& caller, CallRecord& call);

// Null: nobody serves it here.
Handler handler_of(compat::Call call);

}  // namespace npu::exec::acl
