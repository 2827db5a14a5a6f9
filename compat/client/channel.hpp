// SPDX-License-Identifier: Apache-2.0
// A thread's connection to npusim. A thread connects with its first call; npusim is told when it
// ends. A child of fork() has nothing of its parent's and connects anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compat/protocol/calls.hpp"
#include "compat/protocol/wire.hpp"
#include "compat/protocol/work_meter.hpp"

namespace npu::compat {

// What a call says when there is no npusim to serve it: ACL's driver error.
inline constexpr int kNoServer = 507899;
// What is found before npusim is asked.
inline constexpr int kInvalidParameter = 100000;
inline constexpr int kBadAllocation = 200000;
inline constexpr int kNotSupported = 200001;
inline constexpr int kRuntimeParameter = 107000;

class Channel {
 public:
  // Bytes of the call, to be filled in before call() and read after it: kWindow.
  std::byte* window() const { return window_; }
  // Words of the call and of its answer.
  std::uint64_t* words() const { return slot_->words; }
  // Posts the call and returns with its status when it has been answered. `bytes`: of the window.
  int call(Call call, std::size_t bytes = 0);
  // The memory that came with the last answer, mapped; null: none came.
  void* take_memory(std::size_t* size);

  // For the library's own use.
  explicit Channel(int socket, void* memory);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  // The thread ends.
  void end();

 private:
  bool wait_for_answer(std::uint32_t number);

  int socket_;
  Slot* slot_;
  std::byte* window_;
  WorkMeter work_;
  bool lost_ = false;
};

}  // namespace npu::compat
