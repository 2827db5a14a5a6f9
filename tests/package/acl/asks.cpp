// SPDX-License-Identifier: Apache-2.0
// What a program asks and sets beside its work: numbers of 16 bits, versions, options, default
// streams, streams' and events' numbers, functions that are told, allocators.
#include <cmath>
#include <cstring>
#include <vector>

#include "spin.h"

namespace {

void numbers() {
  // Exact ones, the first that rounds to even up and down, the least, and what saturates.
  const struct {
    float value;
    aclFloat16 bits;
  } kPairs[] = {{0.0F, 0x0000},         {1.625F, 0x3E80},           {-2.0F, 0xC000},
                {65504.0F, 0x7BFF},     {65536.0F, 0x7BFF},         {-1e9F, 0xFBFF},
                {1.0F / 16384, 0x0400}, {1.0F / (1 << 24), 0x0001}, {2049.0F, 0x6800},
                {2051.0F, 0x6802},      {INFINITY, 0x7BFF},         {NAN, 0x7BFF}};
  for (const auto& [value, bits] : kPairs) REQUIRE(aclFloatToFloat16(value) == bits);
  REQUIRE(aclFloat16ToFloat(0x3E80) == 1.625F);
  REQUIRE(aclFloat16ToFloat(0x0001) == 1.0F / (1 << 24));
  REQUIRE(aclFloat16ToFloat(0xFC00) == -65536.0F);
  REQUIRE(aclFloat16ToFloat(0x7E00) == 98304.0F);
  for (unsigned bits = 0; bits < 0x7C00; ++bits) {  // every number is itself
    REQUIRE(aclFloatToFloat16(aclFloat16ToFloat(static_cast<aclFloat16>(bits))) == bits);
  }
}

void versions() {
  char runtime[] = "runtime", none[] = "nonesuch", text[ACL_PKG_VERSION_MAX_SIZE] = "";
  int32_t number = 0, can = -1, capability = -1;
  OK(aclsysGetVersionStr(runtime, text));
  OK(aclsysGetVersionNum(runtime, &number));
  REQUIRE(std::strcmp(text, "8.5.0") == 0 && number == 80500000);
  EXPECT(ACL_ERROR_INVALID_FILE, aclsysGetVersionNum(none, &number));
  const aclCannAttr* attributes = nullptr;
  size_t count = 0;
  OK(aclGetCannAttributeList(&attributes, &count));
  REQUIRE(count == 3 && attributes[1] == ACL_CANN_ATTR_BF16);
  OK(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &number));
  REQUIRE(number == 1);
  OK(aclrtCheckArchCompatibility("Ascend910B4", &can));
  REQUIRE(can == 1);
  OK(aclrtCheckArchCompatibility("Ascend910", &can));
  REQUIRE(can == 0);
  OK(aclrtGetDeviceCapability(0, ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV, &capability));
  REQUIRE(capability == ACL_DEV_FEATURE_NOT_SUPPORT);
}

void contexts() {
  int32_t active = -1;
  int64_t value = 9;
  OK(aclrtGetPrimaryCtxState(0, nullptr, &active));
  REQUIRE(active == 1);
  EXPECT(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetPrimaryCtxState(7, nullptr, &active));
  aclrtContext before = nullptr, own = nullptr;
  OK(aclrtGetCurrentContext(&before));
  OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  REQUIRE(value == 0);
  OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  OK(aclrtCreateContext(&own, 0));
  EXPECT(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 5));
  OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  REQUIRE(value == 1);
  OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  REQUIRE(value == 5);
  aclrtStream first = nullptr, again = nullptr;
  OK(aclrtCtxGetCurrentDefaultStream(&first));
  OK(aclrtCtxGetCurrentDefaultStream(&again));
  REQUIRE(first != nullptr && first == again);
  OK(aclrtSynchronizeStream(first));
  OK(aclrtDestroyContext(own));
  OK(aclrtSetCurrentContext(before));
}

std::vector<int> states;
void on_state(aclrtStream, aclrtStreamState state, void* data) {
  REQUIRE(data == &states);
  states.push_back(state);
}

void streams() {
  aclrtStream first = nullptr, second = nullptr;
  uint32_t priority = 0, flags = 0;
  int32_t one = -1, other = -1, least = -1, greatest = -1;
  OK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
  REQUIRE(least == 7 && greatest == 0);
  OK(aclrtRegStreamStateCallback("states", on_state, &states));
  auto* const handle = aclrtCreateStreamConfigHandle();
  const uint32_t wanted = 5, flag = ACL_STREAM_FAST_LAUNCH;
  OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &wanted, sizeof wanted));
  OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, sizeof flag));
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &wanted, 1));
  OK(aclrtCreateStreamV2(&first, handle));
  OK(aclrtDestroyStreamConfigHandle(handle));
  OK(aclrtCreateStream(&second));
  OK(aclrtStreamGetPriority(first, &priority));
  OK(aclrtStreamGetFlags(first, &flags));
  REQUIRE(priority == wanted && flags == flag);
  OK(aclrtStreamGetId(first, &one));
  OK(aclrtStreamGetId(second, &other));
  REQUIRE(other == one + 1);
  aclrtStreamAttrValue value = {};
  value.failureMode = ACL_STOP_ON_FAILURE;
  OK(aclrtSetStreamAttribute(first, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  value.failureMode = 0;
  OK(aclrtGetStreamAttribute(first, ACL_STREAM_ATTR_FAILURE_MODE, &value));
  REQUIRE(value.failureMode == ACL_STOP_ON_FAILURE);
  OK(aclrtDestroyStream(second));
  OK(aclrtRegStreamStateCallback("states", nullptr, nullptr));
  OK(aclrtDestroyStream(first));
  REQUIRE(
      (states == std::vector<int>{ACL_RT_STREAM_STATE_CREATE_POST, ACL_RT_STREAM_STATE_CREATE_POST,
                                  ACL_RT_STREAM_STATE_DESTROY_PRE}));
}

void events() {
  aclrtStream stream = new_stream();
  aclrtEvent first = new_event(), second = new_event();
  uint64_t from = 0, to = 0;
  uint32_t left = 0, now = 0, id = 0, other = 0;
  float milliseconds = 0;
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtEventGetTimestamp(first, &from));
  OK(aclrtRecordEvent(first, stream));
  spin(built_in("spin"), stream, 300);
  OK(aclrtRecordEvent(second, stream));
  OK(aclrtSynchronizeStream(stream));
  OK(aclrtEventGetTimestamp(first, &from));
  OK(aclrtEventGetTimestamp(second, &to));
  OK(aclrtEventElapsedTime(&milliseconds, first, second));
  REQUIRE(std::fabs(static_cast<double>(to - from) - milliseconds * 1000.0) <= 1 &&
          to - from >= 250);
  OK(aclrtGetEventId(first, &id));
  OK(aclrtGetEventId(second, &other));
  REQUIRE(other == id + 1);
  OK(aclrtGetEventAvailNum(&left));
  OK(aclrtDestroyEvent(first));
  OK(aclrtGetEventAvailNum(&now));
  REQUIRE(now == left + 1);
  OK(aclrtDestroyEvent(second));
  OK(aclrtDestroyStream(stream));
}

void errors() {
  void* memory = nullptr;
  aclrtErrorInfo info = {};
  OK(aclrtGetErrorVerbose(0, &info));
  REQUIRE(info.errorType == ACL_RT_NO_ERROR);
  static_cast<void>(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(&memory));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
  OK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
}

void* allocate(aclrtAllocator, size_t size) {
  return std::malloc(size);
}
void release(aclrtAllocator, aclrtAllocatorBlock block) {
  std::free(block);
}
void* address_of(aclrtAllocatorBlock block) {
  return block;
}

void allocators() {
  aclrtStream stream = new_stream();
  int object = 0;
  aclrtAllocatorDesc description = aclrtAllocatorCreateDesc(), found = nullptr;
  aclrtAllocator allocator = nullptr;
  aclrtAllocatorAllocFunc call = nullptr;
  OK(aclrtAllocatorSetObjToDesc(description, &object));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(stream, description));
  OK(aclrtAllocatorSetAllocFuncToDesc(description, allocate));
  OK(aclrtAllocatorSetFreeFuncToDesc(description, release));
  OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description, address_of));
  OK(aclrtAllocatorRegister(stream, description));
  OK(aclrtAllocatorGetByStream(stream, &found, &allocator, &call, nullptr, nullptr, nullptr));
  REQUIRE(found == description && allocator == &object && call == allocate);
  OK(aclrtAllocatorUnregister(stream));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtAllocatorUnregister(stream));
  OK(aclrtAllocatorDestroyDesc(description));
  OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  numbers();
  open_device();
  versions();
  contexts();
  streams();
  events();
  errors();
  allocators();
  return end_right();
}
