// SPDX-License-Identifier: Apache-2.0
// Functions of the program in a stream's order that fill and read the buffers of its copies.
#include <pthread.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <thread>

#include "spin.h"

namespace {

constexpr std::size_t kBytes = 65536;

struct Program {
  aclrtStream stream = nullptr;
  aclrtFuncHandle kernel = nullptr;
  unsigned char *pinned = nullptr, *pageable = nullptr, *device = nullptr;
};
Program program;

bool holds(const unsigned char* bytes, int value) {
  for (std::size_t i = 0; i < kBytes; ++i) {
    if (bytes[i] != value) return false;
  }
  return true;
}

bool device_holds(int value) {
  std::array<unsigned char, kBytes> bytes;
  OK(aclrtMemcpy(bytes.data(), kBytes, program.device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return holds(bytes.data(), value);
}

struct Work {
  unsigned char* buffer;
  int expected, value;  // what it holds, what it gets; the card's memory holds `expected`, too
};

void fill(void* data) {
  const auto& work = *static_cast<Work*>(data);
  REQUIRE(holds(work.buffer, work.expected) && device_holds(work.expected));
  std::memset(work.buffer, work.value, kBytes);
}

void read(void* data) {
  const auto& work = *static_cast<Work*>(data);
  REQUIRE(holds(work.buffer, work.expected));
}

void call(aclrtCallback function, Work& work, aclrtCallbackBlockType type) {
  OK(aclrtLaunchCallback(function, &work, type, program.stream));
}

void copy(void* to, const void* from, aclrtMemcpyKind kind) {
  OK(aclrtMemcpyAsync(to, kBytes, from, kBytes, kind, program.stream));
}

// The bytes of a copy are those that a function before it has written.
void fills(unsigned char* buffer) {
  Work work{buffer, 1, 7};
  std::memset(buffer, 1, kBytes);
  OK(aclrtMemset(program.device, kBytes, 1, kBytes));
  spin(program.kernel, program.stream, 100);
  call(fill, work, ACL_CALLBACK_BLOCK);
  copy(program.device, buffer, ACL_MEMCPY_HOST_TO_DEVICE);
  OK(aclrtSynchronizeStream(program.stream));
  REQUIRE(device_holds(7));
}

// A function behind a copy finds its bytes; what comes next finds the function's.
void reads(aclrtCallbackBlockType type) {
  Work work{program.pinned, 5, 0}, again{program.pinned, 5, 6};
  std::memset(program.pinned, 9, kBytes);
  OK(aclrtMemset(program.device, kBytes, 5, kBytes));
  spin(program.kernel, program.stream, 100);
  copy(program.pinned, program.device, ACL_MEMCPY_DEVICE_TO_HOST);
  call(read, work, type);
  call(fill, again, ACL_CALLBACK_BLOCK);
  copy(program.device, program.pinned, ACL_MEMCPY_HOST_TO_DEVICE);
  copy(program.pageable, program.device, ACL_MEMCPY_DEVICE_TO_HOST);
  REQUIRE(holds(program.pageable, 6));
}

void serve(aclrtContext context, int calls) {
  OK(aclrtSetCurrentContext(context));
  for (int i = 0; i < calls; ++i) OK(aclrtProcessReport(-1));
}

}  // namespace

int main() {
  aclrtContext context = nullptr;
  open_device();
  OK(aclrtGetCurrentContext(&context));
  OK(aclrtCreateStream(&program.stream));
  program.kernel = built_in("spin");
  OK(aclrtMallocHost(reinterpret_cast<void**>(&program.pinned), kBytes));
  OK(aclrtMalloc(reinterpret_cast<void**>(&program.device), kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  program.pageable = static_cast<unsigned char*>(std::malloc(kBytes));
  std::thread server(serve, context, 6);
  OK(aclrtSubscribeReport(static_cast<std::uint64_t>(server.native_handle()), program.stream));
  fills(program.pinned);
  fills(program.pageable);
  reads(ACL_CALLBACK_BLOCK);
  reads(ACL_CALLBACK_NO_BLOCK);
  server.join();
  OK(aclFinalize());
  std::free(program.pageable);
  std::puts("right");
}
