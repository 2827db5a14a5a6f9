// SPDX-License-Identifier: Apache-2.0
// Who looks for races hears which bytes kernels access, and when entries of queues end. Nothing of
// this takes simulated time. Without a watch the models look at a null pointer.
#pragma once

#include <cstdint>

#include "model/core/space_id.hpp"
#include "npu/abi/queue_entry.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class DeviceMemoryPort;

class WorkWatch {
 public:
  virtual ~WorkWatch() = default;
  // `rows` pieces of `row` bytes of global memory, `pitch` bytes apart, by a kernel.
  struct Access {
    SpaceId space = 0;
    std::uint64_t cause = 0;  // of its entry: platform::queue_cause()
    bool write = false;
    std::uint64_t first = 0;
    Bytes rows = 1, row = 0, pitch = 0;
  };
  virtual void accessed(const Access& access) = 0;
  // A queue is there: `cause` is that of its first entry.
  virtual void created(std::uint64_t cause) = 0;
  // An entry has ended, or was given up. Of a record: its signal is about to be written, and all
  // that it waits for has ended.
  struct Entry {
    SpaceId space = 0;
    std::uint64_t cause = 0;
    const abi::QueueEntry& entry;
  };
  virtual void ended(const Entry& entry) = 0;
};

namespace detail {
inline WorkWatch* work_watch = nullptr;  // null: there is none
}  // namespace detail

}  // namespace npu::model
