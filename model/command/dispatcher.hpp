// SPDX-License-Identifier: Apache-2.0
// Which slot's entry gets the next free DMA engine or core: the highest priority first, equal ones
// in turn, by slot number.
#pragma once

#include <array>
#include <vector>

#include "model/command/command_types.hpp"

namespace npu::model {

class Dispatcher : private DmaClient, private KernelPort::Listener {
 public:
  explicit Dispatcher(CommandShared& shared) : shared_(shared) {}

  void connect(DmaRequestPort& dma);
  void connect_aicore(KernelPort& cores) { connect(aicore_, cores); }
  void connect_aicpu(KernelPort& cores) { connect(aicpu_, cores); }

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
  bool has_core(abi::QueueOpcode opcode, const std::array<std::uint64_t, 4>& mask) const;
  void reset();

 private:
  using Mask = std::array<std::uint64_t, abi::kCoreMaskWords>;
  struct Waiters {
    std::vector<QueueSlot*> slots;
    unsigned last = 0;  // slot that was served last

    void remove(QueueSlot& slot);
  };
  struct Pool {
    KernelPort* port = nullptr;
    Mask free{}, all{};
    Waiters waiters;
  };

  void connect(Pool& pool, KernelPort& cores);
  static QueueSlot* before(QueueSlot* a, QueueSlot* b, unsigned last);
  Pool& pool_of(abi::QueueOpcode opcode) {
    return opcode == abi::QueueOpcode::kLaunchAicpu ? aicpu_ : aicore_;
  }
  static int free_core(const Pool& pool, const QueueSlot& slot);
  void serve_dma();
  void serve_cores(Pool& pool);
  void dma_left(const DmaRequest& done) override;
  void dma_free() override { serve_dma(); }
  void block_done(unsigned core, const KernelBlock& block, const CommandFault& fault) override;

  CommandShared& shared_;
  DmaRequestPort* dma_ = nullptr;
  Waiters dma_waiters_;
  Pool aicore_, aicpu_;
};

}  // namespace npu::model
