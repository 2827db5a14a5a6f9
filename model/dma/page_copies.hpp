// SPDX-License-Identifier: Apache-2.0
// The page copies of a function's driver (abi/page_copy.hpp): registers in front of an engine of
// their own, and what the host is told at the end of each.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/dma/dma.hpp"
#include "model/registers/card_registers.hpp"
#include "npu/abi/page_copy.hpp"

namespace npu::model {

class PageCopies : public DmaClient {
 public:
  // Installs itself behind the registers.
  PageCopies(CardRegisters& registers, Dma& dma);
  PageCopies(const PageCopies&) = delete;
  PageCopies& operator=(const PageCopies&) = delete;

  void dma_ended(const DmaRequest& request) override;
  void dma_left(const DmaRequest& request) override;
  void dma_free() override {}
  void reset();
  // What it could not.
  void may_send_again();

 private:
  void control_written(abi::PageCopyControl control);
  void start_written(abi::PageCopyStart start);
  DmaRequest request_of(abi::PageCopyStart start) const;
  void decoded(std::uint64_t generation);
  void feed();
  bool post(const abi::PageCopyResult& result, std::uint64_t cause);
  void raise(std::uint64_t cause);

  CardRegisters& registers_;
  Dma& dma_;
  DmaShared& shared_;
  const HostAgent agent_;  // the driver
  bool enabled_ = false;
  unsigned written_ = 0;          // parts of the next command, a bit each
  std::uint32_t generation_ = 0;  // Enables and resets
  std::uint32_t accepted_ = 0, ended_ = 0;
  std::vector<abi::PageCopyResult> untold_;  // that could not be written
  unsigned decoding_ = 0;                    // the last of `waiting_`
  std::deque<DmaRequest> waiting_;           // for a place in the engine
};

}  // namespace npu::model
