// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/managed_view.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "apps/compat/client/page_faults.hpp"
#include "apps/compat/client/request.hpp"
#include "apps/compat/client/signals_held.hpp"
#include "apps/compat/protocol/futex.hpp"
#include "apps/compat/protocol/managed_view.hpp"

namespace npu::compat {
namespace {

// Of a parent that is about to fork: what it has, and which of that it may read.
struct Snapshot {
  std::vector<wire::Pages> allocated, readable;
};
// A page that a handler has touched while its thread is in a call: the thread behind the ring asks
// for it.
struct Errand {
  std::mutex lock;  // of those who have one
  std::atomic<std::uint32_t> waits{0};
  std::uint64_t page = 0;
  bool write = false;
  bool done = false;
};

// What the program has, for its life: threads may be in calls at its end.
struct ManagedView {
  std::mutex making;
  std::mutex rights;                     // while they are given or taken
  std::atomic<ViewRing*> ring{nullptr};  // null: no managed memory yet
  // What a parent had, in order: ordinary memory. Only a child of fork() changes it, alone.
  std::vector<wire::Pages>* inherited = nullptr;
  Snapshot* snapshot = nullptr;
  Errand errand;
};

ManagedView view;

constexpr long kMillisecond = 1'000'000, kHour = 3600'000 * kMillisecond;  // ns

char* at_page(std::uint64_t page) {
  return reinterpret_cast<char*>(kManagedBegin + page * kManagedPage);
}

bool protect(std::uint64_t first, std::uint64_t count, Rights rights) {
  const int protection = rights == Rights::kNone   ? PROT_NONE
                         : rights == Rights::kRead ? PROT_READ
                                                   : PROT_READ | PROT_WRITE;
  return ::mprotect(at_page(first), count * kManagedPage, protection) == 0;
}

// What the page's entries from `since` on have left of the rights.
Rights left_of(const ViewRing& served, std::uint64_t page, Rights rights, std::uint32_t since) {
  const auto posted = served.posted.load(std::memory_order_seq_cst);
  if (posted - since > ViewRing::kEntries) return Rights::kNone;  // some are gone: it asks again
  for (auto number = since; number != posted; ++number) {
    const auto& entry = served.entries[number % ViewRing::kEntries];
    if (page - entry.first < entry.count) rights = std::min(rights, entry.rights);
  }
  return rights;
}

// An answer's, made when there had been `entries`. What was taken away since then stays so.
bool give(const wire::Pages& pages, std::uint64_t given, std::uint64_t entries) {
  const auto& served = *view.ring.load();
  const auto rights = static_cast<Rights>(given);
  const auto since = static_cast<std::uint32_t>(entries);
  const Locked held(view.rights);
  const auto end = pages.first + pages.count;
  for (auto first = pages.first; first != end;) {
    const auto left = left_of(served, first, rights, since);
    auto next = first + 1;
    while (next != end && left_of(served, next, rights, since) == left) ++next;
    if (left != Rights::kNone && !protect(first, next - first, left)) return false;
    first = next;
  }
  return true;
}

// --- The thread that takes rights away ---------------------------------------------------------

bool ask_for_page(std::uint64_t page, bool write) {
  const OnDevice any;
  wire::TouchedPage touched;
  const int status =
      ask<Call::kManagedTouch>({kManagedBegin + page * kManagedPage, write}, &touched);
  return status == 0 && give({page, 1}, touched.rights, touched.since);
}

void* serve_ring(void*) {
  auto& served = *view.ring.load();
  served.thread.store(static_cast<std::int32_t>(::syscall(SYS_gettid)));
  for (;;) {
    const auto posted = served.posted.load(std::memory_order_seq_cst);
    auto done = served.done.load(std::memory_order_relaxed);
    if (done == posted && view.errand.waits.load() == 0) {
      futex_wait(served.posted, posted, kHour);
      continue;
    }
    for (; done != posted; ++done) {
      const auto entry = served.entries[done % ViewRing::kEntries];
      const Locked held(view.rights);
      protect(entry.first, entry.count, entry.rights);
      served.done.store(done + 1, std::memory_order_seq_cst);
      futex_wake(served.done);
    }
    if (view.errand.waits.load() == 0) continue;
    view.errand.done = ask_for_page(view.errand.page, view.errand.write);
    view.errand.waits.store(0);
    futex_wake(view.errand.waits);
  }
}

bool send_for_page(ViewRing& served, std::uint64_t page, bool write) {
  const std::lock_guard<std::mutex> held(view.errand.lock);
  view.errand.page = page;
  view.errand.write = write;
  view.errand.waits.store(1);
  // It may be about to sleep: it is woken until it has seen the view.errand.
  while (view.errand.waits.load() != 0) {
    futex_wake(served.posted);
    futex_wait(view.errand.waits, 1, kMillisecond);
  }
  return view.errand.done;
}

bool start_thread() {
  const SignalsHeld held;  // which the thread inherits: handlers are for the program's threads
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, serve_ring, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  if (started) pthread_setname_np(thread, "npusim pages");
  return started;
}

// Of a child: where memory of its own may begin.
std::uint64_t pages_inherited() {
  if (view.inherited == nullptr || view.inherited->empty()) return 0;
  return view.inherited->back().first + view.inherited->back().count;
}

// The file that came with the answer. `begin`: its first page that is not a parent's.
bool map_view(int file, std::uint64_t begin) {
  const auto offset = begin * kManagedPage;
  void* const place = at_page(begin);
  const int flags = MAP_SHARED | MAP_NORESERVE | (begin == 0 ? MAP_FIXED_NOREPLACE : MAP_FIXED);
  void* const pages =
      ::mmap(place, kManagedBytes - offset, PROT_NONE, flags, file, static_cast<off_t>(offset));
  if (pages == MAP_FAILED) return false;
  void* const behind = ::mmap(nullptr, kViewRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                              static_cast<off_t>(kManagedBytes));
  if (pages == place && behind != MAP_FAILED) {
    ::madvise(pages, kManagedBytes - offset, MADV_DONTDUMP);
    view.ring.store(static_cast<ViewRing*>(behind));
    if (start_thread()) {
      catch_page_faults();
      return true;
    }
    view.ring.store(nullptr);
  }
  ::munmap(pages, kManagedBytes - offset);
  if (behind != MAP_FAILED) ::munmap(behind, kViewRingBytes);
  return false;
}

bool is_inherited(std::uint64_t page) {
  if (view.inherited == nullptr) return false;
  return std::any_of(view.inherited->begin(), view.inherited->end(),
                     [page](const wire::Pages& pages) { return page - pages.first < pages.count; });
}

bool fault_in_page(std::uint64_t page, bool write) {
  if (is_inherited(page)) return protect(page, 1, Rights::kReadWrite);  // nobody had touched it
  auto* const served = view.ring.load();
  if (served == nullptr) return false;
  Channel* const channel = channel_of_this_thread();
  if (channel == nullptr) return false;
  return channel->in_call() ? send_for_page(*served, page, write) : ask_for_page(page, write);
}

}  // namespace

int allocate_managed(void** address, std::uint64_t size, bool heap, std::uint64_t module) {
  const Locked held(view.making);
  wire::ManagedAddress made;
  const int status = ask<Call::kMallocManaged>({size, heap, pages_inherited(), module}, &made);
  if (status != 0) return status;
  *address = pointer(made.address);
  if (made.with_view == 0) return 0;
  const FileDescriptor file = channel_of_this_thread()->take_file();
  errno = 0;
  if (file && map_view(file.get(), pages_inherited())) return 0;
  if (file && errno == EEXIST) {
    // A sanitizer has the addresses: the memory is there, for calls alone.
    static constexpr char kLine[] =
        "npusim: managed memory is no memory of this process: a sanitizer has its addresses\n";
    static_cast<void>(!::write(STDERR_FILENO, kLine, sizeof kLine - 1));
    return 0;
  }
  ask<Call::kFree>({word(*address)});
  *address = nullptr;
  return kBadAllocation;
}

bool may_be_managed(const void* begin, std::size_t count) {
  if (view.ring.load() == nullptr && view.inherited == nullptr) return false;
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  return count != 0 && from < kManagedBegin + kManagedBytes &&
         (from >= kManagedBegin || count > kManagedBegin - from);
}

bool touch_managed(const void* begin, std::size_t count, bool write) {
  if (!may_be_managed(begin, count)) return false;
  const auto from = reinterpret_cast<std::uintptr_t>(begin), last = from + (count - 1);
  if (from < kManagedBegin || last < from || last >= kManagedBegin + kManagedBytes) return false;
  for (auto page = (from - kManagedBegin) / kManagedPage;
       page <= (last - kManagedBegin) / kManagedPage; ++page) {
    if (!fault_in_page(page, write)) return false;
  }
  return true;
}

// --- Children ----------------------------------------------------------------------------------

bool prepare_managed_fork() {
  delete std::exchange(view.snapshot, nullptr);
  Channel* const channel = view.ring.load() == nullptr ? nullptr : channel_of_this_thread();
  const OnDevice any;
  wire::ManagedHome home;
  if (channel == nullptr || channel->in_call() || ask<Call::kManagedHome>({}, &home) != 0) {
    return false;
  }
  view.snapshot = new Snapshot;
  const auto* const allocated = reinterpret_cast<const wire::Pages*>(channel->window());
  view.snapshot->allocated.assign(allocated, allocated + home.allocations);
  const auto* const runs = reinterpret_cast<const wire::PagesInUse*>(allocated + home.allocations);
  std::for_each(runs, runs + home.runs, [&home](const wire::PagesInUse& run) {
    give(run.pages, run.rights, home.since);
    view.snapshot->readable.push_back(run.pages);
  });
  return true;
}

void managed_fork_in_child() {
  const bool had_view = view.ring.exchange(nullptr) != nullptr;
  if (!had_view) return;          // what it has is copied by the kernel
  new (&view.rights) std::mutex;  // whose holder may not be here
  const auto begin = pages_inherited();
  std::vector<void*> copies;
  if (view.snapshot != nullptr) {
    for (const auto& pages : view.snapshot->readable) {
      const auto bytes = pages.count * kManagedPage;
      void* const copy = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      // A card may have it again; the bytes are those that it has come home with.
      const bool readable = protect(pages.first, pages.count, Rights::kRead);
      if (copy != MAP_FAILED && readable) std::memcpy(copy, at_page(pages.first), bytes);
      copies.push_back(copy);
    }
  }
  const void* const nothing =
      ::mmap(at_page(begin), kManagedBytes - begin * kManagedPage, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (view.snapshot == nullptr || nothing == MAP_FAILED) return;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const auto bytes = view.snapshot->readable[i].count * kManagedPage;
    if (copies[i] == MAP_FAILED) continue;
    ::mremap(copies[i], bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
             at_page(view.snapshot->readable[i].first));
  }
  if (view.inherited == nullptr) view.inherited = new std::vector<wire::Pages>;
  view.inherited->insert(view.inherited->end(), view.snapshot->allocated.begin(),
                         view.snapshot->allocated.end());
  delete std::exchange(view.snapshot, nullptr);
}

}  // namespace npu::compat
