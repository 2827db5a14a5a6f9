// SPDX-License-Identifier: Apache-2.0
// Listens to what the kernel says about open functions: that it wants one back, or that one has had
// an uncorrectable error. To its users such a function is gone from then on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "driver/vfio/file.hpp"
#include "driver/vfio/function.hpp"

namespace npu::driver::vfio {

class Monitor {
 public:
  using Lost = std::function<void()>;

  // `lost` is called on a thread of the monitor's own, when a function is lost.
  explicit Monitor(Lost lost) : lost_(std::move(lost)) {}
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // Nothing if the kernel offers no such messages for it.
  void watch(const std::shared_ptr<Function>& function);

 private:
  struct Watched {
    FileDescriptor event;
    std::weak_ptr<Function> function;
    const char* reason;
  };
  bool start();
  void add(FileDescriptor event, const std::shared_ptr<Function>& function, const char* reason);
  void drop_expired();
  void listen();
  void hear(std::uint64_t id);

  Lost lost_;
  std::mutex mutex_;  // of the following
  FileDescriptor poll_, stop_;
  std::uint64_t next_id_ = 1;  // 0: stop_
  std::map<std::uint64_t, Watched> watched_;
  std::thread thread_;
};

}  // namespace npu::driver::vfio
