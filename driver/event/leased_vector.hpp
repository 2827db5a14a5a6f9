// SPDX-License-Identifier: Apache-2.0
// An interrupt on which many may sleep while one closes it. A call has the interrupt on lease for
// as long as it takes. Closing refuses new leases, wakes sleepers and waits until every lease is
// back. This object stays until the device is gone, so who was given its address may keep it.
#pragma once

#include <atomic>
#include <memory>

#include "npu/platform/time.hpp"

namespace npu::driver {

class LeasedVector final : public platform::InterruptVector {
 public:
  bool is_open() const { return vector_ != nullptr; }
  // Before anybody else has its address. Once.
  void open(std::unique_ptr<platform::InterruptVector> vector);
  // Returns when the platform's vector is closed. By one task at a time.
  void close(platform::Clock& clock);

  // After close(): 0.
  std::uint64_t count() override;
  // Also kAborted: it is closed.
  Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) override;
  Result<std::uint64_t> daemon_wait_after(std::uint64_t seen, Instant deadline) override;
  // After close(): does nothing.
  void wake() override;

 private:
  static constexpr std::uint32_t kClosed = 1U << 31;

  class Lease {
   public:
    explicit Lease(std::atomic<std::uint32_t>& leases)
        : leases_(leases), held_(!(leases.fetch_add(1, std::memory_order_acquire) & kClosed)) {}
    ~Lease() { leases_.fetch_sub(1, std::memory_order_release); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    explicit operator bool() const { return held_; }

   private:
    std::atomic<std::uint32_t>& leases_;
    const bool held_;
  };

  std::unique_ptr<platform::InterruptVector> vector_;
  std::atomic<std::uint32_t> leases_{kClosed};  // how many, and kClosed
};

}  // namespace npu::driver
