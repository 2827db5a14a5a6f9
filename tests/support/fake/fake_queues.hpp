// SPDX-License-Identifier: Apache-2.0
// The fake card's command processor, written from the text of docs/compute-queues.md: management
// commands and queue entries one after another, strictly. What the driver must not do and the card
// cannot notice is kept as a violation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "npu/abi/fault.hpp"
#include "npu/abi/queue.hpp"
#include "tests/support/fake/fake_memory.hpp"
#include "tests/support/fake/fake_mmu.hpp"
#include "tests/support/fake/fake_scheduler.hpp"

namespace npu::test {

// What it uses of the card.
struct FakeQueueHost {
  SparseBytes& memory;
  FakeMmu& mmu;
  FakeHostMemory& host;
  FakeScheduler& scheduler;
  std::function<void(unsigned)> raise;
  std::function<std::uint64_t(Bytes, unsigned)> get_register;
  std::function<void(Bytes, unsigned, std::uint64_t)> set_register;
  unsigned vectors = 0;
  std::uint32_t pages = 0;
  Bytes descriptors = 0;  // where the driver has them
};

class FakeQueues {
 public:
  explicit FakeQueues(FakeQueueHost host) : host_(std::move(host)) {}

  void reset();
  // Registers of the command processor that were written.
  void register_written(Bytes offset, std::uint64_t value);
  void doorbell(Bytes offset, unsigned width, std::uint64_t value);
  // Device memory was written by the host.
  void memory_written(Bytes offset);

  // --- under the test's control
  Picoseconds command_latency = 500_ns;
  std::function<Picoseconds(const abi::QueueEntry&)> entry_latency = [](const abi::QueueEntry&) {
    return 1_us;
  };
  bool paused = false;                    // no entry starts
  std::set<std::uint32_t> paused_queues;  // of these queues
  bool loses_answers = false;             // what it writes of commands never arrives
  bool stuck = false;                     // management commands are never executed
  std::set<std::uint8_t> stuck_opcodes;   // these are not, and hold up what is behind them
  std::map<std::uint8_t, abi::ManagementStatus> refusals;
  bool log_lost = false;  // fault records do not reach the host
  void resume();

  struct Executed {
    std::uint32_t queue;
    std::uint64_t index;
    abi::QueueEntry entry;
  };
  const std::vector<Executed>& executed() const { return executed_; }
  void forget_executed() { executed_.clear(); }
  const std::vector<std::uint8_t>& commands() const { return commands_; }
  void forget_commands() { commands_.clear(); }
  const std::vector<std::string>& violations() const { return violations_; }
  std::size_t processes() const { return processes_.size(); }
  std::size_t queues() const { return queues_.size(); }
  void report(abi::QueueFaultRecord record, unsigned vector);

 private:
  struct Process {
    std::uint8_t vmid = 0;
    std::uint32_t page = 0;
    unsigned vector = 0;
  };
  struct Queue {
    abi::QueueDescriptor mqd;
    std::uint64_t address = 0;
    bool suspended = false;
    bool faulted = false;
    bool running = false;  // an entry is
    bool waiting = false;  // for a signal
    Picoseconds wait_deadline;
    std::uint64_t generation = 0;  // of what runs
  };
  struct Access {
    abi::FaultCode fault = abi::FaultCode::kNone;
    std::uint64_t address = 0;
    bool write = false, host = false;
  };

  // Management (fake_queue_management.cpp).
  void execute_next();
  void show_progress();
  void execute(const abi::ManagementCommand& command);
  abi::ManagementStatus map_process(const abi::ManagementCommand& command);
  abi::ManagementStatus unmap_process(const abi::ManagementCommand& command);
  abi::ManagementStatus add_queue(const abi::ManagementCommand& command);
  abi::ManagementStatus resume_queues(const std::vector<std::uint32_t>& ids);
  bool is_valid(const abi::QueueDescriptor& mqd) const;
  abi::ManagementStatus select(const abi::ManagementCommand& command,
                               std::vector<std::uint32_t>& ids) const;
  void take_out(const abi::ManagementCommand& command, const std::vector<std::uint32_t>& ids);
  void finish(const abi::ManagementCommand& command, abi::ManagementStatus status);
  void write_state(Queue& queue);

  // Entries (fake_queue_entries.cpp).
  void start(std::uint32_t id);
  void run(std::uint32_t id, const abi::QueueEntry& entry);
  void complete(std::uint32_t id, const abi::QueueEntry& entry, Access result);
  Access perform(Queue& queue, const abi::QueueEntry& entry);
  Access copy(const Queue& queue, const abi::QueueEntry& entry);
  Access move(const Queue& queue, bool host, std::uint64_t address, void* data, std::size_t size,
              bool write);
  static std::uint64_t signal_address(const abi::QueueEntry& entry);
  bool is_met(Queue& queue, const abi::QueueEntry& entry, Access& result);
  void wake_waiters(std::uint32_t pasid);
  void fault(Queue& queue, const Access& access, const abi::QueueEntry* entry);
  static bool continued(const abi::QueueEntry& entry, abi::FaultCode fault);
  bool well_formed(const abi::QueueEntry& entry) const;

  FakeQueueHost host_;
  std::map<std::uint32_t, Process> processes_;  // by PASID
  std::map<std::uint32_t, Queue> queues_;
  std::vector<Executed> executed_;
  std::vector<std::uint8_t> commands_;
  std::vector<std::string> violations_;
  bool enabled_ = false, busy_ = false;
  std::uint32_t told_ = 0, done_ = 0;
  std::uint64_t run_ = 0;  // of the management ring
  std::uint64_t generation_ = 0;
  std::uint64_t faults_ = 0;
};

}  // namespace npu::test
