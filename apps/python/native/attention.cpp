// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/attention.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>

namespace npu::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{100};

}  // namespace

// Signals are for the interpreter's threads.
Attention::Attention() {
  sigset_t all{}, before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { tick(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Attention::~Attention() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void Attention::tick() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, kBetweenLooks, [this] { return ended_; })) {
    if (wanted_) raised_ = true;
  }
}

}  // namespace npu::python
