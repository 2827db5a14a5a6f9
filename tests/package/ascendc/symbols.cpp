// SPDX-License-Identifier: Apache-2.0
// Kernels and variables of global memory beside the program's own functions, found by what stands
// for them here.
#include "kernel_operator.h"
#include "program.hpp"

constexpr std::uint32_t kCount = 8;

__gm__ std::int32_t values[kCount];
__gm__ std::int32_t total = 5;
static __gm__ const float table[] = {1.5F, 2.5F, -3.0F};
namespace inside {
__gm__ std::int16_t grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
}

extern "C" __global__ __vector__ void raise(std::int32_t by) {
  for (std::uint32_t i = 0; i < kCount; ++i) values[i] += by;
  total += by;
}

extern "C" __global__ __vector__ void gather(GM_ADDR to, std::uint16_t small, float factor) {
  auto out = reinterpret_cast<__gm__ float*>(to);
  for (std::uint32_t i = 0; i < 3; ++i) out[i] = table[i] * factor;
  out[3] = inside::grid[1][2] + small;
  out[4] = total;
  __gm__ std::int32_t* all = values;
  out[5] = all[7];
  out[6] = *(&total) - *(values + 1);
}

// 48 KiB of the stack.
extern "C" __global__ __vector__ void deep(GM_ADDR to) {
  volatile std::uint32_t numbers[12 * 1024];
  for (std::uint32_t i = 0; i < 12 * 1024; ++i) numbers[i] = i % 97;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 12 * 1024; ++i) sum += numbers[i];
  *(__gm__ std::uint32_t*)to = sum;
}

// By the core's load unit.
extern "C" __global__ __vector__ void copied(GM_ADDR to) {
  AscendC::GlobalTensor<std::int32_t> from, out;
  from.SetGlobalBuffer((__gm__ std::int32_t*)values, kCount);
  out.SetGlobalBuffer((__gm__ std::int32_t*)to, kCount);
  AscendC::TPipe pipe;
  AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue;
  pipe.InitBuffer(queue, 1, kCount * sizeof(std::int32_t));
  auto tensor = queue.AllocTensor<std::int32_t>();
  AscendC::DataCopy(tensor, from, kCount);
  queue.EnQue(tensor);
  tensor = queue.DeQue<std::int32_t>();
  AscendC::DataCopy(out, tensor, kCount);
  queue.FreeTensor(tensor);
}

namespace {

const void* symbol(void (*kernel)(std::int32_t)) {
  return reinterpret_cast<const void*>(kernel);
}

void check_symbols() {
  void *address = nullptr, *by_name = nullptr;
  std::size_t size = 0, offset = 0;
  aclrtFuncHandle function = nullptr;
  aclrtBinHandle binary = nullptr;
  OK(aclrtGetSymbolSize(values, &size));
  REQUIRE(size == sizeof(std::int32_t) * kCount);
  OK(aclrtGetSymbolSize(&total, &size));
  REQUIRE(size == sizeof(std::int32_t));
  OK(aclrtGetSymbolSize(table, &size));
  REQUIRE(size == 3 * sizeof(float));
  OK(aclrtGetSymbolSize(inside::grid, &size));
  REQUIRE(size == 6 * sizeof(std::int16_t));
  OK(aclrtGetSymbolAddress(values, &address));
  OK(aclrtGetFuncBySymbol(symbol(&raise), &function));
  OK(aclrtFunctionGetBinary(function, &binary));
  aclrtFuncHandle again = nullptr;
  OK(aclrtBinaryGetFunction(binary, "raise", &again));
  REQUIRE(again == function);
  OK(aclrtBinaryGetGlobal(binary, "values", &by_name, nullptr));
  REQUIRE(by_name == address);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetGlobal(binary, "value", &by_name, nullptr));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetSymbolAddress(&size, &address));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtGetFuncBySymbol(&size, &function));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtGetFuncBySymbol(values, &function));
  OK(aclrtGetFuncBySymbol(reinterpret_cast<const void*>(&gather), &function));
  OK(aclrtFunctionGetParamCount(function, &size));
  REQUIRE(size == 3);
  constexpr std::size_t kOffsets[] = {0, 8, 12}, kSizes[] = {8, 2, 4};
  for (std::size_t i = 0; i < 3; ++i) {
    OK(aclrtFunctionGetParamInfo(function, i, &offset, &size));
    REQUIRE(offset == kOffsets[i] && size == kSizes[i]);
  }
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtFunctionGetParamInfo(function, 3, &offset, &size));
  std::int64_t type = -1, ratio = -1;
  OK(aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_TYPE, &type));
  OK(aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_RATIO, &ratio));
  REQUIRE(type == ACL_KERNEL_TYPE_VECTOR && ratio == 1);
}

// total and values[1] are `sum` and `first`.
void check(const std::vector<float>& got, float factor, float small, float sum, float first) {
  const std::vector<float> wanted = {1.5F * factor, 2.5F * factor, -3 * factor, 6 + small,
                                     sum,           first + 60,    sum - first};
  REQUIRE(got == wanted);
}

void check_launches(aclrtStream stream) {
  std::vector<std::int32_t> begin(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) begin[i] = static_cast<std::int32_t>(10 * i);
  OK(aclrtMemcpyToSymbolAsync(values, begin.data(), sizeof(std::int32_t) * kCount, 0,
                              ACL_MEMCPY_HOST_TO_DEVICE, stream));
  std::int32_t by = 7;
  void* one[] = {&by};
  OK(aclrtLaunchKernelWithArgsArray(reinterpret_cast<void*>(&raise), 1, stream, nullptr, one));
  aclrtFuncHandle function = nullptr;
  OK(aclrtGetFuncBySymbol(reinterpret_cast<const void*>(&gather), &function));
  const OnCard<float> out(std::vector<float>(7));
  void* to = out.address();
  std::uint16_t small = 3;
  float factor = 2;
  void* three[] = {&to, &small, &factor};
  OK(aclrtLaunchKernelWithArgsArray(function, 1, stream, nullptr, three));
  OK(aclrtSynchronizeStream(stream));
  check(out.values(), 2, 3, 12, 17);
  const int raised = raise<<<1, nullptr, stream>>>(1);
  OK(raised);
  OK(aclrtSynchronizeStream(stream));
  std::int32_t back[3] = {};
  OK(aclrtMemcpyFromSymbol(back, sizeof back, values, sizeof back, 5 * sizeof back[0],
                           ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(back[0] == 58 && back[1] == 68 && back[2] == 78);
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtMemcpyFromSymbol(back, sizeof back, values, sizeof back, 6 * sizeof back[0],
                               ACL_MEMCPY_DEVICE_TO_HOST));
  const OnCard<std::int32_t> whole(begin);
  const int launched = copied<<<1, nullptr, stream>>>(whole.address());
  OK(launched);
  OK(aclrtSynchronizeStream(stream));
  for (std::uint32_t i = 0; i < kCount; ++i) REQUIRE(whole.values()[i] == begin[i] + 8);
  const int dived = deep<<<1, nullptr, stream>>>(whole.address());
  OK(dived);
  OK(aclrtSynchronizeStream(stream));
  std::int32_t sum = 0;
  for (int i = 0; i < 12 * 1024; ++i) sum += i % 97;
  REQUIRE(whole.values()[0] == sum);
  void* null[] = {nullptr, &small, &factor};
  EXPECT(ACL_ERROR_INVALID_PARAM,
         aclrtLaunchKernelWithArgsArray(function, 1, stream, nullptr, null));
}

void total_is(std::int32_t wanted) {
  std::int32_t now = 0;
  OK(aclrtMemcpyFromSymbol(&now, sizeof now, &total, sizeof now, 0, ACL_MEMCPY_DEVICE_TO_HOST));
  REQUIRE(now == wanted);
}

// In memory of the program's own, launched twice.
void check_arguments(aclrtStream stream) {
  aclrtFuncHandle function = nullptr;
  OK(aclrtGetFuncBySymbol(reinterpret_cast<const void*>(&gather), &function));
  std::size_t handle_size = 0, size = 0;
  OK(aclrtKernelArgsGetHandleMemSize(function, &handle_size));
  OK(aclrtKernelArgsGetMemSize(function, 14, &size));
  REQUIRE(size == 16);
  std::vector<std::uint64_t> handle(handle_size / 8 + 1), memory(2);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtKernelArgsAppend(handle.data(), &size, 8, nullptr));
  OK(aclrtKernelArgsInitByUserMem(function, handle.data(), memory.data(), size));
  const OnCard<float> out(std::vector<float>(7));
  void* to = out.address();
  std::uint16_t small = 1;
  float factor = 4;
  aclrtParamHandle last = nullptr;
  OK(aclrtKernelArgsAppend(handle.data(), &to, sizeof to, nullptr));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtKernelArgsAppend(handle.data(), &factor, 4, nullptr));
  OK(aclrtKernelArgsAppend(handle.data(), &small, sizeof small, nullptr));
  OK(aclrtKernelArgsAppend(handle.data(), &factor, sizeof factor, &last));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtKernelArgsAppend(handle.data(), &factor, 4, nullptr));
  const auto launch = [&] {
    return aclrtLaunchKernelWithConfig(function, 1, stream, nullptr, handle.data(), nullptr);
  };
  EXPECT(ACL_ERROR_INVALID_PARAM, launch());
  OK(aclrtKernelArgsFinalize(handle.data()));
  OK(launch());
  OK(aclrtSynchronizeStream(stream));
  check(out.values(), 4, 1, 13, 18);
  factor = -1;
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtKernelArgsParaUpdate(handle.data(), last, &factor, 8));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtKernelArgsParaUpdate(handle.data(), &to, &factor, 4));
  OK(aclrtKernelArgsParaUpdate(handle.data(), last, &factor, sizeof factor));
  EXPECT(ACL_ERROR_INVALID_PARAM, launch());
  OK(aclrtKernelArgsFinalize(handle.data()));
  OK(launch());
  OK(aclrtSynchronizeStream(stream));
  check(out.values(), -1, 1, 13, 18);
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  std::size_t stack = 0;
  OK(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 64 << 10));
  OK(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &stack));
  REQUIRE(stack == 64 << 10);
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 1 << 20));
  OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  check_symbols();
  check_launches(stream);
  check_arguments(stream);
  OK(aclrtDestroyStream(stream));
  // Another device, or the same one set up again, has first values again.
  OK(aclrtResetDeviceForce(0));
  OK(aclrtSetDevice(0));
  // So has the same program that begins anew: its binaries went with the runtime.
  total_is(5);
  OK(aclFinalize());
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  const int launched = raise<<<1, nullptr, nullptr>>>(2);
  OK(launched);
  OK(aclrtSynchronizeStream(nullptr));
  total_is(7);
  OK(aclFinalize());
  std::puts("right");
}
