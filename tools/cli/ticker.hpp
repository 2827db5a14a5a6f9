// SPDX-License-Identifier: Apache-2.0
// Does something again and again, as wall time goes: for what is shown while a simulation runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace npu::cli {

class Ticker {
 public:
  // `tick` is called by another thread.
  Ticker(std::chrono::milliseconds period, std::function<void()> tick)
      : thread_([this, period, tick = std::move(tick)] {
          std::unique_lock<std::mutex> lock(mutex_);
          while (!ended_.wait_for(lock, period, [this] { return end_; })) tick();
        }) {}
  ~Ticker() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      end_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace npu::cli
