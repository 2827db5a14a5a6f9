// SPDX-License-Identifier: Apache-2.0
// Raises a flag ten times a second of wall time while a call of the simulator is in flight, so that
// it asks Python for signals. What the flag does, it does between two events of the machine: no
// result depends on when.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace npu::python {

class Attention {
 public:
  Attention();
  ~Attention();
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  const std::atomic<bool>& raised() const { return raised_; }
  void clear() { raised_ = false; }
  void wanted(bool wanted) { wanted_ = wanted; }

 private:
  void tick();

  std::atomic<bool> raised_{false}, wanted_{false};
  bool ended_ = false;  // under mutex_
  std::mutex mutex_;
  std::condition_variable end_;
  std::thread thread_;
};

}  // namespace npu::python
