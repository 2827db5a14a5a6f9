// SPDX-License-Identifier: Apache-2.0
// Copies through addresses in device memory, in their stream's order; which device is which; what
// is called at the beginning and the end.
#include <cstring>
#include <numeric>
#include <vector>

#include "check.h"

namespace {

constexpr size_t kCount = 1024, kBytes = kCount * sizeof(uint32_t);

int begun = 0, ended = 0;
aclError at_init(const char*, size_t length, void* data) {
  REQUIRE(length == 0);
  ++*static_cast<int*>(data);
  return ACL_SUCCESS;
}
aclError at_end(void* data) {
  ++*static_cast<int*>(data);
  return ACL_SUCCESS;
}

void put(void* device, const void* from, size_t bytes) {
  OK(aclrtMemcpy(device, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
}

std::vector<uint32_t> words_of(const void* device) {
  std::vector<uint32_t> words(kCount);
  OK(aclrtMemcpy(words.data(), kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return words;
}

void through_slots(aclrtStream stream) {
  std::vector<uint32_t> source(kCount);
  std::iota(source.begin(), source.end(), 1U);
  void *from = device_memory(kBytes), *to = device_memory(kBytes), *never = nullptr;
  void *from_slot = device_memory(8), *to_slot = device_memory(8);
  put(from, source.data(), kBytes);
  put(from_slot, &never, sizeof never);
  put(to_slot, &to, sizeof to);
  OK(aclrtMemsetAsync(to, kBytes, 0xEE, kBytes, stream));
  // The address is there when the stream comes to the copy.
  OK(aclrtMemcpyAsync(from_slot, 8, &from, 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtMemcpyAsyncWithOffset(static_cast<void**>(to_slot), 8, 0,
                                    static_cast<const void**>(from_slot), 12, 0,
                                    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtMemcpyAsyncWithOffset(static_cast<void**>(to_slot), 12, 0,
                                    static_cast<const void**>(from_slot), 12, 0,
                                    ACL_MEMCPY_DEVICE_TO_HOST, stream));
  OK(aclrtMemcpyAsyncWithOffset(static_cast<void**>(to_slot), kBytes, 40,
                                static_cast<const void**>(from_slot), 60, 20,
                                ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  OK(aclrtSynchronizeStream(stream));
  const auto words = words_of(to);
  for (size_t i = 0; i < kCount; ++i) {
    REQUIRE(words[i] == (i >= 10 && i < 25 ? source[i - 5] : 0xEEEEEEEEU));
  }
  put(from_slot, &never, sizeof never);  // an address of nothing: the stream says so, and goes on
  OK(aclrtMemcpyAsyncWithOffset(static_cast<void**>(to_slot), kBytes, 0,
                                static_cast<const void**>(from_slot), 4, 0,
                                ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(stream));
  OK(aclrtSynchronizeStream(stream));
}

void by_description(aclrtStream stream) {
  std::vector<uint32_t> source(kCount, 7);
  void *from = device_memory(kBytes), *to = device_memory(kBytes);
  size_t size = 0;
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtGetMemcpyDescSize(ACL_MEMCPY_HOST_TO_DEVICE, &size));
  OK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size));
  REQUIRE(size > 0);
  void* description = device_memory(size);
  put(from, source.data(), kBytes);
  OK(aclrtSetMemcpyDesc(description, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from, to, kBytes, nullptr));
  for (int i = 0; i < 2; ++i) {
    OK(aclrtMemsetAsync(to, kBytes, 0, kBytes, stream));
    OK(aclrtMemcpyAsyncWithDesc(description, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
    OK(aclrtSynchronizeStream(stream));
    REQUIRE(words_of(to) == source);
  }
}

void identities() {
  int32_t logic = -1, user = -1;
  char place[13] = {};
  aclrtUuid uuid = {}, none = {};
  OK(aclrtGetLogicDevIdByUserDevId(0, &logic));
  OK(aclrtGetUserDevIdByLogicDevId(logic, &user));
  REQUIRE(user == 0);
  OK(aclrtGetPhyDevIdByUserDevId(0, &logic));
  OK(aclrtGetUserDevIdByPhyDevId(logic, &user));
  REQUIRE(user == 0);
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetUserDevIdByPhyDevId(99, &user));
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetPhyDevIdByLogicDevId(-1, &logic));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceGetPCIBusId(0, place, 12));
  OK(aclrtDeviceGetPCIBusId(0, place, sizeof place));
  REQUIRE(std::strlen(place) == 12);
  user = -1;
  OK(aclrtDeviceGetByPCIBusId(place, &user));
  REQUIRE(user == 0);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceGetByPCIBusId("0000:ff:1f.7", &user));
  OK(aclrtDeviceGetUuid(0, &uuid));
  REQUIRE(std::memcmp(&uuid, &none, sizeof uuid) != 0);
  const aclrtAtomicOperation operation = ACL_RT_ATOMIC_OPERATION_DMA_ADD;
  uint32_t capability = 1;
  OK(aclrtDeviceGetHostAtomicCapabilities(&capability, &operation, 1, 0));
  REQUIRE(capability == 0);
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID,
         aclrtDeviceGetP2PAtomicCapabilities(&capability, &operation, 1, 0, 0));
}

}  // namespace

int main() {
  OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, at_init, &begun));
  OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, at_init, &ended));
  OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, at_init));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, at_init));
  OK(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, at_init, &begun));
  EXPECT(ACL_ERROR_INTERNAL_ERROR, aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, at_init, &begun));
  open_device();
  REQUIRE(begun + ended == 2);
  OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, at_init, &begun));  // at once
  REQUIRE(begun + ended == 3);
  begun = ended = 0;
  OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, at_end, &ended));
  OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_DVPP, at_end, &begun));
  OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, at_end));
  aclrtStream stream = new_stream();
  identities();
  through_slots(stream);
  by_description(stream);
  OK(aclFinalize());
  REQUIRE(ended == 1 && begun == 0);
  puts("right");
  return 0;
}
