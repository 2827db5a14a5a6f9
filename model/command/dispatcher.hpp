// SPDX-License-Identifier: Apache-2.0
// Which slot's entry gets the next free DMA engine or core: the highest priority first, equal ones
// in turn, by slot number.
#pragma once

#include <array>
#include <vector>

#include "model/command/clusters.hpp"
#include "model/command/command_types.hpp"
#include "model/command/core_partition.hpp"
#include "model/command/core_time_slices.hpp"

namespace npu::model {

class Dispatcher : private DmaClient, private KernelPort::Listener {
 public:
  explicit Dispatcher(CommandShared& shared)
      : shared_(shared), clusters_(CoreLayout(shared.config)), turns_(shared.config.functions()) {}

  void connect(DmaRequestPort& dma);
  void connect_aicore(KernelPort& cores);
  void connect_aicpu(KernelPort& cores);

  // The slot's decoded entry is to be taken when there is room: dma_granted(), take_block().
  void want_dma(QueueSlot& slot);
  void want_cores(QueueSlot& slot);
  void cancel(QueueSlot& slot);
  void request(DmaRequest request) {
    request.client = this;
    dma_->request(request);
  }
  // What the slot has started is given up; blocks and copies stop.
  void stop(QueueSlot& slot);
  // Whether a core, or a whole cluster, exists that a kernel of the slot's queue may run on.
  bool has_core(const QueueSlot& slot, const QueueCommand& launch) const;
  // The function's cores are free.
  void reset(unsigned function);
  // What the function has is another.
  void set_partition(unsigned function, const Partition& partition);
  // It is a member of a group, or in none.
  void set_member(unsigned function, const GroupMember& member) { turns_.set(function, member); }
  // Nothing runs on its AI Cores, or AICPUs, whosever they are now.
  bool cores_idle(const Partition& partition) const;
  bool aicpus_idle(const Partition& partition) const;

 private:
  using Mask = CorePartition::Mask;
  struct Waiters {
    std::vector<QueueSlot*> slots;
    unsigned last = 0;  // slot that was served last

    void remove(QueueSlot& slot);
  };
  struct Pool {
    KernelPort* port = nullptr;
    Mask free{}, known{};                   // those that run nothing, and all
    std::vector<CorePartition> partitions;  // by function
    Waiters waiters;

    void set(unsigned function, CorePartition partition);
    bool idle(const Mask& cores) const;
  };

  void connect(Pool& pool, KernelPort& cores);
  static QueueSlot* before(QueueSlot* a, QueueSlot* b, unsigned last);
  QueueSlot* before(const Pool& pool, QueueSlot* a, QueueSlot* b) const;
  void block_started(unsigned core, const KernelBlock& block, unsigned function, SimTime timeout);
  void watch(unsigned core);
  void look_at(std::uint64_t core);
  void turn_came(std::uint64_t);
  bool runs_other(unsigned core, unsigned function) const;
  bool has_turn(const Pool& pool, const QueueSlot& slot);
  Pool& pool_of(abi::QueueOpcode opcode) {
    return opcode == abi::QueueOpcode::kLaunchAicpu ? aicpu_ : aicore_;
  }
  const Pool& pool_of(abi::QueueOpcode opcode) const {
    return opcode == abi::QueueOpcode::kLaunchAicpu ? aicpu_ : aicore_;
  }
  static Mask usable(const Pool& pool, const QueueSlot& slot, abi::QueueOpcode opcode);
  int place_for(const Pool& pool, const Mask& free, const QueueSlot& slot) const;
  static int free_core(const Mask& free, const Mask& usable);
  static int free_core_of_first(const Mask& free, const Mask& usable, unsigned count);
  Mask held(const Pool& pool);
  void start_block(Pool& pool, QueueSlot& slot, unsigned place);
  void serve_dma();
  void serve_cores(Pool& pool);
  void dma_left(const DmaRequest& done) override;
  void dma_free() override { serve_dma(); }
  void block_done(unsigned core, const KernelBlock& block, const CommandFault& fault) override;

  CommandShared& shared_;
  DmaRequestPort* dma_ = nullptr;
  Waiters dma_waiters_;
  Pool aicore_, aicpu_;

  // A block that runs on an AI Core.
  struct Running {
    SimTime since = 0;
    SimTime deadline = UINT64_MAX;
    SimTime looked_at = UINT64_MAX;  // again then
    std::uint64_t context = 0;
    unsigned function = 0;
    bool busy = false, timed_out = false;
  };
  const Clusters clusters_;
  CoreTimeSlices turns_;
  std::vector<Running> running_;    // by AI Core
  SimTime next_turn_ = UINT64_MAX;  // looked at again then
};

}  // namespace npu::model
