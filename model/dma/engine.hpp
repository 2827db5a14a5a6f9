// SPDX-License-Identifier: Apache-2.0
// One DMA engine: holds up to engine_queue_depth commands in order and executes them one at a
// time. While a command is in completion_processing, engine_setup and data of the next command may
// already run if that belongs to another stream; completions leave in order all the same.
#pragma once

#include <vector>

#include "model/dma/data_mover.hpp"
#include "model/dma/dma_types.hpp"

namespace npu::model {

class Engine : private DataMover::Listener {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The command has left the engine, whose queue has a free place.
    virtual void command_completed(const DmaCommand& command) = 0;
  };

  Engine(DmaShared& shared, std::uint8_t index, Listener& listener);

  unsigned load() const { return static_cast<unsigned>(tail_ - head_); }
  bool full() const { return load() == commands_.size(); }
  // Not full.
  void accept(const DmaCommand& command);
  void stop(std::uint64_t context);  // see DmaRequestPort
  void response(const RequestTag& tag, tlm::tlm_generic_payload& trans);
  // What it still has to write to the host is asked for again (PCIe 10.3: an invalidated
  // translation must not be used any more).
  void translations_invalidated();
  void reset();

 private:
  DmaCommand& slot(std::uint64_t index) { return commands_[index % commands_.size()]; }
  DmaCommand& current() { return slot(next_ - 1); }
  void start_next();
  void setup_done(std::uint64_t epoch);
  void check(DmaCommand& command) const;
  void check_request(DmaCommand& command) const;
  void check_addresses(DmaCommand& command) const;
  void translate_next();
  void translated(tlm::tlm_generic_payload& trans);
  void translate_from(Bytes position);
  void not_translated(const CommandFault& fault);
  void data_done(const CommandFault& fault) override;
  void complete(std::uint64_t epoch);
  void publish(const DmaCommand& command);
  void count_event(const DmaCommand& command);
  void account(const DmaCommand& command);

  DmaShared& shared_;
  const std::uint8_t index_;
  const std::uint32_t track_;
  Listener& listener_;
  DataMover mover_;
  // Ring of commands: [head_, next_) are started, the last of them possibly executing and those
  // before it in completion processing; [next_, tail_) wait.
  std::vector<DmaCommand> commands_;
  std::uint64_t head_ = 0, next_ = 0, tail_ = 0;
  bool executing_ = false;
  SimTime completion_free_ = 0;  // completion processing serves one command at a time
  Bytes translate_begin_ = 0;    // D2H: bytes before need no translation any more
  Bytes translated_ = 0;         // D2H: bytes of the destination known to be mapped
  std::uint32_t translation_generation_ = 0;
};

}  // namespace npu::model
