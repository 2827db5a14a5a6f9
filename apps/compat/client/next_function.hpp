// SPDX-License-Identifier: Apache-2.0
// The function that one of ours hides: the next one of that name, as a rule the C library's. It is
// looked up when the library is loaded, not in a handler of a signal.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace npu::compat {

template <class Result, class... Arguments>
class NextFunction {
 public:
  using Function = Result(Arguments...);
  constexpr explicit NextFunction(const char* name) : name_(name) {}

  // The same every time, whoever asks first.
  Function* get() {
    auto* found = found_.load(std::memory_order_relaxed);
    if (found != nullptr) return found;
    found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
    found_.store(found, std::memory_order_relaxed);
    return found;
  }

 private:
  const char* const name_;
  std::atomic<Function*> found_{nullptr};
};

// `hiding`: ours.
template <class Result, class... Arguments>
constexpr NextFunction<Result, Arguments...> next_of(Result (*hiding)(Arguments...),
                                                     const char* name) {
  static_cast<void>(hiding);
  return NextFunction<Result, Arguments...>(name);
}

}  // namespace npu::compat
