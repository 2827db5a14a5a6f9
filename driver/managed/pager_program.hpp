// SPDX-License-Identifier: Apache-2.0
// The pager's image, its arguments, and room for its table of slots, in one block of the card's
// memory.
#pragma once

#include "driver/managed/page_mover.hpp"
#include "driver/memory/memory_manager.hpp"
#include "npu/abi/pager.hpp"

namespace npu::driver {

class PagerProgram {
 public:
  PagerProgram(CardLink& link, MemoryManager& memory) : link_(link), card_memory_(memory) {}
  ~PagerProgram() { unload(); }
  PagerProgram(const PagerProgram&) = delete;
  PagerProgram& operator=(const PagerProgram&) = delete;

  // `arguments`: but for where the table is. kOutOfMemory, and what moving it reports.
  Status load(PageMover& mover, ConstByteSpan object, abi::PagerArguments arguments);
  // The program has ended.
  void unload();
  // Device-local.
  std::uint64_t image() const { return image_; }
  std::uint64_t arguments() const { return arguments_; }

 private:
  CardLink& link_;
  MemoryManager& card_memory_;
  MemoryHandle memory_;
  std::uint64_t image_ = 0, arguments_ = 0;
};

}  // namespace npu::driver
