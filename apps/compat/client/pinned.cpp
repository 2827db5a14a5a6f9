// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/pinned.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>

#include "apps/compat/client/managed_view.hpp"
#include "apps/compat/client/own_memory.hpp"
#include "apps/compat/client/request.hpp"
#include "apps/compat/client/signals_held.hpp"
#include "apps/compat/client/watched_pinned.hpp"

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
  // What is registered of memory that was allocated here: address and number of that.
  std::map<std::uintptr_t, std::uint64_t> registered;

  // Whether pages of [begin, begin + size) are among them.
  bool meets(std::uintptr_t begin, std::size_t size) const {
    auto next = memories.lower_bound(begin + size);
    if (next == memories.begin()) return false;
    --next;
    return next->first - next->second.before + next->second.whole() > begin;
  }
};
Table& table() {
  static Table* const kTable = new Table;
  return *kTable;
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
  // By the kernel: AddressSanitizer would object to what lies beside the program's bytes.
  if (read_own(pages, reinterpret_cast<const void*>(begin), size) && replace(begin, size, pages)) {
    return true;
  }
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
                     found->second.size - offset, offset, found->second.registered};
}

int allocate_pinned(void** address, std::size_t size) {
  std::uint64_t number = 0;
  const int status = ask_for<Call::kMallocHost>(&number, {size});
  if (status != 0) return status;
  std::size_t mapped = 0;
  void* const memory = channel_of_this_thread()->take_memory(&mapped);
  if (memory == nullptr) {
    ask<Call::kFreeHost>({number});
    return kBadAllocation;
  }
  const Locked held(table().lock);
  table().memories[reinterpret_cast<std::uintptr_t>(memory)] = {number, mapped, 0, false};
  *address = memory;
  return 0;
}

namespace {

// kRuntimeParameter: it is registered already, or not all of it is such memory.
int register_allocated(void* address, std::size_t size, const PinnedPlace& place) {
  if (place.left < size) return kRuntimeParameter;
  const Locked held(table().lock);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return table().registered.emplace(at, place.memory).second ? 0 : kRuntimeParameter;
}

}  // namespace

int register_pinned(void* address, std::size_t size) {
  if (const auto place = find_pinned(address); place && !place->registered) {
    return register_allocated(address, size, *place);
  }
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
  auto* const own = reinterpret_cast<void*>(begin);
  if (may_be_managed(own, whole) || !is_data(own, whole)) return kRuntimeParameter;
  const int status = ask_for<Call::kRegisterHost>(&memory.number, {whole});
  if (status != 0) return status;
  std::size_t mapped = 0;
  void* const pages = channel_of_this_thread()->take_memory(&mapped);
  const bool there = pages != nullptr && mapped == whole && read_own(pages, own, whole) &&
                     replace(begin, whole, pages);
  if (!there) {
    if (pages != nullptr) ::munmap(pages, mapped);
    ask<Call::kFreeHost>({memory.number});
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

// With the memory what is registered of it goes.
void forget_registered(std::uint64_t number) {
  const Locked held(table().lock);
  auto& registered = table().registered;
  for (auto each = registered.begin(); each != registered.end();) {
    each = each->second == number ? registered.erase(each) : std::next(each);
  }
}

}  // namespace

int device_pointer(const void* host, void** device) {
  const auto place = find_pinned(host);
  if (!place) return kRuntimeParameter;
  std::uint64_t begin = 0;
  const int status = ask_for<Call::kMapHost>(&begin, {place->memory});
  if (status == 0) *device = reinterpret_cast<void*>(begin + place->offset);
  return status;
}

int unregister_pinned(void* address) {
  std::uint64_t allocated = 0;
  {
    const Locked held(table().lock);
    const auto known = table().registered.extract(reinterpret_cast<std::uintptr_t>(address));
    if (!known.empty()) allocated = known.mapped();
    // Kernels reach the memory as long as any of it is registered.
    for (const auto& [other, number] : table().registered) {
      if (allocated != 0 && number == allocated) return 0;
    }
  }
  if (allocated != 0) return ask<Call::kUnmapHost>({allocated});
  Memory memory;
  if (const int status = take(address, true, &memory); status != 0) return status;
  const auto begin = reinterpret_cast<std::uintptr_t>(address) - memory.before;
  watch_nothing();
  if (!make_ordinary(begin, memory.whole())) return kBadAllocation;
  return ask<Call::kFreeHost>({memory.number});
}

int free_pinned(void* address) {
  Memory memory;
  if (const int status = take(address, false, &memory); status != 0) return status;
  forget_registered(memory.number);
  const int status = ask<Call::kFreeHost>({memory.number});
  watch_nothing();
  ::munmap(address, memory.size);
  return status;
}

namespace {

// On which a parent waits until its child has copies of what is registered; -1: nothing is.
int fork_pipe[2] = {-1, -1};

bool any_registered() {
  const auto& memories = table().memories;
  return std::any_of(memories.begin(), memories.end(),
                     [](const auto& each) { return each.second.registered; });
}

void close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

}  // namespace

void prepare_fork() {
  watch_nothing();
  table().lock.lock();
  const bool managed = prepare_managed_fork();
  if ((managed || any_registered()) && ::pipe2(fork_pipe, O_CLOEXEC) != 0)
    fork_pipe[0] = fork_pipe[1] = -1;
}

// There is nothing to read: the child closes its end, if there is a child.
void fork_in_parent() {
  close_end(fork_pipe[1]);
  char nothing = 0;
  while (fork_pipe[0] >= 0 && ::read(fork_pipe[0], &nothing, 1) < 0 && errno == EINTR) {
  }
  close_end(fork_pipe[0]);
  table().lock.unlock();
}

// Registered pages are the parent's as well until they are replaced, and there may be anything of
// the program's in them: nothing is allocated before.
void fork_in_child() {
  for (const auto& [address, memory] : table().memories) {
    if (memory.registered) make_ordinary(address - memory.before, memory.whole());
  }
  managed_fork_in_child();
  close_end(fork_pipe[0]);
  close_end(fork_pipe[1]);
  table().memories.clear();
  table().registered.clear();
  table().lock.unlock();
}

}  // namespace npu::compat
