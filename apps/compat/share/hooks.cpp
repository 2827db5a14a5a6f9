// SPDX-License-Identifier: Apache-2.0
// What programs meet: each function asks libascendcl's of the same name to do the work.
#include "apps/compat/share/hooks.hpp"

#include <acl/acl.h>
#include <acl/npusim_memory.h>

#include <cstring>

#include "apps/compat/share/allocations.hpp"
#include "apps/compat/share/lookup.hpp"

using npu::share::Allocations;
using npu::share::Mode;
using npu::share::real;

#define NPU_REAL(name) real(#name, &(name))

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20, kUnit = 64;
constexpr std::size_t kGiantPage = std::size_t{1} << 30;
constexpr std::size_t kMostOfShared = std::size_t{1} << 20;  // in pages that allocations share

std::size_t rounded(std::size_t size, std::size_t grain) {
  return size > SIZE_MAX - grain ? size : (size + grain - 1) / grain * grain;
}

// The library below keeps one book for whatever interface memory is had by, if it is npusim's. Of
// another one the quota is kept here.
void tell_quota() {
  auto& all = Allocations::all();
  if (!all.is_untold()) return;
  auto* const limit = NPU_REAL(npusimLimitMemory);
  all.told(limit != nullptr && limit(all.quota()) == ACL_SUCCESS);
}

template <class Allocate>
aclError counted(void** result, std::size_t size, bool device_memory, Allocate allocate) {
  auto& all = Allocations::all();
  tell_quota();
  if (!all.take(size)) return ACL_ERROR_RT_MEMORY_ALLOCATION;
  const aclError status = allocate();
  if (status == ACL_SUCCESS) {
    all.add(*result, size, device_memory);
  } else {
    all.give_back(size, status == ACL_ERROR_RT_MEMORY_ALLOCATION);
  }
  return status;
}

// What counts of it. `padding`: bytes that libascendcl adds.
std::size_t taken(std::size_t size, std::size_t padding, aclrtMemMallocPolicy policy) {
  const bool shared = policy == ACL_MEM_MALLOC_NORMAL_ONLY ||
                      (policy == ACL_MEM_MALLOC_HUGE_FIRST && size <= kMostOfShared);
  if (shared && !Allocations::all().is_managed()) return rounded(size + padding, kUnit);
  const bool giant =
      policy == ACL_MEM_MALLOC_HUGE1G_ONLY || policy == ACL_MEM_MALLOC_HUGE1G_ONLY_P2P;
  return rounded(size, giant && !Allocations::all().is_managed() ? kGiantPage : kPage);
}

template <class Allocate>
aclError allocated(void** address, std::size_t size, std::size_t counts, Allocate allocate) {
  if (address == nullptr || size == 0) return allocate();  // which says what is wrong
  return counted(address, counts, true, [&]() -> aclError {
    if (!Allocations::all().is_managed()) return allocate();
    return NPU_REAL(aclrtMemAllocManaged)(address, size, 1);
  });
}

// The card gets what the program has allocated since the last launch, in the order of the stream.
void bring(aclrtStream stream) {
  auto& all = Allocations::all();
  if (all.mode() != Mode::kCooperative) return;
  int32_t device = 0;
  if (aclrtGetDevice(&device) != ACL_SUCCESS) return;
  const aclrtMemManagedLocation card = {ACL_MEM_LOCATIONTYPE_DEVICE, device};
  for (const auto& range : all.take_fresh()) {
    aclrtMemManagedAdvise(range.address, range.bytes, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, card);
    aclrtMemManagedPrefetchAsync(range.address, range.bytes, card, 0, stream);
  }
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return allocated(address, size, taken(size, 32, policy),
                   [&] { return NPU_REAL(aclrtMalloc)(address, size, policy); });
}

aclError aclrtMallocAlign32(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return allocated(address, size, taken(size, 0, policy),
                   [&] { return NPU_REAL(aclrtMallocAlign32)(address, size, policy); });
}

aclError aclrtMallocCached(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return allocated(address, size, taken(size, 32, policy),
                   [&] { return NPU_REAL(aclrtMallocCached)(address, size, policy); });
}

aclError aclrtMemAllocManaged(void** address, uint64_t size, uint32_t flag) {
  const auto allocate = [&] { return NPU_REAL(aclrtMemAllocManaged)(address, size, flag); };
  if (address == nullptr || size == 0) return allocate();
  return counted(address, rounded(size, kPage), true, allocate);
}

aclError aclrtFree(void* address) {
  const aclError status = NPU_REAL(aclrtFree)(address);
  if (status == ACL_SUCCESS) Allocations::all().remove(address);
  return status;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* properties, uint64_t flags) {
  const auto allocate = [&] {
    return NPU_REAL(aclrtMallocPhysical)(handle, size, properties, flags);
  };
  if (handle == nullptr || size == 0) return allocate();
  return counted(handle, rounded(size, kPage), false, allocate);
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  const aclError status = NPU_REAL(aclrtFreePhysical)(handle);
  if (status == ACL_SUCCESS) Allocations::all().remove(handle);
  return status;
}

aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t* free, size_t* total) {
  tell_quota();
  const aclError status = NPU_REAL(aclrtGetMemInfo)(attribute, free, total);
  if (status == ACL_SUCCESS && *total != 0) Allocations::all().show(free, total);
  return status;
}

aclError aclrtResetDevice(int32_t device) {
  const aclError status = NPU_REAL(aclrtResetDevice)(device);
  int32_t left = 0;
  if (status == ACL_SUCCESS && aclrtGetDevice(&left) != ACL_SUCCESS) Allocations::all().clear();
  return status;
}

aclError aclrtResetDeviceForce(int32_t device) {
  const aclError status = NPU_REAL(aclrtResetDeviceForce)(device);
  if (status == ACL_SUCCESS) Allocations::all().clear();
  return status;
}

aclError aclFinalize(void) {
  const aclError status = NPU_REAL(aclFinalize)();
  if (status == ACL_SUCCESS) Allocations::all().clear();
  return status;
}

aclError aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blocks, const void* args, size_t size,
                           aclrtStream stream) {
  bring(stream);
  return NPU_REAL(aclrtLaunchKernel)(function, blocks, args, size, stream);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg* config, aclrtArgsHandle args,
                                     void* reserved) {
  bring(stream);
  return NPU_REAL(aclrtLaunchKernelWithConfig)(function, blocks, stream, config, args, reserved);
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg* config, void* args,
                                       size_t size, aclrtPlaceHolderInfo* places, size_t count) {
  bring(stream);
  return NPU_REAL(aclrtLaunchKernelWithHostArgs)(function, blocks, stream, config, args, size,
                                                 places, count);
}

// Not changed; this library needs them of the library that the program has opened.
aclError aclrtGetDevice(int32_t* device) {
  return NPU_REAL(aclrtGetDevice)(device);
}

aclError npusimLimitMemory(uint64_t bytes) {
  auto* const limit = NPU_REAL(npusimLimitMemory);
  return limit == nullptr ? ACL_ERROR_API_NOT_SUPPORT : limit(bytes);
}

aclError aclrtMemManagedAdvise(const void* address, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
  return NPU_REAL(aclrtMemManagedAdvise)(address, size, advise, location);
}

aclError aclrtMemManagedPrefetchAsync(const void* address, size_t size,
                                      aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream) {
  return NPU_REAL(aclrtMemManagedPrefetchAsync)(address, size, location, flags, stream);
}

}  // extern "C"

namespace npu::share {
namespace {

template <class Function>
Hook hook_of(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

#define NPU_HOOK(name) hook_of(#name, &(name))
const Hook kHooks[] = {
    NPU_HOOK(aclrtMalloc),
    NPU_HOOK(aclrtMallocAlign32),
    NPU_HOOK(aclrtMallocCached),
    NPU_HOOK(aclrtMemAllocManaged),
    NPU_HOOK(aclrtFree),
    NPU_HOOK(aclrtMallocPhysical),
    NPU_HOOK(aclrtFreePhysical),
    NPU_HOOK(aclrtGetMemInfo),
    NPU_HOOK(aclrtResetDevice),
    NPU_HOOK(aclrtResetDeviceForce),
    NPU_HOOK(aclFinalize),
    NPU_HOOK(aclrtLaunchKernel),
    NPU_HOOK(aclrtLaunchKernelWithConfig),
    NPU_HOOK(aclrtLaunchKernelWithHostArgs),
    NPU_HOOK(aclrtGetDevice),
    NPU_HOOK(aclrtMemManagedAdvise),
    NPU_HOOK(aclrtMemManagedPrefetchAsync),
    NPU_HOOK(npusimLimitMemory),
};
static_assert(sizeof kHooks / sizeof *kHooks <= kMostHooks);

}  // namespace

const Hook* find_hook(const char* name) {
  if (std::strncmp(name, "acl", 3) != 0 && std::strncmp(name, "npusim", 6) != 0) return nullptr;
  for (const auto& hook : kHooks) {
    if (std::strcmp(hook.name, name) == 0) return &hook;
  }
  return nullptr;
}

std::size_t place_of(const Hook& hook) {
  return static_cast<std::size_t>(&hook - kHooks);
}

}  // namespace npu::share
