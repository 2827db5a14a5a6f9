// SPDX-License-Identifier: Apache-2.0
// Who polls or caches a line of device memory learns of writes to it. One per card. The MMU tells
// it of every write of its clients by virtual address when the bytes have moved; of these and of
// all others, which do not go through the MMU or come under another address (BAR2, other cards,
// physical addresses, aliases), it hears by device-local address, which is that of VMID 0.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/core/ports.hpp"
#include "model/core/space_id.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

// Of an AICPU: a store, which is there before anybody else looks at that time; or an atomic access,
// which has its turn among the accesses of that time.
enum class Writer : std::uint8_t { kDma, kAiCore, kAicpu, kAicpuAtomic };

class MemoryWatch : public WriteObserver {
 public:
  static constexpr Bytes kLine = 64;

  // Hears of every write: AICPU caches, which are kept coherent.
  class Snooper {
   public:
    virtual ~Snooper() = default;
    virtual void snoop(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length) = 0;
    // The same of DMA and whatever else writes with requests, by device-local address, and also of
    // those that snoop() does not tell of.
    virtual void snoop_local(std::uint64_t, Bytes) {}
  };
  // Waits for writes to lines it has named.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void line_written(Writer writer, std::uint64_t address) = 0;
  };

  void add_snooper(Snooper& snooper) { snoopers_.push_back(&snooper); }
  // The line of `address`, until unwatch(); as often as it was watched.
  void watch(SpaceId vmid, std::uint64_t address, Watcher& watcher);
  void unwatch(SpaceId vmid, std::uint64_t address, Watcher& watcher);

  // Whether anybody listens: where it costs something to say what was written.
  bool active() const { return !snoopers_.empty() || !watchers_.empty(); }
  // Who else hears of the device-local ones.
  void pass_on_to(WriteObserver& next) { next_ = &next; }
  // Of DMA and whatever else writes with requests.
  void bytes_written(std::uint64_t address, Bytes length) override {
    if (next_ != nullptr) next_->bytes_written(address, length);
    for (auto* snooper : snoopers_) snooper->snoop_local(address, length);
    written_local(Writer::kDma, address, length);
  }
  void written_local(Writer writer, std::uint64_t address, Bytes length) {
    if (!watchers_.empty()) wake(writer, 0, address, length);
  }
  // Translations of [first, last] are dropped, vmid << 48 | address: who watches there looks again,
  // because the page may come back with other bytes.
  void translations_dropped(std::uint64_t first, std::uint64_t last);
  void written(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length) {
    if (active()) tell(writer, vmid, address, length);
  }

 private:
  static std::uint64_t key(SpaceId vmid, std::uint64_t address) {
    return std::uint64_t{vmid} << abi::kVirtualBits | address / kLine;
  }
  void wake_lines(Writer writer, std::uint64_t first, std::uint64_t last);
  void tell(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length);
  void wake(Writer writer, SpaceId vmid, std::uint64_t address, Bytes length);

  WriteObserver* next_ = nullptr;
  std::vector<Snooper*> snoopers_;
  std::map<std::uint64_t, std::vector<Watcher*>> watchers_;  // by vmid and line
};

}  // namespace npu::model
