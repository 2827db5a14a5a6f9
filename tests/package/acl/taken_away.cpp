// SPDX-License-Identifier: Apache-2.0
// Threads use a stream, its memory and its event while another one takes these away, in each way
// that there is. Whatever a call is told, it comes back, and the program goes on.

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "spin.h"

namespace {

constexpr std::size_t kSize = 1 << 20;
constexpr int kWays = 6, kUsers = 4;

struct Things {
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtFuncHandle spin = nullptr;
  void *device = nullptr, *pinned = nullptr;
};

// What may be said of a thing that has gone.
bool is_allowed(aclError code) {
  for (const aclError each :
       {ACL_SUCCESS, ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_RT_PARAM_INVALID,
        ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_STREAM_CONTEXT}) {
    if (code == each) return true;
  }
  return false;
}

void check(aclError code, const char* call) {
  if (is_allowed(code)) return;
  std::fprintf(stderr, "%s: %d: %s\n", call, code, aclGetRecentErrMsg());
  std::_Exit(1);
}
#define MAY(call) check(call, #call)

// Until it is told that something has gone, or all have begun and it has done enough.
void use(const Things& all, int user, std::atomic<int>& begun) {
  if (aclrtSetCurrentContext(all.context) != ACL_SUCCESS) {
    ++begun;
    return;
  }
  std::vector<char> host(kSize);
  npusim_spin_args clocks = {20000};
  for (int i = 0; i < 60; ++i) {
    if (i == 3) ++begun;
    switch ((i + user) % 7) {
      case 0:
        MAY(aclrtMemcpyAsync(all.device, kSize, all.pinned, kSize, ACL_MEMCPY_HOST_TO_DEVICE,
                             all.stream));
        break;
      case 1:
        MAY(aclrtMemcpyAsync(host.data(), kSize, all.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST,
                             all.stream));
        break;
      case 2:
        MAY(aclrtLaunchKernel(all.spin, 1, &clocks, sizeof clocks, all.stream));
        break;
      case 3:
        MAY(aclrtSynchronizeStream(all.stream));
        break;
      case 4:
        MAY(aclrtRecordEvent(all.event, all.stream));
        MAY(aclrtStreamWaitEvent(all.stream, all.event));
        break;
      case 5:
        MAY(aclrtMemset(all.device, kSize, user, kSize));
        break;
      default:
        MAY(aclrtMemcpy(host.data(), kSize, all.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
    }
  }
}

void take_away(Things& all, int way) {
  switch (way) {
    case 0:
      OK(aclrtDestroyStream(all.stream));
      break;
    case 1:
      OK(aclrtDestroyStreamForce(all.stream));
      break;
    case 2:
      OK(aclrtFree(all.device));
      break;
    case 3:
      OK(aclrtDestroyEvent(all.event));
      OK(aclrtFreeHost(all.pinned));
      break;
    case 4:
      OK(aclrtResetDevice(0));
      break;
    default:
      OK(aclrtResetDeviceForce(0));
  }
}

void run(int way) {
  Things all;
  OK(aclrtSetDevice(0));
  OK(aclrtGetCurrentContext(&all.context));
  OK(aclrtCreateStream(&all.stream));
  OK(aclrtCreateEvent(&all.event));
  OK(aclrtMalloc(&all.device, kSize, ACL_MEM_MALLOC_HUGE_FIRST));
  OK(aclrtMallocHost(&all.pinned, kSize));
  all.spin = built_in("spin");
  std::atomic<int> begun{0};
  std::vector<std::thread> users;
  for (int i = 0; i < kUsers; ++i) {
    users.emplace_back([&all, &begun, i] { use(all, i, begun); });
  }
  while (begun < kUsers) OK(aclrtSetCurrentContext(all.context));
  take_away(all, way);
  for (auto& user : users) user.join();
  if (way != 3) OK(aclrtFreeHost(all.pinned));
  if (way < 4) OK(aclrtResetDeviceForce(0));
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  for (int way = 0; way < kWays; ++way) run(way);
  OK(aclrtSetDevice(0));
  size_t free = 0, total = 0, now = 0;
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  run(0);
  OK(aclrtSetDevice(0));
  OK(aclrtGetMemInfo(ACL_HBM_MEM, &now, &total));
  REQUIRE(now == free);
  end_right();
}
