// SPDX-License-Identifier: Apache-2.0
// An MSI-X vector that VFIO signals through an eventfd. The kernel's counter can be taken only
// once, so whoever polls adds it to a count that all waiters compare with.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "driver/vfio/file.hpp"
#include "npu/platform/time.hpp"

namespace npu::driver::vfio {

class Function;

class EventfdVector : public platform::InterruptVector {
 public:
  // `owner` may be null (the vector then belongs to no function).
  EventfdVector(platform::Clock& clock, File event, std::shared_ptr<Function> owner,
                unsigned vector);
  ~EventfdVector() override;
  std::uint64_t count() override;
  Result<std::uint64_t> wait_after(std::uint64_t seen, Instant deadline) override;
  void wake() override;

 private:
  void drain();
  void poll_kernel(Picoseconds time_left);

  platform::Clock& clock_;
  File event_;
  std::shared_ptr<Function> owner_;
  unsigned vector_;
  std::mutex mutex_;
  std::condition_variable counted_;
  bool someone_polls_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace npu::driver::vfio
