// SPDX-License-Identifier: Apache-2.0
// The submission queue: doorbell, fetching of ring entries in batches, hand-over to the engines in
// ring order. Owns the DMA registers' behaviour.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "model/dma/dma_types.hpp"
#include "model/dma/engine.hpp"
#include "npu/abi/registers.hpp"

namespace npu::model {

class RingFrontEnd {
 public:
  static constexpr unsigned kMaxBatch = 64;

  explicit RingFrontEnd(DmaShared& shared);

  void connect(const std::vector<std::unique_ptr<Engine>>& engines) { engines_ = &engines; }
  void install_hooks();

  void fetched(tlm::tlm_generic_payload& trans, std::uint32_t generation);
  // It is in no engine any more.
  void command_left(const DmaCommand& command);
  // An entry waits for a place in an engine.
  bool held_up() const { return !decoding_ && batch_next_ != batch_size_; }
  // An engine has a free place.
  void engine_free();
  void reset();
  void host_write_lost(std::uint64_t address);
  bool idle() const { return !fetching_ && batch_next_ == batch_size_ && in_engines_ == 0; }

 private:
  // The engine that holds commands of a stream, and how many.
  struct Binding {
    std::uint8_t engine = 0;
    std::uint32_t commands = 0;
  };

  void control_written(abi::DmaQueueControl control);
  void doorbell_written(abi::DmaDoorbell doorbell);
  void doorbell_decoded(std::uint64_t argument);
  void fetch();
  unsigned batch_limit(std::uint64_t address) const;
  void decoded(std::uint64_t generation);
  void dispatch();
  bool hand_over(const abi::DmaEntry& entry);
  std::size_t choose(const abi::DmaEntry& entry) const;
  void stop();
  void halt(abi::FaultCode code, std::uint64_t address);
  std::uint64_t cause(std::uint64_t position) const;
  abi::DmaQueueStatus status() const;

  DmaShared& shared_;
  const std::uint32_t track_;
  const std::vector<std::unique_ptr<Engine>>* engines_ = nullptr;
  std::vector<Binding> bindings_;  // by stream

  bool enabled_ = false, halted_ = false, host_memory_ = false;
  std::uint64_t base_ = 0;
  std::uint32_t producer_ = 0;  // as decoded
  std::uint32_t consumer_ = 0;  // entries before it are accepted by engines
  std::uint64_t position_ = 0;  // commands accepted since the queue was enabled
  // Changes whenever the queue is enabled, disabled or reset: what was under way before is stale.
  std::uint32_t generation_ = 0;
  bool fetching_ = false;
  std::array<abi::DmaEntry, kMaxBatch> batch_;
  unsigned batch_size_ = 0, batch_next_ = 0;
  bool decoding_ = false;
  std::uint32_t in_engines_ = 0;
};

}  // namespace npu::model
