// SPDX-License-Identifier: Apache-2.0
// Calls go to functions of the program's, which call the API's, until that is undone.
#include <acl/acl.h>

#include <cstring>
#include <vector>

#include "check.h"

namespace {

unsigned devices = 0, copies = 0, inner = 0;
decltype(&aclrtGetDevice) get_device = nullptr;
decltype(&aclrtMemcpy) copy = nullptr;
decltype(&aclrtGetDevice) outer_calls = nullptr;

template <class Function>
aclrtApiFunc any(Function* function) {
  return reinterpret_cast<aclrtApiFunc>(function);
}

aclError count_get_device(int32_t* device) {
  ++devices;
  return get_device(device);
}
aclError count_outer(int32_t* device) {
  ++inner;
  return outer_calls(device);
}
aclError count_copy(void* to, size_t room, const void* from, size_t size, aclrtMemcpyKind kind) {
  ++copies;
  return copy(to, room, from, size, kind);
}

template <class Function>
Function* original(const char* name) {
  aclrtApiFunc function = nullptr, current = nullptr;
  OK(aclrtApiInjectionGetFunc(name, &function, &current));
  REQUIRE(function != nullptr && function == current);
  return reinterpret_cast<Function*>(function);
}

void get() {
  int32_t device = -1;
  OK(aclrtGetDevice(&device));
  REQUIRE(device == 0);
}

void refuses() {
  for (const char* name : {"aclInit", "aclrtNothing", "malloc", "aclrtApiInjectionSetFunc", ""}) {
    EXPECT(ACL_ERROR_INVALID_PARAM, aclrtApiInjectionSetFunc(name, any(&count_get_device)));
    EXPECT(ACL_ERROR_INVALID_PARAM, aclrtApiInjectionGetFunc(name, nullptr, nullptr));
  }
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtApiInjectionSetFunc(nullptr, any(&count_get_device)));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtApiInjectionSetFunc("aclrtGetDevice", nullptr));
}

}  // namespace

int main() {
  open_device();
  get();
  get_device = original<aclError(int32_t*)>("aclrtGetDevice");
  copy = original<aclError(void*, size_t, const void*, size_t, aclrtMemcpyKind)>("aclrtMemcpy");
  OK(aclrtApiInjectionSetFunc("aclrtGetDevice", any(&count_get_device)));
  OK(aclrtApiInjectionSetFunc("aclrtMemcpy", any(&count_copy)));
  aclrtApiFunc now = nullptr;
  OK(aclrtApiInjectionGetFunc("aclrtGetDevice", nullptr, &now));
  REQUIRE(now == any(&count_get_device));
  get();
  get();
  REQUIRE(devices == 2);
  const std::vector<char> from(4096, 'x');
  std::vector<char> to(4096);
  void* const memory = device_memory(4096);
  OK(aclrtMemcpy(memory, 4096, from.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(to.data(), 4096, memory, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(copies == 2 && to == from);
  // A second tool in front of the first.
  outer_calls = &count_get_device;
  OK(aclrtApiInjectionSetFunc("aclrtGetDevice", any(&count_outer)));
  get();
  REQUIRE(devices == 3 && inner == 1);
  refuses();
  OK(aclrtApiInjectionSetFunc("aclrtGetDevice", any(get_device)));
  OK(aclrtApiInjectionSetFunc("aclrtMemcpy", any(copy)));
  REQUIRE(original<aclError(int32_t*)>("aclrtGetDevice") == get_device);
  get();
  OK(aclrtMemcpy(to.data(), 4096, memory, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(devices == 3 && inner == 1 && copies == 2);
  OK(aclrtFree(memory));
  return end_right();
}
