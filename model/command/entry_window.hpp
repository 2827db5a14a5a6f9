// SPDX-License-Identifier: Apache-2.0
// The entries of a slot's queue from decoding to completion: in what order they start, how many are
// open at a time, and what each asks for.
#pragma once

#include "model/command/entry_reader.hpp"
#include "model/command/event_wait.hpp"
#include "model/command/result_writer.hpp"

namespace npu::model {

class EntryWindow : private EntryReader::Owner,
                    private EventWait::Owner,
                    private ResultWriter::Owner {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // The queue is stopped, for a fault of this entry or of none.
    virtual void queue_fault(const CommandFault& fault, bool host, const QueueCommand* command) = 0;
    // The command's own fault, which stops the queue unless the command lets it go on.
    virtual void entry_fault(const QueueCommand& command) = 0;
    // Of the kernel no block runs and no block will. Whether it is to go on later.
    virtual bool saves(const QueueCommand& kernel) = 0;
    // After stop(): nothing is open, and no access is in flight.
    virtual void entries_ended() = 0;
  };

  // `slot`: for whom the dispatcher keeps engines and cores, `track` its events.
  EntryWindow(CommandShared& shared, std::uint32_t track, QueueSlot& slot, Owner& owner);

  // A queue is loaded; entries begin with pump().
  void begin(HardwareQueue& queue);
  void restore_kernel(const abi::QueueSaveRecord& saved);
  void pump();
  // No entry is started any more. `at_once`: what runs is given up.
  void stop(bool at_once);
  void reset();

  // Entries are taken and not complete.
  bool busy() const { return open_ > 0; }
  bool idle() const;
  SimTime idle_since() const { return idle_since_; }
  // Nothing to do until a signal comes.
  bool parked() const { return mode_ == Mode::kRunning && wait_.parked() && open_ == 0; }
  EventWait& wait() { return wait_; }
  const EventWait& wait() const { return wait_; }

  // For the dispatcher.
  void dma_granted();
  const QueueCommand* launching() const { return kernel_ != nullptr ? kernel_ : current_; }
  KernelBlock take_block(unsigned lanes);
  void block_started() {
    if (kernel_ == nullptr) try_start();
  }
  void block_ended(QueueCommand& command, const CommandFault& fault);
  // What was started has ended.
  void finish(QueueCommand& command);

 private:
  enum class Mode : std::uint8_t { kOff, kRunning, kStopping };

  // Entries come.
  void fetch();
  bool takes_entries(const Answer& answer) override;
  void entries_read() override { pump(); }
  void decode_next();
  void entry_decoded(const abi::QueueEntry& entry, SimTime since) override;
  void note_idle();

  // They start.
  void try_start();
  bool held_up() const;
  void take(QueueCommand& command);
  void start(QueueCommand& command);
  void start_launch(QueueCommand& command);
  void start_record(QueueCommand& command);
  void start_wait(QueueCommand& command);
  bool keeps_waiting() override;
  void wait_over(abi::FaultCode status) override;
  void wait_failed(const CommandFault& fault, bool host) override { fail(*current_, fault, host); }

  // They end.
  void tell(const QueueCommand& command) const;
  void work_written(QueueCommand& command) override { finish(command); }
  void completed(std::uint64_t argument);
  void completion_written(QueueCommand& command) override;
  void completion_fault(const CommandFault& fault, bool host,
                        const QueueCommand& command) override {
    owner_.queue_fault(fault, host, &command);
  }
  void fail(QueueCommand& command, abi::FaultCode code, std::uint64_t address, bool write = false);
  void fail(QueueCommand& command, const CommandFault& fault, bool host);
  void report(QueueCommand& command);

  // All of them, after stop().
  bool stopping() const { return mode_ == Mode::kStopping; }
  void drop_current();
  void cancel();
  void preempt_kernel();
  void check_ended();

  QueueFunction& function() const { return shared_.function(*queue_); }

  CommandShared& shared_;
  const std::uint32_t track_;
  QueueSlot& slot_;
  Owner& owner_;
  EntryReader reader_;
  EventWait wait_;  // of current_
  ResultWriter results_;
  Mode mode_ = Mode::kOff;
  HardwareQueue* queue_ = nullptr;
  std::uint32_t generation_ = 0;  // queues that have gone

  QueueCommand* current_ = nullptr;  // decoded, not yet taken
  QueueCommand* kernel_ = nullptr;   // taken, has blocks left to start
  bool with_dispatcher_ = false;     // current_ or kernel_ is with the dispatcher
  unsigned working_ = 0;             // taken, and not done
  unsigned open_ = 0;                // taken, and completion not written
  SimTime idle_since_ = 0;
};

}  // namespace npu::model
