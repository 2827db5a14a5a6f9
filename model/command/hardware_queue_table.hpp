// SPDX-License-Identifier: Apache-2.0
// The processes and queues that the driver has told the command processor of.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "model/command/memory_port.hpp"
#include "npu/abi/queue.hpp"

namespace npu::model {

class QueueSlot;
struct HardwareQueue;
struct QueueCommand;

struct Process {
  unsigned function = 0;
  std::uint32_t pasid = 0;
  std::uint8_t vmid = 0;
  std::uint32_t page = 0;
  std::uint32_t vector = 0;
  std::uint32_t queues = 0;
  // Signal slots written so far: a value read before may be old.
  std::uint64_t signals = 0;
  std::vector<HardwareQueue*> waiting;   // their next entry waits for a signal
  std::vector<std::uint16_t> doorbells;  // queue id, or kNoDoorbell
  static constexpr std::uint16_t kNoDoorbell = 0xFFFF;
};

// The event wait at the head of a queue.
struct HeadWait {
  bool active = false;     // its value was read and did not meet the condition
  bool in_memory = false;  // kEntryMemorySignal
  Place place;
  abi::WaitPayload payload;
  std::uint64_t index = UINT64_MAX;  // of the entry
  SimTime since = 0;
  SimTime deadline = UINT64_MAX;
  SimTime armed = UINT64_MAX;  // the last one that expired() was put on the agenda for
};

struct HardwareQueue {
  abi::QueueDescriptor mqd;   // the driver's half as last read, the card's half as it is
  std::uint64_t address = 0;  // of the descriptor
  Process* process = nullptr;
  std::uint64_t told = 0;  // highest write index told by doorbell
  SimTime doorbell_time = 0;
  bool doorbell_pending = false;
  QueueSlot* slot = nullptr;  // where it is, or is being loaded
  bool ready = false;         // in the run list
  bool suspended = false, faulted = false;
  unsigned writes = 0;  // of its descriptor, in flight beside the slot's
  HeadWait wait;
  QueueCommand* kernel = nullptr;      // put aside with its saved kernel
  std::uint64_t checked = UINT64_MAX;  // generation of translations its host places were seen in

  // No access to its memory is in flight.
  bool out() const { return slot == nullptr && writes == 0; }
  std::uint64_t write_index() const { return std::max(told, mqd.write_index); }
  std::uint64_t ring_size() const { return std::uint64_t{1} << mqd.log2_ring; }
  bool work_left() const { return write_index() > mqd.read_index || mqd.saved != 0; }
  bool runnable() const { return !suspended && !faulted && !wait.active && work_left(); }
  Place place(std::uint16_t host_flag, std::uint64_t at) const {
    const bool host = (mqd.flags & host_flag) != 0;
    return {host, space_of(process->function, host ? 0 : mqd.vmid), host ? mqd.pasid : 0, at};
  }
  Place signal_place(std::uint32_t signal) const {
    return place(abi::kQueueSignalHost, mqd.signal_base + abi::kSignalSize * signal);
  }
  Place memory_place(std::uint64_t at) const {
    return {false, space_of(process->function, mqd.vmid), 0, at};
  }
};

// Those of a function.
class HardwareQueueTable {
 public:
  HardwareQueueTable(unsigned function, unsigned pages) : function_(function), pages_(pages) {}

  Process* process_of_page(std::uint64_t page) const {
    return page < pages_.size() ? pages_[page].get() : nullptr;
  }
  Process* process(std::uint32_t pasid) const;
  HardwareQueue* queue(std::uint32_t id) const {
    return id < queues_.size() ? queues_[id].get() : nullptr;
  }
  HardwareQueue* by_doorbell(const Process& process, std::uint64_t doorbell) const;

  abi::ManagementStatus map(const abi::ManagementCommand& command, unsigned vectors);
  abi::ManagementStatus unmap(std::uint32_t pasid);
  // `mqd` as read from `address`.
  abi::ManagementStatus add(const abi::QueueDescriptor& mqd, std::uint64_t address,
                            unsigned vectors);
  // It is in no slot and not in the run list.
  void remove(HardwareQueue& queue);
  void reset();

  // Whether the driver's half may be used for a queue of `process`, with what is left in its ring.
  static bool valid(const abi::QueueDescriptor& mqd, const Process& process, unsigned vectors);

  template <class F>
  void for_each(F visit) {
    for (auto& queue : queues_) {
      if (queue) visit(*queue);
    }
  }
  std::size_t pages() const { return pages_.size(); }
  // There are no processes.
  void set_pages(unsigned pages) { pages_.resize(pages); }
  bool has_processes() const {
    return std::any_of(pages_.begin(), pages_.end(),
                       [](const auto& page) { return page != nullptr; });
  }

 private:
  const unsigned function_;
  std::vector<std::unique_ptr<Process>> pages_;         // by doorbell page
  std::vector<std::unique_ptr<HardwareQueue>> queues_;  // by id, up to the last
};

}  // namespace npu::model
