// SPDX-License-Identifier: Apache-2.0
// Functions of the program in the order of a stream, run by a thread that has subscribed to it.
#include <pthread.h>

#include <cstdio>
#include <thread>

#include "spin.h"

namespace {

constexpr int kCalls = 3;

struct Seen {
  aclrtStream stream;
  int calls = 0;
  int status[kCalls] = {};
};

// While a stream waits for it, what comes behind has not ended.
void look(void* data) {
  auto& seen = *static_cast<Seen*>(data);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  OK(aclrtStreamQuery(seen.stream, &status));
  seen.status[seen.calls++] = status;
}

void serve(aclrtContext context, int calls) {
  OK(aclrtSetCurrentContext(context));
  for (int i = 0; i < calls; ++i) OK(aclrtProcessReport(-1));
  EXPECT(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtProcessReport(1));
}

}  // namespace

int main() {
  Seen seen;
  aclrtContext context = nullptr;
  open_device();
  OK(aclrtGetCurrentContext(&context));
  OK(aclrtCreateStream(&seen.stream));
  aclrtFuncHandle spin = built_in("spin");
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtLaunchCallback(look, &seen, ACL_CALLBACK_BLOCK, seen.stream));
  std::thread server(serve, context, kCalls);
  const auto number = static_cast<std::uint64_t>(server.native_handle());
  OK(aclrtSubscribeReport(number, seen.stream));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtSubscribeReport(number, seen.stream));
  const npusim_spin_args clocks = {100000};
  for (int i = 0; i < kCalls; ++i) {
    OK(aclrtLaunchKernel(spin, 1, &clocks, sizeof clocks, seen.stream));
    OK(aclrtLaunchCallback(look, &seen, ACL_CALLBACK_BLOCK, seen.stream));
  }
  OK(aclrtSynchronizeStream(seen.stream));
  server.join();
  REQUIRE(seen.calls == kCalls);
  for (const int status : seen.status) REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
  OK(aclrtUnSubscribeReport(number, seen.stream));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtUnSubscribeReport(number, seen.stream));
  end_right();
}
