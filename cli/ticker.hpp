// SPDX-License-Identifier: Apache-2.0
// Raises a flag again and again, as wall time goes: for what is drawn while a simulation runs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace npu::cli {

class Ticker {
 public:
  Ticker(std::atomic<bool>& flag, std::chrono::milliseconds period)
      : thread_([this, &flag, period] {
          std::unique_lock<std::mutex> lock(mutex_);
          while (!ended_.wait_for(lock, period, [this] { return end_; })) flag.store(true);
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
