// SPDX-License-Identifier: Apache-2.0
// A thread of a program that has called, and what calls look up for it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "apps/exec/acl/process.hpp"
#include "apps/exec/host/channel.hpp"

namespace npu::exec::acl {

class Caller {
 public:
  Caller(Process& process, Channel& channel);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  Process& process() { return process_; }
  Channel& channel() { return channel_; }
  // The process' threads in the order in which they have come.
  unsigned number() const { return number_; }
  platform::Clock& clock() { return process_.machine().platform.clock(); }
  std::uint64_t context() const { return context_; }
  void set_context(std::uint64_t handle) { context_ = handle; }
  // The stream whose limits the thread asks for; null: the device's.
  const std::shared_ptr<ProgramStream>& limits_of() const { return limits_of_; }
  void set_limits_of(std::shared_ptr<ProgramStream> stream) { limits_of_ = std::move(stream); }
  // Or until the program has ended.
  void sleep_until(Instant deadline) {
    process_.machine().idle.sleep(*sleeper_, clock().now(), deadline);
  }
  // Which stream the last call of the thread's was about; null: none yet.
  std::shared_ptr<ProgramStream> last_stream() const { return last_stream_.lock(); }
  compat::wire::FaultInfo& fault_told() { return fault_told_; }  // the last one
  // aclmdlRICaptureMode: what it may do while streams are captured.
  std::uint64_t capture_mode() const { return capture_mode_; }
  void set_capture_mode(std::uint64_t mode) { capture_mode_ = mode; }
  std::string& error() { return error_; }  // of the last call that failed

  // Before a call is served: which device it is about (compat::Slot::device).
  void begin(const CallRecord& call) { device_word_ = call.device; }
  // Of the call, for who looks for races.
  const races::CallSite& site() const { return site_; }
  void set_site(const races::CallSite& site) { site_ = site; }
  // That of the call: of the thread's context, if it names none. kNoContext; kInvalidDevice: it is
  // not open.
  Value<ProcessCard*> card();
  // `handle` 0: the default stream of the thread's context. kNoContext, kInvalidHandle,
  // kStreamContext.
  Value<std::shared_ptr<ProgramStream>> stream(std::uint64_t handle);
  Value<std::shared_ptr<ProgramEvent>> event(std::uint64_t handle);
  // The card on which the range is the program's memory. kRuntimeParameter.
  Value<ProcessCard*> card_of(driver::DeviceAddress address, Bytes size);

 private:
  Value<ProcessCard*> named_card();
  Value<std::shared_ptr<ProgramStream>> find_stream(std::uint64_t handle);

  Process& process_;
  Channel& channel_;
  const unsigned number_;
  const std::shared_ptr<Sleeper> sleeper_;
  std::uint64_t context_ = 0;
  std::uint64_t device_word_ = compat::kDeviceOfContext;
  std::shared_ptr<ProgramStream> limits_of_;
  std::weak_ptr<ProgramStream> last_stream_;
  compat::wire::FaultInfo fault_told_;
  std::uint64_t capture_mode_ = 0;
  std::string error_;
  races::CallSite site_;
};

// Serves a call as its row says: its words become those of the answer.
using Handler = Outcome (*)(Caller& caller, CallRecord& call);

// Null: nobody serves it here.
Handler handler_of(compat::Call call);

}  // namespace npu::exec::acl
