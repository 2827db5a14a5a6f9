// SPDX-License-Identifier: Apache-2.0
// The management queue of a function (abi/queue_management.hpp): one command after another.
#pragma once

#include <vector>

#include "model/command/command_types.hpp"

namespace npu::model {

class Management {
 public:
  explicit Management(QueueFunction& function) : function_(function), shared_(function.shared) {}

  void install_hooks();
  // A queue has left its slot.
  void queue_unloaded();
  bool idle() const { return done_ == told_ && !busy_; }
  void reset();

 private:
  static constexpr std::uint64_t kBatch = 8;  // commands of one read

  // The one that is executed.
  std::uint64_t this_command() const { return std::uint64_t{generation_} << 32 | done_; }

  void control_written(abi::ManagementControl control);
  void doorbell_written(abi::ManagementDoorbell doorbell);
  abi::ManagementStatusRegister status() const;
  void halt(abi::FaultCode code, std::uint64_t address);

  void next();
  void fetched(const Answer& answer, std::uint64_t generation);
  void start_decode();
  void decoded(std::uint64_t generation);
  void execute();
  void finish(abi::ManagementStatus status);

  void map_process();
  void context_written(const Answer& answer, std::uint64_t);
  void add_queue();
  void descriptor_read(const Answer& answer, std::uint64_t);
  // SUSPEND, UPDATE_QUEUE, REMOVE_QUEUE: what they concern leaves its slot first.
  void select();
  void take_out();
  bool all_out() const;
  void taken_out();
  void drain_over(std::uint64_t command);
  // RESUME, UPDATE_QUEUE: the driver's half of each is read again.
  void read_again();
  void driver_half_read(const Answer& answer, std::uint64_t);
  void query();
  void state_written(const Answer& answer, std::uint64_t);

  QueueFunction& function_;
  CommandShared& shared_;
  bool enabled_ = false, halted_ = false, host_memory_ = false;
  std::uint64_t base_ = 0;
  std::uint32_t entries_ = 0;
  std::uint32_t told_ = 0, done_ = 0;
  std::uint32_t generation_ = 0;
  bool busy_ = false;  // a command is fetched or executed
  std::vector<abi::ManagementCommand> batch_;
  std::size_t batch_next_ = 0;

  abi::ManagementCommand command_;
  SimTime began_ = 0;
  std::vector<Queue*> selected_;
  std::size_t selected_next_ = 0;
  bool waiting_out_ = false;
  bool stays_suspended_ = false;  // UPDATE_QUEUE of a queue that was
  abi::ManagementStatus status_ = abi::ManagementStatus::kSuccess;
};

}  // namespace npu::model
