// SPDX-License-Identifier: Apache-2.0
// The management queue of a function (abi/queue_management.hpp): its registers, its ring, and the
// responses to its commands.
#pragma once

#include <vector>

#include "model/command/management_executor.hpp"

namespace npu::model {

class ManagementUnit : private ManagementExecutor::Owner {
 public:
  explicit ManagementUnit(QueueFunction& function)
      : function_(function), shared_(function.shared), executor_(function, *this) {}

  void install_hooks();
  // A queue has left its slot.
  void queue_unloaded() { executor_.queue_unloaded(); }
  bool idle() const { return done_ == told_ && !busy_; }
  void reset();

 private:
  static constexpr std::uint64_t kBatch = 8;  // commands of one read

  void control_written(abi::ManagementControl control);
  void doorbell_written(abi::ManagementDoorbell doorbell);
  abi::ManagementStatusRegister status() const;
  void halt(abi::FaultCode code, std::uint64_t address);

  void next();
  void fetched(const Answer& answer, std::uint64_t generation);
  void start_decode();
  void decoded(std::uint64_t generation);
  void command_done(abi::ManagementStatus status) override;

  QueueFunction& function_;
  CommandShared& shared_;
  ManagementExecutor executor_;
  bool enabled_ = false, halted_ = false, host_memory_ = false;
  std::uint64_t base_ = 0;
  std::uint32_t entries_ = 0;
  std::uint32_t told_ = 0, done_ = 0;
  std::uint32_t generation_ = 0;
  bool busy_ = false;  // a command is fetched or executed
  std::vector<abi::ManagementCommand> batch_;
  std::size_t batch_next_ = 0;
  SimTime began_ = 0;
};

}  // namespace npu::model
