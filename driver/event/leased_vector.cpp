// SPDX-License-Identifier: Apache-2.0
#include "driver/event/leased_vector.hpp"

#include <utility>

namespace npu::driver {
namespace {

constexpr Picoseconds kPause = 10_us;  // between two looks whether the leases are back

tl::unexpected<Error> closed() {
  return fail(ErrorCode::kAborted, "the interrupt is closed, the device is shut down");
}

}  // namespace

void LeasedVector::open(std::unique_ptr<platform::InterruptVector> vector) {
  vector_ = std::move(vector);
  leases_.fetch_and(~kClosed, std::memory_order_release);
}

// Who has a lease now sleeps on a count from before the wake, or does not sleep at all.
void LeasedVector::close(platform::Clock& clock) {
  const auto before = leases_.fetch_or(kClosed, std::memory_order_acq_rel);
  if ((before & kClosed) != 0) return;
  if (before != 0) vector_->wake();
  while (leases_.load(std::memory_order_acquire) != kClosed) {
    clock.sleep_until(clock.now() + kPause);
  }
  vector_.reset();
}

std::uint64_t LeasedVector::count() {
  const Lease lease(leases_);
  return lease ? vector_->count() : 0;
}

Result<std::uint64_t> LeasedVector::wait_after(std::uint64_t seen, Instant deadline) {
  const Lease lease(leases_);
  if (!lease) return closed();
  return vector_->wait_after(seen, deadline);
}

Result<std::uint64_t> LeasedVector::daemon_wait_after(std::uint64_t seen, Instant deadline) {
  const Lease lease(leases_);
  if (!lease) return closed();
  return vector_->daemon_wait_after(seen, deadline);
}

void LeasedVector::wake() {
  const Lease lease(leases_);
  if (lease) vector_->wake();
}

}  // namespace npu::driver
