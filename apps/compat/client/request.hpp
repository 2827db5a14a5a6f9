// SPDX-License-Identifier: Apache-2.0
// A function of the C API as a call of npusim.
#pragma once

#include <cstdint>
#include <type_traits>

#include "apps/compat/client/channel.hpp"
#include "apps/compat/client/connect.hpp"

namespace npu::compat {

inline std::uint64_t word(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
inline void* pointer(std::uint64_t word) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(word));
}

// Which device the thread's calls are about (Slot::device), for as long as this lives: the HAL
// names it with each call.
class OnDevice {
 public:
  explicit OnDevice(std::uint32_t device) : before_(place()) {
    place() = std::uint64_t{device} + 1;
  }
  // Whichever the addresses are on.
  OnDevice() : before_(place()) { place() = kAnyDevice; }
  ~OnDevice() { place() = before_; }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  // One of the thread's for all libraries on the client.
  static std::uint64_t& place();

 private:
  const std::uint64_t before_;
};

// Of the thread's last call that npusim has refused; 0: none since it was set to 0.
int& last_error();
// The function whose parameters a library has refused by itself; null: npusim has refused a call of
// the thread's since, or there is none.
const char*& refused_call();

// While another thread has locked the process (aclrtSnapShotProcessLock()) the thread waits here.
void wait_for_process_lock();
// False: it is locked, or, to unlock, it is not.
bool lock_process(bool locks);
// Whether the calls are those of the program, and not what its pointers, sleeps and work in flight
// need.
constexpr bool may_be_held(Call call) {
  switch (call) {
    case Call::kSleep:
    case Call::kManagedTouch:
    case Call::kManagedHome:
    case Call::kHostAccess:
    case Call::kSetCurrentContext:
    case Call::kValueLook:
    case Call::kModelLook:
    case Call::kProcessReport:
    case Call::kCallbackDone:
      return false;
    default:
      return true;
  }
}

// A call; `bytes` are in the thread's window already. The status; `answer` is given if it is 0.
template <Call kCall>
int ask(const Request<kCall>& request = {}, Answer<kCall>* answer = nullptr,
        std::size_t bytes = 0) {
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return kNoServer;
  if constexpr (may_be_held(kCall)) wait_for_process_lock();
  const int status = channel->call(kCall, words_of(request), OnDevice::place(), bytes);
  if (status != 0) {
    last_error() = status;
    refused_call() = nullptr;
  }
  if (status == 0 && answer != nullptr) *answer = message_of<Answer<kCall>>(channel->words());
  return status;
}

// The same for a call that is answered with one thing, which `to` is for.
template <Call kCall, class T>
int ask_for(T* to, const Request<kCall>& request = {}, std::size_t bytes = 0) {
  if (to == nullptr) return kInvalidParameter;
  Answer<kCall> answer;
  const int status = ask<kCall>(request, &answer, bytes);
  if (status != 0) return status;
  const auto [word] = answer;
  if constexpr (std::is_pointer_v<T>) {
    *to = static_cast<T>(pointer(word));
  } else {
    *to = static_cast<T>(word);
  }
  return 0;
}

}  // namespace npu::compat
