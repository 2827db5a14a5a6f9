// SPDX-License-Identifier: Apache-2.0
// What a slot writes for its entries: signals and timestamps, which are their work; then the
// completion entry and the read index, which say that it is done.
#pragma once

#include "model/command/command_types.hpp"

namespace npu::model {

class ResultWriter {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The entry's work is written, or has failed.
    virtual void work_written(QueueCommand& command) = 0;
    // Everything is written, or on its way to the host.
    virtual void completion_written(QueueCommand& command) = 0;
    virtual void completion_fault(const CommandFault& fault, bool host,
                                  const QueueCommand& command) = 0;
  };

  ResultWriter(CommandShared& shared, Owner& owner) : shared_(shared), owner_(owner) {}

  // A queue is loaded.
  void begin(HardwareQueue& queue);
  // Of an event record, to a signal slot that the queue has, or to memory.
  void write_signal(QueueCommand& command);
  void write_timestamp(QueueCommand& command);
  void write_completion(QueueCommand& command);

 private:
  static bool in_memory(const QueueCommand& command) {
    return (command.entry.flags & abi::kEntryMemorySignal) != 0;
  }
  void signal_written(const Answer& answer, std::uint64_t handle);
  void timestamp_mapped(const Answer& answer, std::uint64_t handle);
  void timestamp_written(const Answer& answer, std::uint64_t handle);
  void fail(QueueCommand& command, const Answer& answer);

  void send_read_index(QueueCommand& command);
  void send_completion_entry(QueueCommand& command);
  void entry_written(const Answer& answer, std::uint64_t handle);
  void index_written(const Answer& answer, std::uint64_t handle);
  void part_written(QueueCommand& command, const Answer& answer, abi::FaultCode code);
  QueueFunction& function() const { return shared_.function(*queue_); }

  CommandShared& shared_;
  Owner& owner_;
  HardwareQueue* queue_ = nullptr;
  std::uint64_t reported_ = 0;  // read index as last written to memory
};

}  // namespace npu::model
