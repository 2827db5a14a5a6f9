// SPDX-License-Identifier: Apache-2.0
// What the commands of a function's management queue do, one after another.
#pragma once

#include <vector>

#include "model/command/command_types.hpp"
#include "model/core/deadlines.hpp"

namespace npu::model {

class ManagementExecutor {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The next one may be executed.
    virtual void command_done(abi::ManagementStatus status) = 0;
  };

  ManagementExecutor(QueueFunction& function, Owner& owner)
      : function_(function),
        shared_(function.shared),
        owner_(owner),
        drains_(shared_.sim, *this, shared_.config.command.drain_timeout) {}

  void execute(const abi::ManagementCommand& command);
  // The present, or else the last one.
  const abi::ManagementCommand& command() const { return command_; }
  // A queue has left its slot.
  void queue_unloaded();
  // What has been asked for and is not answered yet comes for nobody.
  void drop_answers() { ++drops_; }
  // The command in flight is given up.
  void reset();

 private:
  std::uint64_t this_command() const { return std::uint64_t{drops_} << 32 | commands_; }
  void map_process();
  void context_written(const Answer& answer, std::uint64_t drops);
  void add_queue();
  void descriptor_read(const Answer& answer, std::uint64_t drops);
  // SUSPEND, UPDATE_QUEUE, REMOVE_QUEUE: what they concern leaves its slot first.
  void select();
  void take_out();
  bool all_out() const;
  void taken_out();
  // Of draining, for Deadlines.
  friend class Deadlines<ManagementExecutor>;
  bool is_waiting(std::uint64_t command) const { return waiting_out_ && command == this_command(); }
  void timed_out(std::uint64_t command);
  // RESUME, UPDATE_QUEUE: the driver's half of each is read again.
  void read_again();
  void driver_half_read(const Answer& answer, std::uint64_t drops);
  void query();
  void state_written(const Answer& answer, std::uint64_t drops);
  // SCRUB: some reads at a time; what is wrong is the memory's to tell.
  void scrub();
  void scrub_on();
  void scrubbed(const Answer& answer, std::uint64_t drops);

  QueueFunction& function_;
  CommandShared& shared_;
  Owner& owner_;
  Deadlines<ManagementExecutor> drains_;
  abi::ManagementCommand command_;
  std::uint32_t commands_ = 0;  // begun
  std::uint32_t drops_ = 0;
  std::uint64_t scrub_next_ = 0, scrub_end_ = 0;
  unsigned scrub_reads_ = 0;  // in flight
  std::vector<HardwareQueue*> selected_;
  std::size_t selected_next_ = 0;
  bool waiting_out_ = false;
  bool stays_suspended_ = false;  // UPDATE_QUEUE of a queue that was
  abi::ManagementStatus status_ = abi::ManagementStatus::kSuccess;
};

}  // namespace npu::model
