// SPDX-License-Identifier: Apache-2.0
#include "compat/acl/pinned.hpp"

#include <acl/acl_rt.h>
#include <sys/mman.h>

#include <map>
#include <mutex>

#include "compat/acl/request.hpp"

namespace npu::compat {
namespace {

struct Memory {
  std::uint64_t number = 0;
  std::size_t size = 0;
};

// Left alone at the process' end: threads may still be in calls.
struct Table {
  std::mutex lock;
  std::map<std::uintptr_t, Memory> memories;
};
Table& table() {
  static Table* const kTable = new Table;
  return *kTable;
}

}  // namespace

std::optional<PinnedPlace> find_pinned(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard<std::mutex> held(table().lock);
  auto found = table().memories.upper_bound(at);
  if (found == table().memories.begin()) return std::nullopt;
  --found;
  const std::size_t offset = at - found->first;
  if (offset >= found->second.size) return std::nullopt;
  return PinnedPlace{found->second.number, offset, found->second.size - offset};
}

}  // namespace npu::compat

using npu::compat::answer;
using npu::compat::ask;
using npu::compat::Call;
using npu::compat::Channel;
using npu::compat::table;

extern "C" {

aclError aclrtMallocHost(void** address, size_t size) {
  if (address == nullptr || size == 0) return ACL_ERROR_INVALID_PARAM;
  const int status = ask(Call::kMallocHost, {size});
  if (status != ACL_SUCCESS) return status;
  const std::uint64_t number = answer();
  std::size_t mapped = 0;
  void* const memory = Channel::of_this_thread()->take_memory(&mapped);
  if (memory == nullptr) {
    ask(Call::kFreeHost, {number});
    return ACL_ERROR_BAD_ALLOC;
  }
  const std::lock_guard<std::mutex> held(table().lock);
  table().memories[reinterpret_cast<std::uintptr_t>(memory)] = {number, mapped};
  *address = memory;
  return ACL_SUCCESS;
}

aclError aclrtFreeHost(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  npu::compat::Memory memory;
  {
    const std::lock_guard<std::mutex> held(table().lock);
    const auto found = table().memories.find(reinterpret_cast<std::uintptr_t>(address));
    if (found == table().memories.end()) return ACL_ERROR_RT_PARAM_INVALID;
    memory = found->second;
    table().memories.erase(found);
  }
  const int status = ask(Call::kFreeHost, {memory.number});
  ::munmap(address, memory.size);
  return status;
}

}  // extern "C"
