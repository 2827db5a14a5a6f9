// SPDX-License-Identifier: Apache-2.0
#include <acl/acl_rt.h>
#include <acl/npusim_memory.h>

#include "compat/acl/visible_devices.hpp"
#include "compat/client/copies.hpp"
#include "compat/client/pinned.hpp"
#include "compat/client/request.hpp"

using npu::compat::answer;
using npu::compat::ask;
using npu::compat::ask_for;
using npu::compat::Call;
using npu::compat::word;

namespace {

// `more`: bytes beyond those asked for.
aclError allocate(void** address, size_t size, aclrtMemMallocPolicy policy, size_t more) {
  constexpr size_t kGrain = 32;
  const auto number = static_cast<int>(policy);
  if (address == nullptr || size == 0 || number < 0 || number > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P) {
    return ACL_ERROR_INVALID_PARAM;
  }
  if (size > SIZE_MAX - 2 * kGrain) return ACL_ERROR_INVALID_PARAM;
  const size_t rounded = (size + kGrain - 1) / kGrain * kGrain + more;
  const auto how = static_cast<std::uint64_t>(policy) | more << npu::compat::kPaddingShift;
  return ask_for(address, Call::kMalloc, {rounded, how, 0});
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return allocate(address, size, policy, 32);
}

aclError aclrtMallocAlign32(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return allocate(address, size, policy, 0);
}

aclError aclrtMallocCached(void** address, size_t size, aclrtMemMallocPolicy policy) {
  return allocate(address, size, policy, 32);
}

aclError aclrtFree(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return ask(Call::kFree, {word(address)});
}

aclError aclrtMemset(void* address, size_t max, int32_t value, size_t count) {
  if (address == nullptr || count > max) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::fill_bytes(address, static_cast<std::uint8_t>(value), count, {});
}

aclError aclrtMemsetAsync(void* address, size_t max, int32_t value, size_t count,
                          aclrtStream stream) {
  if (address == nullptr || count > max) return ACL_ERROR_INVALID_PARAM;
  return npu::compat::fill_bytes(address, static_cast<std::uint8_t>(value), count, {true, stream});
}

aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) return ACL_ERROR_INVALID_PARAM;
  const int status = ask(Call::kGetMemInfo, {static_cast<std::uint64_t>(attribute)});
  if (status != ACL_SUCCESS) return status;
  *free = answer(0);
  *total = answer(1);
  return ACL_SUCCESS;
}

aclError npusimGetMemoryUse(npusim_memory_use* use) {
  if (use == nullptr) return ACL_ERROR_INVALID_PARAM;
  const int status = ask(Call::kMemoryUse);
  if (status == ACL_SUCCESS) *use = {answer(0), answer(1), answer(2), answer(3)};
  return status;
}

aclError npusimLimitMemory(uint64_t bytes) {
  return ask(Call::kLimitMemory, {bytes});
}

aclError aclrtPointerGetAttributes(const void* address, aclrtPtrAttributes* attributes) {
  if (address == nullptr || attributes == nullptr) return ACL_ERROR_INVALID_PARAM;
  *attributes = {};
  if (npu::compat::find_pinned(address)) {
    attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
    attributes->pageSize = 4096;
    return ACL_SUCCESS;
  }
  const int status = ask(Call::kPointerAttributes, {word(address)});
  if (status != ACL_SUCCESS) return status;
  attributes->location.type = static_cast<aclrtMemLocationType>(answer(0));
  attributes->pageSize = static_cast<std::uint32_t>(answer(2));
  attributes->location.id = npu::compat::own_device(answer(1));
  return ACL_SUCCESS;
}

}  // extern "C"
