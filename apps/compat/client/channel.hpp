// SPDX-License-Identifier: Apache-2.0
// A thread's connection to npusim. A thread connects with its first call; npusim is told when it
// ends. A child of fork() has nothing of its parent's and connects anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/compat/protocol/calls.hpp"
#include "apps/compat/protocol/wire.hpp"
#include "apps/compat/protocol/work_meter.hpp"
#include "npu/base/file_descriptor.hpp"

namespace npu::compat {

// What a call says when there is no npusim to serve it: ACL's driver error.
inline constexpr int kNoServer = 507899;
// What is found before npusim is asked.
inline constexpr int kInvalidParameter = 100000;
inline constexpr int kBadAllocation = 200000;
inline constexpr int kNotSupported = 200001;
inline constexpr int kRuntimeParameter = 107000;
// A signal's handler calls in the midst of its thread's own call, which it would overwrite.
inline constexpr int kInCall = 500000;

class Channel {
 public:
  // Bytes of the call, to be filled in before call() and read after it: kWindow.
  std::byte* window() const { return window_; }
  // Of the last answer.
  const Words& words() const { return slot_->words; }
  // Posts a call about `device` (Slot::device) and returns with its status when it has been
  // answered. `bytes`: of the window. kInCall.
  int call(Call call, const Words& words, std::uint64_t device, std::size_t bytes);
  // The memory that came with the last answer, mapped; null: none came.
  void* take_memory(std::size_t* size);
  // The same, not mapped.
  FileDescriptor take_file();
  // Whether the thread is in a call, which a handler of a signal has interrupted.
  bool in_call() const { return is_nested(__builtin_frame_address(0)); }

  // For the library's own use.
  Channel(FileDescriptor socket, void* memory);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  // The thread ends.
  void end();
  // By a child of fork(): it keeps nothing of the connection.
  void leave_to_parent();

 private:
  int call_alone(Call call, const Words& words, std::uint64_t device, std::size_t bytes);
  bool is_nested(const void* frame) const;
  void post(Call call, std::size_t bytes);
  void show_stack();
  bool wait_for_answer(std::uint32_t number);

  FileDescriptor socket_;
  Slot* slot_;
  std::byte* window_;
  WorkMeter work_;
  bool lost_ = false;
  const void* frame_ = nullptr;  // of the call that the thread is in
};

}  // namespace npu::compat
