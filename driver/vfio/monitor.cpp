// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/monitor.hpp"

#include <linux/vfio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace npu::driver::vfio {
namespace {

constexpr std::uint64_t kStop = 0;

bool add_to(int poll, int event, std::uint64_t id) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.u64 = id;
  return ::epoll_ctl(poll, EPOLL_CTL_ADD, event, &wanted) == 0;
}

}  // namespace

Monitor::~Monitor() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  const auto written = ::write(stop_.get(), &one, sizeof one);
  static_cast<void>(written);
  thread_.join();
}

void Monitor::watch(const std::shared_ptr<Function>& function) {
  auto request = function->subscribe(VFIO_PCI_REQ_IRQ_INDEX);
  auto error = function->subscribe(VFIO_PCI_ERR_IRQ_INDEX);
  if (!request && !error) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!start()) return;
  drop_expired();
  add(std::move(request), function, "the kernel wants it back");
  add(std::move(error), function, "the kernel has reported an uncorrectable error of it");
}

// The thread begins with the first function.
bool Monitor::start() {
  if (thread_.joinable()) return true;
  poll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  stop_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!poll_ || !stop_ || !add_to(poll_.get(), stop_.get(), kStop)) {
    return false;
  }
  try {
    thread_ = std::thread([this] { listen(); });
  } catch (const std::system_error&) {
    return false;  // then a function that goes away is found out by its all-ones answers
  }
  return true;
}

void Monitor::add(FileDescriptor event, const std::shared_ptr<Function>& function,
                  const char* reason) {
  if (!event) return;
  const auto id = next_id_++;
  if (!add_to(poll_.get(), event.get(), id)) return;
  watched_.emplace(id, Watched{std::move(event), function, reason});
}

void Monitor::drop_expired() {
  for (auto it = watched_.begin(); it != watched_.end();) {
    it = it->second.function.expired() ? watched_.erase(it) : std::next(it);
  }
}

void Monitor::listen() {
  for (;;) {
    epoll_event event{};
    const int count = ::epoll_wait(poll_.get(), &event, 1, -1);
    if (count < 0 && errno != EINTR) return;
    if (count != 1) continue;
    if (event.data.u64 == kStop) return;
    hear(event.data.u64);
  }
}

// Nothing holds on to the function when `lost_` is called.
void Monitor::hear(std::uint64_t id) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = watched_.find(id);
    if (found == watched_.end()) return;
    const auto function = found->second.function.lock();
    if (function) function->lose(found->second.reason);
    watched_.erase(found);  // once is enough
  }
  lost_();
}

}  // namespace npu::driver::vfio
