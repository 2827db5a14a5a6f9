// SPDX-License-Identifier: Apache-2.0
// The card's pager as the driver uses it (abi/pager.hpp): it takes the faults, writes the page
// table and takes pages back when memory is short; the driver gives it memory and moves the bytes.
#pragma once

#include "driver/managed/card_paging.hpp"
#include "driver/managed/kernel_costs.hpp"
#include "driver/managed/message_channel.hpp"
#include "driver/managed/page_invalidator.hpp"
#include "driver/managed/pager_program.hpp"
#include "npu/abi/pager.hpp"
#include "npu/driver/managed.hpp"

namespace npu::driver {

class Pager : public CardPaging {
 public:
  // Starts it; `vector` tells of its messages.
  static Result<std::unique_ptr<CardPaging>> create(CardLink& link, MemoryManager& memory,
                                                    VectorTable& vectors, unsigned vector,
                                                    const ManagedOptions& options,
                                                    std::uint32_t limit);
  ~Pager() override { stop(); }

  Status serve(std::uint32_t vmids) override;
  bool serve_some(const ServedSpaces& spaces) override;
  bool more() const override { return channel_->waits(); }
  Status map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) override;
  Result<bool> unmap(std::uint32_t slot, std::uint64_t entry) override;
  bool tells_writes() const override { return true; }
  void give(std::uint32_t slot) override;

 private:
  void stop() override;
  bool look() override { return channel_->look(); }
  Pager(CardLink& link, MemoryManager& memory, std::uint32_t limit, unsigned pool)
      : CardPaging(link, memory, limit),
        link_(link),
        invalidator_(link),
        costs_(link.platform().tasks()),
        pool_(pool),
        program_(link, memory) {}
  Status start(unsigned vector);
  Status await_life();
  void serve(const abi::Message& message, const ServedSpaces& spaces);
  void serve_fault(const abi::Message& message, const ServedSpaces& spaces);
  void serve_swap(const abi::Message& message);
  void note_taken(const abi::Message& message);
  void give_free(std::uint32_t slot, bool after_swap);
  void forget_messages(std::uint32_t slot);
  Result<bool> await_taken(std::uint32_t slot, std::uint64_t entry);
  void reply(abi::PagerVerdict verdict, std::uint64_t entry, abi::PageTableEntry value);
  void send(abi::PagerMessage kind, std::uint32_t slot, bool flag);
  bool fill_pool();
  // It has ended, and nobody has asked it to.
  bool is_dead();
  Result<bool> unmap_without(std::uint32_t slot, std::uint64_t entry);

  CardLink& link_;
  PageInvalidator invalidator_;
  KernelCosts costs_;
  const unsigned pool_;  // free slots that it should have
  std::unique_ptr<MessageChannel> channel_;
  PagerProgram program_;
  unsigned free_ = 0;     // slots that it has and that hold nothing
  bool pressed_ = false;  // it has been told that there is no memory
  bool started_ = false, dead_ = false;
};

}  // namespace npu::driver
