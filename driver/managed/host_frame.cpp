// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/host_frame.hpp"

#include <utility>

namespace npu::driver {

Result<std::shared_ptr<HostFrame>> HostFrame::create(const std::vector<Device::Impl*>& cards) {
  auto memory = cards[0]->platform.allocate_dma(cards[0]->card.bdf(), kPageSize, kPageSize,
                                                platform::DmaDirection::kBidirectional);
  if (!memory) return forward_error(memory);
  return share(cards, std::move(*memory));
}

Result<std::shared_ptr<HostFrame>> HostFrame::import(const std::vector<Device::Impl*>& cards,
                                                     ByteSpan memory) {
  auto mapped = cards[0]->platform.import_dma(cards[0]->card.bdf(), memory,
                                              platform::DmaDirection::kBidirectional,
                                              platform::HostPages::kFresh);
  if (!mapped) return forward_error(mapped);
  return share(cards, std::move(*mapped));
}

Result<std::shared_ptr<HostFrame>> HostFrame::share(const std::vector<Device::Impl*>& cards,
                                                    std::unique_ptr<platform::DmaMemory> memory) {
  auto& platform = cards[0]->platform;
  auto frame = std::make_shared<HostFrame>();
  frame->bus_.push_back(memory->bus());
  for (std::size_t i = 1; i < cards.size(); ++i) {
    const auto there = platform.share_dma(*memory, cards[i]->card.bdf());
    if (!there) return forward_error(there);
    frame->bus_.push_back(*there);
  }
  frame->memory_ = std::move(memory);
  return frame;
}

}  // namespace npu::driver
