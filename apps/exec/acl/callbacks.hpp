// SPDX-License-Identifier: Apache-2.0
// A program's functions that its streams have not come to yet, or wait for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "apps/exec/acl/streams.hpp"

namespace npu::exec::acl {

struct PendingCallback {
  std::uint64_t number = 0;  // 1, 2, ... of the program
  std::uint64_t thread = 0;  // that runs it, as the program numbers its threads
  bool host = false;         // wire::Subscription
  std::uint64_t function = 0, parameter = 0;
  std::uint32_t device = 0;
  driver::StreamMark behind;              // it is due when this has ended
  std::shared_ptr<ProgramStream> stream;  // that waits for it; null: it does not
};

struct Callbacks {
  explicit Callbacks(platform::Tasks& tasks)
      : lock(tasks.make_mutex()), added(tasks.make_condition()) {}

  // Something has changed for those that wait.
  void tell() {
    lock->lock();
    added->notify_all();
    lock->unlock();
  }

  std::unique_ptr<platform::Mutex> lock;
  std::unique_ptr<platform::Condition> added;
  bool over = false;  // the program has ended: nobody waits any more
  std::uint64_t given = 0;
  std::vector<PendingCallback> pending;  // in the order of their launches
  std::map<std::uint64_t, std::shared_ptr<ProgramStream>> running;  // that a stream waits for
};

}  // namespace npu::exec::acl
