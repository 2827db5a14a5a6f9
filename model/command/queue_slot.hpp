// SPDX-License-Identifier: Apache-2.0
// One hardware queue slot: the stay of a queue.
//
//   free -> loading -> active -> leaving -> unloading -> free
// Leaving begins when the scheduler wants the slot, the driver the queue, or an entry has failed.
#pragma once

#include "model/command/entry_window.hpp"
#include "model/command/queue_context.hpp"

namespace npu::model {

class QueueSlot : private QueueContext::Owner, private EntryWindow::Owner {
 public:
  enum class State : std::uint8_t { kFree, kLoading, kActive, kLeaving, kUnloading };
  enum class Leave : std::uint8_t { kNo, kDrain, kReset };

  QueueSlot(CommandShared& shared, unsigned number);

  void load(HardwareQueue& queue);
  // Idempotent; a reset replaces a drain.
  void leave(Leave how);
  // The queue's write index has grown.
  void work_added();
  void reset();

  State state() const { return state_; }
  HardwareQueue* queue() const { return queue_; }
  // Whose queue it holds.
  QueueFunction& function() const { return shared_.function(*queue_); }
  unsigned number() const { return number_; }
  SimTime loaded_at() const { return active_since_; }
  SimTime leaving_since() const { return began_; }
  SimTime idle_since() const { return window_.idle_since(); }
  // So far, of the queue's present stay.
  SimTime time_active() const {
    return state_ == State::kActive || state_ == State::kLeaving ? sim_now() - active_since_ : 0;
  }
  // Entries are taken and not complete.
  bool busy() const { return window_.busy(); }
  // Nothing to do.
  bool idle() const { return state_ == State::kActive && window_.idle(); }
  // The decoded entry waits for a signal.
  bool waits() const { return window_.wait().parked(); }
  // Nothing to do until a signal comes.
  bool parked() const { return window_.parked(); }

  // For the dispatcher, when it has found room for what this slot waits for.
  void dma_granted() { window_.dma_granted(); }
  const QueueCommand* launching() const { return window_.launching(); }
  std::uint8_t priority() const { return queue_->mqd.priority; }
  KernelBlock take_block(unsigned lanes) { return window_.take_block(lanes); }
  void block_started() { window_.block_started(); }
  // For the dispatcher: what was started has ended.
  void work_done(QueueCommand& command) { window_.finish(command); }
  void block_ended(QueueCommand& command, const CommandFault& fault) {
    window_.block_ended(command, fault);
  }

  // For the signal unit.
  void signal_value(std::uint64_t value) { window_.wait().signal_value(value); }
  void read_signal() { window_.wait().read_signal(); }
  void wait_expired() { window_.wait().expired(); }

 private:
  void load_fault(abi::FaultCode code, std::uint64_t address, bool host, bool write) override;
  void context_loaded() override;
  void context_unloaded() override;
  void queue_fault(const CommandFault& fault, bool host, const QueueCommand* command) override;
  void entry_fault(const QueueCommand& command) override;
  bool saves(const QueueCommand& kernel) override;
  void entries_ended() override;

  CommandShared& shared_;
  const unsigned number_;
  const std::uint32_t track_;
  QueueContext context_;
  EntryWindow window_;
  State state_ = State::kFree;
  Leave leave_ = Leave::kNo;
  HardwareQueue* queue_ = nullptr;
  SimTime began_ = 0;  // loading or leaving
  SimTime active_since_ = 0;
};

}  // namespace npu::model
