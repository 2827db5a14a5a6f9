// SPDX-License-Identifier: Apache-2.0
#include "compat/client/pinned.hpp"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>

#include "compat/client/own_memory.hpp"
#include "compat/client/request.hpp"
#include "compat/client/signals_held.hpp"

namespace npu::compat {
namespace {

constexpr std::size_t kPage = 4096;

struct Memory {
  std::uint64_t number = 0;
  std::size_t size = 0;    // bytes that the program has named
  std::size_t before = 0;  // that its first page has in front of them
  bool registered = false;

  std::size_t whole() const { return (before + size + kPage - 1) / kPage * kPage; }
};

// Left alone at the process' end: threads may still be in calls.
struct Table {
  std::mutex lock;
  std::map<std::uintptr_t, Memory> memories;  // by the address that the program knows

  // Whether pages of [begin, begin + size) are among them.
  bool meets(std::uintptr_t begin, std::size_t size) const {
    auto next = memories.lower_bound(begin + size);
    if (next == memories.begin()) return false;
    --next;
    return next->first - next->second.before + next->second.whole() > begin;
  }
};
Table*& current_table() {
  static Table* current = new Table;
  return current;
}
Table& table() {
  return *current_table();
}

// Pages elsewhere take the place of those at `begin`, with their bytes.
bool replace(std::uintptr_t begin, std::size_t size, void* pages) {
  auto* const there = reinterpret_cast<void*>(begin);
  return ::mremap(pages, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there;
}

// Pages of the process' own for those that npusim has mapped.
bool make_ordinary(std::uintptr_t begin, std::size_t size) {
  void* const pages =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return false;
  std::memcpy(pages, reinterpret_cast<const void*>(begin), size);
  if (replace(begin, size, pages)) return true;
  ::munmap(pages, size);
  return false;
}

}  // namespace

std::optional<PinnedPlace> find_pinned(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const Locked held(table().lock);
  auto found = table().memories.upper_bound(at);
  if (found == table().memories.begin()) return std::nullopt;
  --found;
  const std::size_t offset = at - found->first;
  if (offset >= found->second.size) return std::nullopt;
  return PinnedPlace{found->second.number, found->second.before + offset,
                     found->second.size - offset};
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
  const Locked held(table().lock);
  table().memories[reinterpret_cast<std::uintptr_t>(memory)] = {number, mapped, 0, false};
  *address = memory;
  return 0;
}

int register_pinned(void* address, std::size_t size) {
  Memory memory;
  memory.size = size;
  memory.before = reinterpret_cast<std::uintptr_t>(address) % kPage;
  memory.registered = true;
  if (size > SIZE_MAX - 2 * kPage) return kRuntimeParameter;
  const auto begin = reinterpret_cast<std::uintptr_t>(address) - memory.before;
  const auto whole = memory.whole();
  {
    const Locked held(table().lock);
    if (table().meets(begin, whole)) return kRuntimeParameter;
  }
  const int status = ask(Call::kRegisterHost, {whole});
  if (status != 0) return status;
  memory.number = answer();
  std::size_t mapped = 0;
  void* const pages = channel_of_this_thread()->take_memory(&mapped);
  auto* const own = reinterpret_cast<void*>(begin);
  // Written to as well, so that memory that is only to be read is refused.
  const bool there = pages != nullptr && mapped == whole && read_own(pages, own, whole) &&
                     write_own(own, pages, whole) && replace(begin, whole, pages);
  if (!there) {
    if (pages != nullptr) ::munmap(pages, mapped);
    ask(Call::kFreeHost, {memory.number});
    return pages == nullptr ? kBadAllocation : kRuntimeParameter;
  }
  const Locked held(table().lock);
  table().memories[reinterpret_cast<std::uintptr_t>(address)] = memory;
  return 0;
}

namespace {

// Takes it off the table. 107000: it is not there, or of the other kind.
int take(void* address, bool registered, Memory* memory) {
  const Locked held(table().lock);
  const auto found = table().memories.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == table().memories.end() || found->second.registered != registered) {
    return kRuntimeParameter;
  }
  *memory = found->second;
  table().memories.erase(found);
  return 0;
}

}  // namespace

int unregister_pinned(void* address) {
  Memory memory;
  if (const int status = take(address, true, &memory); status != 0) return status;
  const auto begin = reinterpret_cast<std::uintptr_t>(address) - memory.before;
  if (!make_ordinary(begin, memory.whole())) return kBadAllocation;
  return ask(Call::kFreeHost, {memory.number});
}

int free_pinned(void* address) {
  Memory memory;
  if (const int status = take(address, false, &memory); status != 0) return status;
  const int status = ask(Call::kFreeHost, {memory.number});
  ::munmap(address, memory.size);
  return status;
}

// Another thread of the parent's may have held the lock, and is not there to change anything.
void forget_pinned() {
  const Table& of_parent = table();
  current_table() = new Table;
  for (const auto& [address, memory] : of_parent.memories) {
    if (memory.registered) make_ordinary(address - memory.before, memory.whole());
  }
}

}  // namespace npu::compat
