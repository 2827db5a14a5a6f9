// SPDX-License-Identifier: Apache-2.0
// A function of the C API as a call of npusim.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "apps/compat/client/channel.hpp"
#include "apps/compat/client/connect.hpp"

namespace npu::compat {

// Milliseconds of a time-out that there is not.
inline constexpr std::uint64_t kForEver = UINT64_MAX;

inline std::uint64_t word(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
inline void* pointer(std::uint64_t word) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(word));
}

// Which device the thread's calls are about (kDeviceWord), for as long as this lives: the HAL names
// it with each call.
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

// A call with these words; `bytes` are in the thread's window already.
inline int ask(Call call, std::initializer_list<std::uint64_t> words = {}, std::size_t bytes = 0) {
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return kNoServer;
  return channel->call(call, words, OnDevice::place(), bytes);
}

// Word `i` of the last answer; only behind an ask() that has succeeded.
inline std::uint64_t answer(std::size_t i = 0) {
  return channel_of_this_thread()->words()[i];
}

// The same for a call that makes one thing, which `to` is for.
template <class T>
int ask_for(T* to, Call call, std::initializer_list<std::uint64_t> words = {}) {
  if (to == nullptr) return kInvalidParameter;
  const int status = ask(call, words);
  if (status == 0) *to = static_cast<T>(answer());
  return status;
}
inline int ask_for(void** to, Call call, std::initializer_list<std::uint64_t> words = {}) {
  if (to == nullptr) return kInvalidParameter;
  const int status = ask(call, words);
  if (status == 0) *to = pointer(answer());
  return status;
}

}  // namespace npu::compat
