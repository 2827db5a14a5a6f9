// SPDX-License-Identifier: Apache-2.0
// Who polls or caches a line of device memory learns of writes to it. One per card; the MMU tells
// it of every write of its clients, by virtual address, when the bytes have moved.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::model {

enum class Writer : std::uint8_t { kDma, kAiCore, kAicpu };

class MemoryWatch {
 public:
  static constexpr Bytes kLine = 64;

  // Hears of every write: AICPU caches, which are kept coherent.
  class Snooper {
   public:
    virtual ~Snooper() = default;
    virtual void snoop(Writer writer, std::uint8_t vmid, std::uint64_t address, Bytes length) = 0;
  };
  // Waits for writes to lines it has named.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void line_written(std::uint64_t address) = 0;
  };

  void add_snooper(Snooper& snooper) { snoopers_.push_back(&snooper); }
  // The line of `address`, until unwatch(); as often as it was watched.
  void watch(std::uint8_t vmid, std::uint64_t address, Watcher& watcher);
  void unwatch(std::uint8_t vmid, std::uint64_t address, Watcher& watcher);

  // Whether anybody listens: where it costs something to say what was written.
  bool active() const { return !snoopers_.empty() || !watchers_.empty(); }
  void written(Writer writer, std::uint8_t vmid, std::uint64_t address, Bytes length) {
    if (active()) tell(writer, vmid, address, length);
  }

 private:
  static std::uint64_t key(std::uint8_t vmid, std::uint64_t address) {
    return std::uint64_t{vmid} << 56 | address / kLine;
  }
  void tell(Writer writer, std::uint8_t vmid, std::uint64_t address, Bytes length);

  std::vector<Snooper*> snoopers_;
  std::map<std::uint64_t, std::vector<Watcher*>> watchers_;  // by vmid and line
};

}  // namespace npu::model
