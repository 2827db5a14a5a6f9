// SPDX-License-Identifier: Apache-2.0
// Functions of the program in a stream's order, which a thread of the library's runs if none of the
// program's has subscribed.
#include <pthread.h>

#include "apps/compat/acl/direct.hpp"
#include "apps/compat/acl/helper_thread.hpp"

using npu::compat::ask;
using npu::compat::Call;
using npu::compat::pointer;
using npu::compat::word;
namespace wire = npu::compat::wire;

namespace {

constexpr std::uint64_t kOwnThread = 0;
constexpr std::uint64_t kHost = 1;

// The next function that is due.
aclError run_due(std::uint64_t thread, std::uint64_t milliseconds) {
  wire::DueCallback due;
  const aclError status = ask<Call::kProcessReport>({thread, milliseconds, kHost}, &due);
  if (status != ACL_SUCCESS) return status;
  reinterpret_cast<aclrtHostFunc>(due.function)(pointer(due.parameter));
  return due.waiting == 0 ? ACL_SUCCESS : ask<Call::kCallbackDone>({due.waiting});
}

// What is not begun within the second has a thread begin again.
void serve_all() {
  constexpr std::uint64_t kPatience = 1000;
  while (run_due(kOwnThread, kPatience) == ACL_SUCCESS) {
  }
}

npu::compat::HelperThread& function_thread() {
  static auto* const kHelper = new npu::compat::HelperThread(serve_all);
  return *kHelper;
}

aclError subscribe(std::uint64_t thread, aclrtStream stream, bool ends) {
  if (thread == 0) return ACL_ERROR_INVALID_PARAM;
  return ask<Call::kSubscribeReport>({thread, word(stream), ends, kHost});
}

}  // namespace

extern "C" {

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc call, void* data) {
  if (call == nullptr) return ACL_ERROR_INVALID_PARAM;
  const aclError status = ask<Call::kLaunchCallback>(
      {reinterpret_cast<std::uintptr_t>(call), word(data), 1, word(stream), kHost});
  return status == ACL_SUCCESS ? function_thread().begun() : status;
}

aclError aclrtSubscribeHostFunc(uint64_t thread, aclrtStream stream) {
  return subscribe(thread, stream, false);
}

aclError aclrtUnSubscribeHostFunc(uint64_t thread, aclrtStream stream) {
  return subscribe(thread, stream, true);
}

aclError aclrtProcessHostFunc(int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const auto milliseconds = timeout < 0 ? wire::kForEver : static_cast<std::uint64_t>(timeout);
  return run_due(static_cast<std::uint64_t>(::pthread_self()), milliseconds);
}

}  // extern "C"
