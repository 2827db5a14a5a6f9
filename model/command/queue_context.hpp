// SPDX-License-Identifier: Apache-2.0
// A queue's context on its way between memory and a slot: the descriptor, the record of a saved
// kernel, and what is asked for when it is loaded.
#pragma once

#include "model/command/command_types.hpp"

namespace npu::model {

class QueueContext {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void load_fault(abi::FaultCode code, std::uint64_t address, bool host, bool write) = 0;
    virtual void context_loaded() = 0;
    virtual void context_unloaded() = 0;
  };

  QueueContext(CommandShared& shared, Owner& owner) : shared_(shared), owner_(owner) {}

  void load(HardwareQueue& queue);
  void unload();
  // The queue was at fault when its descriptor was written.
  bool unloaded_faulted() const { return unloaded_faulted_; }
  void reset() { steps_ = 0; }

  // The kernel that the loaded queue goes on with.
  const abi::QueueSaveRecord& saved() const { return save_; }
  // This one is to go on when the queue is loaded again.
  void save(const QueueCommand& kernel);

 private:
  void descriptor_read(const Answer& answer, std::uint64_t);
  void start_checks();
  void check_host_places();
  void check_mapped(const Place& place, Bytes bytes);
  void mapping_checked(const Answer& answer, std::uint64_t bytes);
  void write_index_read(const Answer& answer, std::uint64_t);
  void save_record_read(const Answer& answer, std::uint64_t);
  void load_step_done();
  void unload_step_done(const Answer& answer, std::uint64_t);
  QueueFunction& function() const { return shared_.function(*queue_); }
  bool is_host(std::uint16_t flag) const { return (queue_->mqd.flags & flag) != 0; }

  CommandShared& shared_;
  Owner& owner_;
  HardwareQueue* queue_ = nullptr;
  unsigned steps_ = 0;  // in flight
  abi::QueueSaveRecord save_;
  bool save_changed_ = false;      // it is not yet in the save area
  bool unloaded_faulted_ = false;  // what the descriptor is written with
};

}  // namespace npu::model
