// SPDX-License-Identifier: Apache-2.0
// What the parts of the command processor share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/command/hardware_queue_table.hpp"
#include "model/command/memory_port.hpp"
#include "model/config/chip_config.hpp"
#include "model/core/kernel_port.hpp"
#include "model/core/ports.hpp"
#include "model/core/simulation.hpp"
#include "model/registers/card_registers.hpp"
#include "npu/abi/kernel_image.hpp"

namespace npu::model {

struct CommandStatistics {
  std::uint64_t doorbells = 0;
  std::uint64_t fetches = 0;      // reads of ring entries
  std::uint64_t entries = 0;      // complete, failed ones included
  std::uint64_t completions = 0;  // completion entries written
  std::uint64_t interrupts = 0;
  std::uint64_t faults = 0;       // records of the fault log
  std::uint64_t maps = 0;         // queues loaded into a slot
  std::uint64_t preemptions = 0;  // queues unloaded with work left
  std::uint64_t blocks = 0;       // of kernels, started
  std::uint64_t management = 0;   // commands of the management queue
};

// An entry that has been decoded.
struct QueueCommand {
  std::uint32_t handle = 0;
  QueueSlot* slot = nullptr;
  abi::QueueEntry entry;
  std::uint64_t index = 0;
  std::uint64_t cause = 0;
  SimTime decoded = 0;
  SimTime eligible = 0;  // nothing before it holds it up any more
  SimTime done = 0;
  std::uint32_t next_block = 0, blocks = 0;
  std::uint32_t blocks_out = 0;  // each once for every core that it is on
  std::uint32_t cores = 0;       // that blocks may be on, the first of the queue's; 0: all
  bool mixed = false;            // a block is of a whole cluster
  SimTime timeout = 0;           // of a block; 0: none
  unsigned writes = 0;           // of its completion, not yet in device memory
  CommandFault fault;
  bool host_fault = false;  // the address at fault is a bus address
  bool reported = false;    // its fault
  bool given_up = false;
  bool taken = false;

  // It has failed, or may, and its queue does not stop.
  bool continues_on_error() const {
    return (entry.flags & abi::kEntryContinueOnError) != 0 &&
           fault.code != abi::FaultCode::kMalformedEntry;
  }
  abi::QueueOpcode opcode() const { return static_cast<abi::QueueOpcode>(entry.opcode); }
};

class CommandPool {
 public:
  QueueCommand& allocate() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<QueueCommand>());
      free_.push_back(static_cast<std::uint32_t>(all_.size() - 1));
    }
    const auto handle = free_.back();
    free_.pop_back();
    auto& command = *all_[handle];
    command = {};
    command.handle = handle;
    return command;
  }
  void free(QueueCommand& command) {
    command.slot = nullptr;
    free_.push_back(command.handle);
  }
  // Of a kernel that is saved: what goes on later has the same handle, which is the cores' name for
  // the launch and for what its blocks have said to each other.
  void put_aside(QueueCommand& command) {
    command.slot = nullptr;
    ++aside_;
  }
  QueueCommand& take_up(QueueCommand& command) {
    --aside_;
    const auto handle = command.handle;
    command = {};
    command.handle = handle;
    return command;
  }
  QueueCommand& at(std::uint64_t handle) { return *all_[handle]; }
  template <class F>
  void for_each_of(const QueueSlot& slot, F visit) {
    for (auto& command : all_) {
      if (command->slot == &slot) visit(*command);
    }
  }
  std::size_t in_use() const { return all_.size() - free_.size() - aside_; }

 private:
  std::vector<std::unique_ptr<QueueCommand>> all_;
  std::vector<std::uint32_t> free_;
  std::size_t aside_ = 0;
};

class Dispatcher;
class FaultLog;
class MemorySignals;
class Scheduler;
class SignalUnit;
struct QueueFunction;

// What serves the queues of all functions.
struct CommandShared {
  Simulation& sim;
  const ChipConfig& config;
  MemoryPort& memory;
  const std::string track_prefix;  // of the card
  std::uint32_t track = 0;
  std::vector<QueueFunction*> functions{};
  CommandStatistics statistics{};
  CommandPool commands{};
  Dispatcher* dispatcher = nullptr;
  Scheduler* scheduler = nullptr;
  SignalUnit* signals = nullptr;
  MemorySignals* memory_signals = nullptr;

  QueueFunction& function(const HardwareQueue& queue) const {
    return *functions[queue.process->function];
  }
  // A queue's name in handlers, and whom it stands for by now; null: none.
  std::uint64_t name_of(const HardwareQueue& queue) const {
    return std::uint64_t{queue.process->function} << 32 | queue.mqd.queue_id;
  }
  HardwareQueue* queue_of(std::uint64_t name) const;
  // Its saved kernel will not go on.
  void forget_kernel(HardwareQueue& queue) {
    if (queue.kernel != nullptr) commands.free(commands.take_up(*queue.kernel));
    queue.kernel = nullptr;
  }
};

// What a function's driver knows of them, as the slots and its own front end use it.
struct QueueFunction {
  CommandShared& shared;
  CardRegisters& registers;
  const unsigned number;
  HardwareQueueTable table;
  FaultLog* faults = nullptr;
  std::uint64_t translations = 0;  // IOMMU invalidations seen
  std::uint32_t epoch = 0;         // resets seen

  SpaceId space(unsigned vmid) const { return space_of(number, vmid); }
  // The driver's own: device-local, in host memory.
  Place local(std::uint64_t address) const { return {false, space(0), 0, address}; }
  Place driver_host(std::uint64_t bus) const { return {true, space(0), 0, bus}; }
  void raise(unsigned vector, std::uint64_t cause) {
    ++shared.statistics.interrupts;
    registers.raise(vector, cause);
  }
  std::uint64_t cause(const HardwareQueue& queue, std::uint64_t index) const {
    return platform::queue_cause(registers.device_index(), queue.mqd.queue_id, index);
  }
};

inline HardwareQueue* CommandShared::queue_of(std::uint64_t name) const {
  return functions[name >> 32]->table.queue(static_cast<std::uint32_t>(name));
}

}  // namespace npu::model
