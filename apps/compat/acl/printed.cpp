// SPDX-License-Identifier: Apache-2.0
// Buffers of kernels that print. Each launch has one of its own, until its text has come out.
#include "apps/compat/acl/printed.hpp"

#include <acl/acl_rt.h>
#include <acl/npusim_kernels.h>
#include <runtime/event.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <vector>

#include "apps/compat/acl/blocking.hpp"

namespace npu::compat {
namespace {

struct PrintedLaunch {
  aclrtStream stream;
  int32_t device;
  void* buffer;
  npusim_printing how;
};

// Left alone at the process' end: threads may still be in calls.
struct PrintedLaunches {
  std::mutex lock;
  std::vector<PrintedLaunch> waiting;  // in the order of launches
  pid_t process = 0;                   // a child has none of its parent's

  void belong_to_this_process() {
    if (process == ::getpid()) return;
    waiting.clear();
    process = ::getpid();
  }
};
PrintedLaunches& printed_launches() {
  static auto* const kAll = new PrintedLaunches;
  return *kAll;
}

template <class Which>
std::vector<PrintedLaunch> taken(Which which) {
  auto& all = printed_launches();
  const std::lock_guard<std::mutex> held(all.lock);
  all.belong_to_this_process();
  std::vector<PrintedLaunch> result, others;
  for (const auto& launch : all.waiting) (which(launch) ? result : others).push_back(launch);
  all.waiting = std::move(others);
  return result;
}

void print(const std::vector<PrintedLaunch>& launches) {
  for (const auto& launch : launches) {
    std::vector<char> bytes(launch.how.bytes);
    const aclError copied = aclrtMemcpy(bytes.data(), bytes.size(), launch.buffer, bytes.size(),
                                        ACL_MEMCPY_DEVICE_TO_HOST);
    if (copied == ACL_SUCCESS) launch.how.print(bytes.data(), bytes.size(), launch.how.part);
    aclrtFree(launch.buffer);
  }
}

// The stream as launches and waits name it, whichever of its two names they use.
aclrtStream named(aclrtStream stream) {
  if (stream == nullptr) aclrtCtxGetCurrentDefaultStream(&stream);
  return stream;
}

// A program may rely on it that a kernel which prints has ended when its launch returns. The error
// of a kernel that has failed is for the program's own wait.
void wait_for_kernel(aclrtStream stream) {
  rtEvent_t event = nullptr;
  if (rtEventCreate(&event) != ACL_SUCCESS) return;
  if (rtEventRecord(event, stream) == ACL_SUCCESS) rtEventSynchronize(event);
  rtEventDestroy(event);
}

bool anything_waits() {
  auto& all = printed_launches();
  const std::lock_guard<std::mutex> held(all.lock);
  return !all.waiting.empty();
}

}  // namespace

void print_of_stream(aclrtStream stream) {
  if (!anything_waits()) return;
  const aclrtStream wanted = named(stream);
  print(taken([wanted](const auto& launch) { return launch.stream == wanted; }));
}

void print_of_device() {
  int32_t device = 0;
  if (!anything_waits() || aclrtGetDevice(&device) != ACL_SUCCESS) return;
  print(taken([device](const auto& launch) { return launch.device == device; }));
}

void finish_printing(aclrtStream stream) {
  if (!anything_waits()) return;
  const aclrtStream wanted = named(stream);
  const auto launches = taken([wanted](const auto& launch) { return launch.stream == wanted; });
  if (launches.empty()) return;
  aclrtSynchronizeStream(wanted);
  print(launches);
}

void finish_printing_of_device(int32_t device) {
  int32_t mine = 0;
  if (!anything_waits() || aclrtGetDevice(&mine) != ACL_SUCCESS || mine != device) return;
  const auto launches = taken([device](const auto& launch) { return launch.device == device; });
  if (launches.empty()) return;
  aclrtSynchronizeDevice();
  print(launches);
}

}  // namespace npu::compat

aclError npusimLaunchPrintingKernel(aclrtFuncHandle function, uint32_t blocks, const void* args,
                                    size_t size, aclrtStream stream,
                                    const npusim_printing* printing) {
  using namespace npu::compat;
  if (printing == nullptr || printing->print == nullptr || printing->bytes == 0 ||
      printing->part == 0 || args == nullptr || size < sizeof(uint64_t) ||
      printing->address_offset > size - sizeof(uint64_t)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  wire::FunctionInfo function_info;
  aclError status = ask<Call::kFunctionInfo>({word(function)}, &function_info);
  if (status != ACL_SUCCESS) return status;
  if (function_info.prints == 0) {  // only another one of its source does
    return launched(begin_kernel(function, blocks, args, printing->address_offset, stream), stream);
  }
  // The launch would wait for the kernel.
  aclmdlRICaptureStatus capture = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  status = aclmdlRICaptureGetInfo(stream, &capture, nullptr);
  if (status != ACL_SUCCESS) return status;
  if (capture != ACL_MODEL_RI_CAPTURE_STATUS_NONE) return ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
  PrintedLaunch launch = {named(stream), 0, nullptr, *printing};
  status = aclrtGetDevice(&launch.device);
  if (status != ACL_SUCCESS) return status;
  status = aclrtMalloc(&launch.buffer, printing->bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  if (status != ACL_SUCCESS) return status;
  std::vector<char> all(size);
  std::memcpy(all.data(), args, size);
  std::memcpy(all.data() + printing->address_offset, &launch.buffer, sizeof launch.buffer);
  status = aclrtMemset(launch.buffer, printing->bytes, 0, printing->bytes);
  if (status == ACL_SUCCESS) status = begin_kernel(function, blocks, all.data(), size, stream);
  if (status != ACL_SUCCESS) {
    aclrtFree(launch.buffer);
    return status;
  }
  {
    auto& launches = printed_launches();
    const std::lock_guard<std::mutex> held(launches.lock);
    launches.belong_to_this_process();
    launches.waiting.push_back(launch);
  }
  wait_for_kernel(stream);
  return launched(ACL_SUCCESS, stream);
}
