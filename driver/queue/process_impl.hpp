// SPDX-License-Identifier: Apache-2.0
// A process and its queues as the manager sees them.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "driver/device/device_impl.hpp"
#include "driver/queue/core_groups.hpp"
#include "driver/queue/queue_buffer.hpp"
#include "driver/queue/queue_channel.hpp"
#include "driver/queue/queue_manager.hpp"
#include "driver/queue/turn_hook.hpp"
#include "npu/driver/process.hpp"

namespace npu::driver {

// What the card has been told of a queue and has answered.
enum class Held : std::uint8_t {
  kNo,
  kYes,      // SUSPEND was the last command
  kUnknown,  // the last one was not answered: either is possible, now or later
};

// One queue. In the reverse order of its members it gives back what it has.
struct QueueRecord {
  PooledId id;
  PooledId doorbell;
  QueueOptions options;
  abi::QueueDescriptor descriptor;  // the driver's half as written
  QueueChannel* channel = nullptr;  // the handle has it

  unsigned percentage = 100;  // as wanted: 0 is not for the card
  bool null_ring = false;
  bool suspended = false;          // by its owner
  std::atomic<bool> dying{false};  // a task is destroying it
  bool leaving = false;            // REMOVE_QUEUE was not answered: only the end is left
  Held held = Held::kNo;

  QueueId queue_id() const { return QueueId{id.value()}; }
};

// kInvalidArgument: out of range.
Status check_scheduling(unsigned priority, unsigned percentage, Picoseconds quantum,
                        const CoreMask& cores);

// Made if there is none. kUnsupported: no command processor.
Result<QueueManager*> manager_of(Device::Impl& device);

struct RemovalLimits;

struct ProcessContext::Impl final : QueueHost, QueueOwner {
  Impl(Device::Impl& card, QueueManager& shared, const ProcessOptions& wanted);
  ~Impl() override;

  // --- Opening and closing (process.cpp).
  Status open();
  // kBusy: something is in use.
  Status begin_close();
  Status close();
  // Between them the process is not closed.
  Status enter();
  void leave() { handles.fetch_sub(1, std::memory_order_release); }
  Status usable() const;
  Instant command_deadline() { return device.platform.clock().now() + options.command_timeout; }

  // --- Commands. kBadDevice: the card has refused. Those that may be repeated are, if another task
  // has restarted the ring.
  Result<ManagementAnswer> command(const abi::ManagementCommand& what, Instant deadline,
                                   DeadlineOf whose = DeadlineOf::kDriver);
  std::vector<Result<ManagementAnswer>> commands(const std::vector<abi::ManagementCommand>& what,
                                                 Instant deadline,
                                                 DeadlineOf whose = DeadlineOf::kDriver);
  tl::unexpected<Error> no_queue(QueueId id) const;
  // The mutex was not to be had by a caller's deadline.
  tl::unexpected<Error> others_too_long() const;
  abi::ManagementCommand on_queue(abi::ManagementOpcode opcode, const QueueRecord& record,
                                  abi::PreemptMode mode = abi::PreemptMode::kDrain) const;
  // Of the cores that a queue asks for, those that the process may use. kInvalidArgument: none.
  Result<CoreMask> cores_of(const CoreMask& wanted) const;
  static Result<ManagementAnswer> accepted(Result<ManagementAnswer> answer, std::uint8_t opcode);

  // --- Life of a queue (life_cycle.cpp).
  Result<std::unique_ptr<Queue>> create(const QueueOptions& wanted);
  Result<QueueEnd> destroy(QueueChannel& channel, Instant deadline, bool forced);

  // --- Changes (queue_change.cpp, evictions.cpp). Under the mutex unless said otherwise.
  QueueRecord* find(QueueId id);
  bool is_active(const QueueRecord& record) const {
    return !record.null_ring && record.percentage > 0 && !record.suspended && evictions == 0;
  }
  // Makes the card hold the queue, or let it run, as it should be.
  Status settle_record(QueueRecord& record, Instant deadline,
                       DeadlineOf whose = DeadlineOf::kDriver);
  static void note_held(QueueRecord& record, bool held);
  static bool is_known(const QueueRecord& record, bool held) {
    return record.held == (held ? Held::kYes : Held::kNo);
  }
  Status update(QueueId id, const QueueChange& change);  // not under the mutex
  Status change_held(QueueRecord& record, const QueueChange& change, QueueBuffer& ring);
  Result<QueueStatus> query(QueueRecord& record);
  std::vector<QueueResult> set_suspended(const std::vector<QueueId>& queues, bool suspended,
                                         Instant deadline);  // not under the mutex
  Status evict(Instant deadline);
  Status restore(Instant deadline);
  Status resume_held(Instant deadline);
  Status hold(Instant deadline) override;  // for compaction; not under the mutex
  void let_go() override;
  void give_up() override;  // not under the mutex

  // --- Faults. Not under the mutex.
  void look_for_faults() override;
  bool settle(QueueId queue, Instant deadline) override;
  Status ask_card(QueueId queue) override;
  std::optional<std::uint64_t> ask_read_index(QueueId queue, Instant deadline) override;
  void add_fault(const QueueFault& fault) override;
  void deliver();

  Device::Impl& device;
  QueueManager& manager;
  const ProcessOptions options;
  std::unique_ptr<platform::Mutex> mutex;
  // Not the mutex, which others may have for longer than a caller who waits for this has time.
  std::unique_ptr<platform::Mutex> resume_mutex;
  std::unique_ptr<platform::Condition> resumed;
  std::uint64_t resumptions = 0;  // calls of resume()
  std::atomic<bool> closed{false};

  // In the order in which they are made.
  std::unique_ptr<AddressSpace> space;
  unsigned vmid = 0;
  GroupMembership group;
  PooledId pasid, page;
  platform::InterruptVector* vector = nullptr;
  unsigned vector_number = 0;
  std::unique_ptr<platform::MmioRegion> doorbell_page;
  std::unique_ptr<QueueHeap> heap;
  std::unique_ptr<Signals> signals;
  SharedIdPool doorbells;
  bool registered = false;  // for faults
  bool mapped = false;      // the card knows the process
  bool unmapping = false;   // it was told to forget it, and has not answered
  bool withheld = false;    // and cannot be made to forget it: nobody else gets its ids

  std::vector<std::unique_ptr<QueueRecord>> queues;  // by id
  std::uint64_t entries_gone = 0;                    // of queues that are there no more
  std::atomic<std::size_t> handles{0};               // of queues, alive; and enter()
  unsigned evictions = 0;
  bool compacting = false;  // one of the evictions is the driver's
  Instant evicted_since;
  Picoseconds evicted_time;

  SpinLock fault_lock;
  std::vector<std::pair<QueueId, QueueChannel*>> channels;  // for faults
  std::deque<QueueFault> faults;                            // to be taken
  std::deque<QueueFault> undelivered;                       // to the handler
  FaultHandler handler;
  std::atomic<TurnHook*> turn{nullptr};  // null: the process runs when it wants

 private:
  struct Draft;
  Status check_options(const QueueOptions& wanted) const;
  Result<Draft> prepare(const QueueOptions& wanted);
  void fill_descriptor(QueueRecord& record, const QueueChannelParts& parts);
  Status map_process();
  bool tell_to_forget(Instant deadline, DeadlineOf whose);
  void unmap_if_last(const RemovalLimits& limits);
  Status add_to_card(QueueRecord& record);
  Status finish_destroy(QueueRecord& record, const Result<QueueEnd>& drained,
                        const RemovalLimits& limits, std::unique_ptr<QueueRecord>& taken);
  // Null: it is suspended.
  Result<QueueRecord*> begin_destroy(const QueueChannel& channel, bool forced);
  Result<QueueRecord*> wait_to_destroy(const QueueChannel& channel, Instant deadline,
                                       const RemovalLimits& limits, bool forced);
  std::uint64_t count_resumptions();
  void note_resumption();
  bool forget_process();
  std::unique_ptr<QueueRecord> take_out(const QueueRecord& record, const RemovalLimits& limits);
  void forget_channel(const QueueChannel& channel);
};

struct Queue::Impl {
  ProcessContext::Impl& process;
  std::unique_ptr<QueueChannel> channel;
};

}  // namespace npu::driver
