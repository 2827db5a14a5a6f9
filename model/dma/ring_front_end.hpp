// SPDX-License-Identifier: Apache-2.0
// The submission queue of a function: doorbell, fetching of ring entries in batches, hand-over to
// the engines in ring order, and what the host is told when they are done: stream, event, fault,
// interrupt. Owns the DMA registers' behaviour.
#pragma once

#include <array>
#include <vector>

#include "model/dma/dma.hpp"
#include "model/registers/card_registers.hpp"
#include "npu/abi/registers.hpp"

namespace npu::model {

class RingFrontEnd : public DmaClient {
 public:
  static constexpr unsigned kMaxBatch = 64;
  // Entries that the card keeps of streams that wait for pages; with more the ring is held up.
  static constexpr std::size_t kMostHeld = abi::kRingEntries;

  // Installs itself behind the DMA registers of `registers` and attaches itself to `dma`.
  RingFrontEnd(CardRegisters& registers, Dma& dma);

  void fetched(tlm::tlm_generic_payload& trans, const RequestTag& tag);
  // An entry waits for a place in an engine.
  bool held_up() const { return !decoding_ && batch_next_ != batch_size_; }
  void dma_ended(const DmaRequest& request) override;
  void dma_left(const DmaRequest& request) override;
  void dma_free() override;
  void reset();
  // It may have been an entry of the ring: halts the queue before old ones are taken for new.
  void host_write_lost(std::uint64_t address);
  // No command of the ring is fetched, queued or executed.
  bool enabled() const { return enabled_; }
  bool idle() const { return !fetching_ && batch_next_ == batch_size_ && in_engines_ == 0; }

 private:
  // An entry that an engine works on.
  struct Command {
    abi::DmaEntry entry;
    std::uint16_t ring_index = 0;
    std::uint64_t position = 0;
  };
  // The engine that holds commands of a stream, and how many.
  struct Binding {
    std::uint8_t engine = 0;
    std::uint32_t commands = 0;
  };

  void control_written(abi::DmaQueueControl control);
  void doorbell_written(abi::DmaDoorbell doorbell);
  void tell(abi::DmaDoorbell doorbell) const;
  void doorbell_decoded(std::uint64_t argument);
  void fetch();
  unsigned batch_limit(std::uint64_t address) const;
  void decoded(std::uint64_t generation);
  void dispatch();
  bool hand_over(const abi::DmaEntry& entry);
  std::size_t choose(const abi::DmaEntry& entry) const;
  DmaRequest request_of(const abi::DmaEntry& entry);
  abi::FaultCode check(const DmaRequest& request, const abi::DmaEntry& entry) const;
  void count_event(std::uint32_t event, const DmaRequest& request);
  void stop();
  void halt(abi::FaultCode code, std::uint64_t address);
  std::uint64_t cause(std::uint64_t position) const;
  abi::DmaQueueStatus status() const;

  CardRegisters& registers_;
  Dma& dma_;
  DmaShared& shared_;
  const HostAgent agent_;  // the driver
  const std::uint32_t track_;
  std::vector<Binding> bindings_;  // by stream
  std::vector<Command> commands_;  // by DmaRequest::context
  std::vector<std::uint32_t> free_;

  bool enabled_ = false, halted_ = false, host_memory_ = false;
  std::uint64_t base_ = 0;
  std::uint32_t producer_ = 0;  // as decoded
  std::uint32_t consumer_ = 0;  // entries before it are accepted by engines
  std::uint64_t position_ = 0;  // commands accepted since the queue was enabled
  // Changes whenever the queue is enabled, disabled or reset: what was in flight before is stale.
  std::uint32_t generation_ = 0;
  std::uint32_t epoch_ = 0;  // resets so far
  bool fetching_ = false;
  std::array<abi::DmaEntry, kMaxBatch> batch_;
  unsigned batch_size_ = 0, batch_next_ = 0;
  bool decoding_ = false;
  std::uint32_t in_engines_ = 0;
};

}  // namespace npu::model
