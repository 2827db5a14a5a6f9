// SPDX-License-Identifier: Apache-2.0
// One hardware queue slot: loads a queue, fetches, decodes and starts its entries in order, writes
// their completions, and unloads the queue again.
//
//   free -> loading -> active -> leaving -> unloading -> free
// Leaving begins when the scheduler wants the slot, the driver the queue, or an entry has failed.
#pragma once

#include <vector>

#include "model/command/command_types.hpp"

namespace npu::model {

class QueueSlot {
 public:
  enum class State : std::uint8_t { kFree, kLoading, kActive, kLeaving, kUnloading };
  enum class Leave : std::uint8_t { kNo, kDrain, kReset };

  QueueSlot(CommandShared& shared, unsigned number);

  void load(Queue& queue);
  // Idempotent; a reset replaces a drain.
  void leave(Leave how);
  // The queue's write index has grown.
  void work_added();
  void reset();

  State state() const { return state_; }
  Queue* queue() const { return queue_; }
  // Whose queue it holds.
  QueueFunction& function() const { return shared_.function(*queue_); }
  unsigned number() const { return number_; }
  SimTime loaded_at() const { return active_since_; }
  SimTime leaving_since() const { return began_; }
  SimTime idle_since() const { return idle_since_; }
  // So far, of the queue's present stay.
  SimTime time_active() const {
    return state_ == State::kActive || state_ == State::kLeaving ? sim_now() - active_since_ : 0;
  }
  // Entries are taken and not complete.
  bool busy() const { return open_ > 0; }
  // Nothing to do.
  bool idle() const;
  // The decoded entry waits for a signal.
  bool waits() const { return parked_; }
  // Nothing to do until a signal comes.
  bool parked() const { return state_ == State::kActive && parked_ && open_ == 0; }

  // For the dispatcher, when it has found room for what this slot waits for.
  void dma_granted();
  const QueueCommand* launching() const { return kernel_ != nullptr ? kernel_ : current_; }
  std::uint8_t priority() const { return queue_->mqd.priority; }
  KernelBlock take_block();
  void block_started();
  // For the dispatcher: what was started has ended.
  void work_done(QueueCommand& command);
  void block_ended(QueueCommand& command, const CommandFault& fault);

  // For the signal unit.
  void signal_value(std::uint64_t value);
  void read_signal();
  void wait_expired();

 private:
  // Loading and unloading (queue_slot_load.cpp).
  void descriptor_read(const Answer& answer, std::uint64_t generation);
  void start_checks();
  void check_mapped(const Place& place, Bytes bytes);
  void mapping_checked(const Answer& answer, std::uint64_t bytes);
  void write_index_read(const Answer& answer, std::uint64_t);
  void save_record_read(const Answer& answer, std::uint64_t);
  void load_step_done();
  void loaded();
  void restore_kernel();
  void save_kernel();
  void check_out();
  void unload();
  void unload_step_done(const Answer& answer, std::uint64_t);
  void out();
  bool stopping() const { return state_ == State::kLeaving; }

  // Entries (queue_slot.cpp).
  void pump();
  void fetch();
  void fetched(const Answer& answer, std::uint64_t first);
  void decode_next();
  void decoded(std::uint64_t generation);
  bool well_formed(const abi::QueueEntry& entry) const;
  void try_start();
  bool held_up() const;
  void take(QueueCommand& command);
  void drop_current();
  void note_idle();

  // What entries do (queue_slot_start.cpp).
  void start(QueueCommand& command);
  void start_launch(QueueCommand& command);
  void start_record(QueueCommand& command);
  void start_wait(QueueCommand& command);
  void start_timestamp(QueueCommand& command);
  void record_written(const Answer& answer, std::uint64_t handle);
  void timestamp_mapped(const Answer& answer, std::uint64_t handle);
  void timestamp_written(const Answer& answer, std::uint64_t handle);
  void signal_read(const Answer& answer, std::uint64_t seen);
  void end_wait(abi::FaultCode status);

  // Completion and faults (queue_slot_end.cpp).
  void finish(QueueCommand& command);
  void completed(std::uint64_t argument);
  void write_index_report(QueueCommand& command);
  void write_completion(QueueCommand& command);
  void completion_written(const Answer& answer, std::uint64_t handle);
  void index_written(const Answer& answer, std::uint64_t handle);
  void fault_of_report(abi::FaultCode code, const Answer& answer, const QueueCommand& command);
  void close(QueueCommand& command);
  void fail(QueueCommand& command, const CommandFault& fault, bool host);
  void fail_access(QueueCommand& command, const Answer& answer);
  void report(QueueCommand& command);
  void fault(const CommandFault& fault, bool host, const QueueCommand* command);
  void fault_at_load(abi::FaultCode code, std::uint64_t address, bool host, bool write);

  std::uint64_t packed(std::uint32_t handle) const {
    return std::uint64_t{generation_} << 32 | handle;
  }
  bool is_host(std::uint16_t flag) const { return (queue_->mqd.flags & flag) != 0; }

  CommandShared& shared_;
  const unsigned number_;
  const std::uint32_t track_;
  State state_ = State::kFree;
  Leave leave_ = Leave::kNo;
  Queue* queue_ = nullptr;
  std::uint32_t generation_ = 0;  // changes when a queue comes or goes

  std::vector<abi::QueueEntry> buffer_;  // ring of entries [read index, fetched_)
  std::uint64_t fetched_ = 0;
  bool fetching_ = false, decoding_ = false;
  SimTime decode_since_ = 0;
  unsigned accesses_ = 0;  // under way, beside the fetch
  unsigned steps_ = 0;     // of loading or unloading, under way

  QueueCommand* current_ = nullptr;  // decoded, not yet taken
  QueueCommand* kernel_ = nullptr;   // taken, has blocks left to start
  bool parked_ = false;              // current_ waits for a signal
  bool with_dispatcher_ = false;     // current_ or kernel_ is with the dispatcher
  bool reading_signal_ = false;
  unsigned working_ = 0;        // taken, and not done
  unsigned open_ = 0;           // taken, and completion not written
  std::uint64_t reported_ = 0;  // read index as last written to memory
  abi::QueueSaveRecord save_;
  bool save_changed_ = false;      // it is not yet in the save area
  bool unloaded_faulted_ = false;  // what the descriptor is written with

  SimTime began_ = 0;  // loading or leaving
  SimTime active_since_ = 0;
  SimTime idle_since_ = 0;
};

}  // namespace npu::model
