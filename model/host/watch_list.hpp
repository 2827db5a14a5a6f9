// SPDX-License-Identifier: Apache-2.0
// Who waits for a device to write into host memory, and where.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "npu/base/byte_span.hpp"

namespace npu::model {

// Told when a device has written into a range of host memory.
class MemoryWatcher {
 public:
  virtual ~MemoryWatcher() = default;
  virtual void memory_written() = 0;
};

class WatchList {
 public:
  void watch(ConstByteSpan range, MemoryWatcher& watcher) {
    watches_.push_back({range.data, range.data + range.size, &watcher});
  }
  void unwatch(MemoryWatcher& watcher) {
    watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                  [&](const Watch& w) { return w.watcher == &watcher; }),
                   watches_.end());
  }
  // A watcher may leave the list while it is told.
  void written(const std::byte* data, Bytes length) {
    for (std::size_t i = 0; i < watches_.size();) {
      auto* const watcher = watches_[i].watcher;
      if (watches_[i].begin < data + length && data < watches_[i].end) watcher->memory_written();
      if (i < watches_.size() && watches_[i].watcher == watcher) ++i;
    }
  }

 private:
  struct Watch {
    const std::byte* begin;
    const std::byte* end;
    MemoryWatcher* watcher;
  };
  std::vector<Watch> watches_;
};

}  // namespace npu::model
