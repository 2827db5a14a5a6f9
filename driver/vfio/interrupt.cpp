// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/interrupt.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "driver/vfio/function.hpp"

namespace npu::driver::vfio {
namespace {

// Nobody sleeps longer than this in one go, so that a deadline of "never" needs no special case.
constexpr Picoseconds kLongestSleep = 1_s;

}  // namespace

EventfdVector::EventfdVector(platform::Clock& clock, File event, std::shared_ptr<Function> owner,
                             unsigned vector)
    : clock_(clock), event_(std::move(event)), owner_(std::move(owner)), vector_(vector) {}

EventfdVector::~EventfdVector() {
  if (owner_) owner_->close_vector(vector_);
}

void EventfdVector::drain() {
  std::uint64_t more = 0;
  if (::read(event_.get(), &more, sizeof more) == static_cast<ssize_t>(sizeof more)) {
    count_ += more;
  }
}

std::uint64_t EventfdVector::count() {
  const std::lock_guard<std::mutex> lock(mutex_);
  drain();
  return count_;
}

// Without room for one more its counter ends every wait anyhow.
void EventfdVector::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(event_.get(), &one, sizeof one) == sizeof one);
}

void EventfdVector::poll_kernel(Picoseconds time_left) {
  const auto nanoseconds = std::max<std::int64_t>(0, time_left.count() / 1000);
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
  pollfd waited{event_.get(), POLLIN, 0};
  static_cast<void>(::ppoll(&waited, 1, &timeout, nullptr));
}

Result<std::uint64_t> EventfdVector::wait_after(std::uint64_t seen, Instant deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    drain();
    if (count_ != seen) {
      counted_.notify_all();
      return count_;
    }
    const auto now = clock_.now();
    if (now >= deadline) {
      return fail(ErrorCode::kTimeout, fmt::format("no interrupt on vector {}", vector_));
    }
    const auto time_left = std::min(deadline - now, kLongestSleep);
    if (someone_polls_) {
      counted_.wait_for(lock, std::chrono::nanoseconds(time_left.count() / 1000 + 1));
      continue;
    }
    someone_polls_ = true;
    lock.unlock();
    poll_kernel(time_left);
    lock.lock();
    someone_polls_ = false;
    drain();
    counted_.notify_all();  // one of the others polls on, if there is no news
  }
}

}  // namespace npu::driver::vfio
