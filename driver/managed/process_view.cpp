// SPDX-License-Identifier: Apache-2.0
// A file of the kernel's, mapped twice: with all rights for the driver, and at the managed
// addresses with those that the process has now.
#include "npu/driver/process_view.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "driver/memory/virtual_ranges.hpp"
#include "npu/base/fault_access.hpp"

namespace npu::driver {
namespace {

constexpr std::uint64_t kBegin = VirtualRanges::kManagedBegin;
constexpr Bytes kSize = VirtualRanges::kManagedSize;

std::byte* managed(std::uint64_t at) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(at));
}

bool allow(std::uint64_t first, std::uint64_t count, Access rights) {
  const int protection = rights == Access::kNone   ? PROT_NONE
                         : rights == Access::kRead ? PROT_READ
                                                   : PROT_READ | PROT_WRITE;
  return ::mprotect(managed(first), count * kPageSize, protection) == 0;
}

}  // namespace

struct ProcessView::Impl {
  explicit Impl(Touch function) : touch(std::move(function)) {}
  ~Impl();
  Status map();
  // Whether the access is made again.
  bool fault_in(std::uint64_t at, bool write) const;

  static void on_fault(int signal, siginfo_t* info, void* context);
  static std::atomic<Impl*> only;

  const Touch touch;
  std::byte* memory = nullptr;  // all of it, for the driver
  std::optional<std::vector<PageRights>> of_child;
  bool shown = false;  // at the managed addresses
  struct sigaction before {};
};

std::atomic<ProcessView::Impl*> ProcessView::Impl::only{nullptr};

bool ProcessView::Impl::fault_in(std::uint64_t at, bool write) const {
  if (at < kBegin || at - kBegin >= kSize) return false;
  const auto rights = touch(DeviceAddress{at}, write);
  return rights && allow(at / kPageSize * kPageSize, 1, *rights);
}

void ProcessView::Impl::on_fault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto* const view = only.load();
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool brought = view != nullptr && info->si_code == SEGV_ACCERR &&
                       view->fault_in(at, is_write_fault(context));
  errno = error;
  if (brought || view == nullptr) return;
  if (at >= kBegin && at - kBegin < kSize) {
    static constexpr char kLine[] = "npu: managed memory was touched where it cannot be brought\n";
    static_cast<void>(!::write(STDERR_FILENO, kLine, sizeof kLine - 1));
  }
  const auto& action = view->before;
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
    action.sa_handler(signal);
  } else if (info->si_code > 0 || action.sa_handler == SIG_DFL) {
    // The access is made again, and ends the process; so does a signal that somebody has sent.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  }
}

Status ProcessView::Impl::map() {
  const int file = ::memfd_create("npu managed", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(kSize)) != 0) {
    if (file >= 0) ::close(file);
    return fail(ErrorCode::kOutOfMemory, fmt::format("a file of memory: {}", std::strerror(errno)));
  }
  void* const all =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (all != MAP_FAILED) memory = static_cast<std::byte*>(all);
  void* const there = ::mmap(managed(kBegin), kSize, PROT_NONE,
                             MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
  ::close(file);
  shown = there == managed(kBegin);
  if (there != MAP_FAILED && !shown) ::munmap(there, kSize);
  if (memory == nullptr || !shown) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("{:#x} .. {:#x} cannot be managed memory of this process", kBegin,
                            kBegin + kSize));
  }
  ::madvise(there, kSize, MADV_DONTDUMP);
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER;  // the handler waits, and others run meanwhile
  return ::sigaction(SIGSEGV, &ours, &before) == 0
             ? Status{}
             : fail(ErrorCode::kOutOfResources, "no handler of SIGSEGV");
}

ProcessView::Impl::~Impl() {
  if (only.load() == this) {
    struct sigaction now {};
    const bool ours = ::sigaction(SIGSEGV, nullptr, &now) == 0 &&
                      (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault;
    if (ours) ::sigaction(SIGSEGV, &before, nullptr);
    only.store(nullptr);
  }
  if (shown) ::munmap(managed(kBegin), kSize);
  if (memory != nullptr) ::munmap(memory, kSize);
}

ProcessView::ProcessView(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProcessView::~ProcessView() = default;

Result<std::unique_ptr<ProcessView>> ProcessView::make(Touch touch) {
  auto impl = std::make_unique<Impl>(std::move(touch));
  Impl* none = nullptr;
  if (!Impl::only.compare_exchange_strong(none, impl.get())) {
    return fail(ErrorCode::kAlreadyExists, "the process has a view of managed memory");
  }
  if (auto mapped = impl->map(); !mapped) return forward_error(mapped);
  return std::unique_ptr<ProcessView>(new ProcessView(std::move(impl)));
}

Status ProcessView::fault_in(DeviceAddress at, Bytes size, bool write) {
  const auto end = at.value + size;
  for (auto page = at.value / kPageSize * kPageSize; page < end; page += kPageSize) {
    const auto rights = impl_->touch(DeviceAddress{std::max(page, at.value)}, write);
    if (!rights) return forward_error(rights);
    if (!allow(page, 1, *rights)) return fail(ErrorCode::kOutOfMemory, "no right to a page");
  }
  return {};
}

void ProcessView::before_fork(std::optional<std::vector<PageRights>> pages) {
  impl_->of_child = std::move(pages);
}

// The file is its parent's: it keeps copies.
bool ProcessView::in_child() {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  const int rights = impl_->of_child ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (::mmap(managed(kBegin), kSize, rights, flags, -1, 0) == MAP_FAILED) {
    return allow(kBegin, kSize / kPageSize, Access::kNone) && false;
  }
  if (!impl_->of_child) return true;
  for (const auto& page : *impl_->of_child) {
    std::memcpy(managed(page.at.value), impl_->memory + (page.at.value - kBegin), kPageSize);
  }
  return true;
}

Result<ByteSpan> ProcessView::memory_of(std::uint64_t page) {
  return ByteSpan{impl_->memory + (page - kBegin), kPageSize};
}

void ProcessView::limit(std::uint64_t first, std::uint64_t count, Access rights) {
  allow(first, count, rights);
}

void ProcessView::forget(std::uint64_t first, std::uint64_t count) {
  ::madvise(impl_->memory + (first - kBegin), count * kPageSize, MADV_REMOVE);
}

}  // namespace npu::driver
