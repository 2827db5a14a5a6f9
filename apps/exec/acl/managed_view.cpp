// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/managed_view.hpp"

#include <sys/mman.h>

#include <utility>

#include "apps/compat/protocol/futex.hpp"
#include "apps/exec/host/thread_states.hpp"

namespace npu::exec::acl {
namespace {

using compat::kManagedBegin;
using compat::kManagedPage;
using compat::ViewRing;

constexpr unsigned kLooks = 300;         // before it sleeps
constexpr long kSlice = 1'000'000;       // ns, after which it looks whether the thread is there
constexpr unsigned kMostSlices = 10000;  // of a thread that is at work

}  // namespace

ManagedView::ManagedView(pid_t program, SharedMemory memory)
    : program_(program), memory_(std::move(memory)) {
  new (&ring()) ViewRing;
}

Result<std::unique_ptr<ManagedView>> ManagedView::make(pid_t program) {
  auto memory = SharedMemory::make(compat::kViewBytes);
  if (!memory) return forward_error(memory);
  return std::unique_ptr<ManagedView>(new ManagedView(program, std::move(*memory)));
}

ViewRing& ManagedView::ring() const {
  return *reinterpret_cast<ViewRing*>(memory_.bytes().data + compat::kManagedBytes);
}

ByteSpan ManagedView::pages(std::uint64_t first, std::uint64_t count) const {
  return {memory_.bytes().data + (first - kManagedBegin),
          static_cast<std::size_t>(count * kManagedPage)};
}

Status ManagedView::give(Channel& channel) {
  auto sent = channel.send(memory_);
  if (!sent) return sent;
  memory_.close_file();
  given_ = true;
  return {};
}

Result<ByteSpan> ManagedView::memory_of(std::uint64_t page) {
  return pages(page, 1);
}

void ManagedView::forget(std::uint64_t first, std::uint64_t count) {
  const auto gone = pages(first, count);
  ::madvise(gone.data, gone.size, MADV_REMOVE);
}

// A program that is stopped uses no right before it goes on, and then its thread goes on, too.
bool ManagedView::is_at_work() const {
  const auto thread = ring().thread.load(std::memory_order_seq_cst);
  if (thread == 0) return false;
  const char state = state_of_thread(program_, thread);
  return state != 'X' && state != 'Z' && state != 'T' && state != 't';
}

void ManagedView::wait_until(std::uint32_t done) {
  const auto there = [&] {
    const auto now = ring().done.load(std::memory_order_seq_cst);
    return static_cast<std::int32_t>(now - done) >= 0;
  };
  for (unsigned look = 0; look < kLooks; ++look) {
    if (there()) return;
    compat::pause_core();
  }
  for (unsigned slices = 0; !silent_ && !there(); ++slices) {
    if (!is_at_work()) return;
    const auto seen = ring().done.load(std::memory_order_seq_cst);
    if (!there()) compat::futex_wait(ring().done, seen, kSlice);
    silent_ = slices == kMostSlices;
  }
}

void ManagedView::limit(std::uint64_t first, std::uint64_t count, driver::Access rights) {
  if (!given_) return;
  wait_until(posted_ + 1 - ViewRing::kEntries);
  auto& entry = ring().entries[posted_ % ViewRing::kEntries];
  entry.first = (first - kManagedBegin) / kManagedPage;
  entry.count = static_cast<std::uint32_t>(count);
  entry.rights = static_cast<compat::Rights>(rights);
  ring().posted.store(++posted_, std::memory_order_seq_cst);
  compat::futex_wake(ring().posted);
  wait_until(posted_);
}

}  // namespace npu::exec::acl
