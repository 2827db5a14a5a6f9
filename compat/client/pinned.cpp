// SPDX-License-Identifier: Apache-2.0
#include "compat/client/pinned.hpp"

#include <sys/mman.h>

#include <map>
#include <mutex>

#include "compat/client/request.hpp"

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
Table*& current_table() {
  static Table* current = new Table;
  return current;
}
Table& table() {
  return *current_table();
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

int allocate_pinned(void** address, std::size_t size) {
  const int status = ask(Call::kMallocHost, {size});
  if (status != 0) return status;
  const std::uint64_t number = answer();
  std::size_t mapped = 0;
  void* const memory = channel_of_this_thread()->take_memory(&mapped);
  if (memory == nullptr) {
    ask(Call::kFreeHost, {number});
    return kBadAllocation;
  }
  const std::lock_guard<std::mutex> held(table().lock);
  table().memories[reinterpret_cast<std::uintptr_t>(memory)] = {number, mapped};
  *address = memory;
  return 0;
}

// Another thread of the parent's may have held the lock.
void forget_pinned() {
  current_table() = new Table;
}

int free_pinned(void* address) {
  Memory memory;
  {
    const std::lock_guard<std::mutex> held(table().lock);
    const auto found = table().memories.find(reinterpret_cast<std::uintptr_t>(address));
    if (found == table().memories.end()) return kRuntimeParameter;
    memory = found->second;
    table().memories.erase(found);
  }
  const int status = ask(Call::kFreeHost, {memory.number});
  ::munmap(address, memory.size);
  return status;
}

}  // namespace npu::compat
