// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/host_frame.hpp"

#include <algorithm>
#include <utility>

namespace npu::driver {

Result<std::shared_ptr<HostFrame>> HostFrame::create(const std::vector<CardLink*>& cards) {
  auto memory = cards[0]->platform().allocate_dma(cards[0]->bdf(), kPageSize, kPageSize,
                                                  platform::DmaDirection::kBidirectional);
  if (!memory) return forward_error(memory);
  return share(cards, std::move(*memory));
}

Result<std::shared_ptr<HostFrame>> HostFrame::import(const std::vector<CardLink*>& cards,
                                                     ByteSpan memory) {
  auto mapped = cards[0]->platform().import_dma(
      cards[0]->bdf(), memory, platform::DmaDirection::kBidirectional, platform::HostPages::kFresh);
  if (!mapped) return forward_error(mapped);
  return share(cards, std::move(*mapped));
}

Result<std::shared_ptr<HostFrame>> HostFrame::share(const std::vector<CardLink*>& cards,
                                                    std::unique_ptr<platform::DmaMemory> memory) {
  auto frame = std::make_shared<HostFrame>(std::move(memory));
  frame->ways_.push_back({cards[0], frame->memory_->bus()});
  for (std::size_t i = 1; i < cards.size(); ++i) {
    if (auto ok = frame->reach(*cards[i]); !ok) return forward_error(ok);
  }
  return frame;
}

platform::BusAddress HostFrame::bus(const CardLink& card) const {
  const auto known =
      std::find_if(ways_.begin(), ways_.end(), [&](const Way& way) { return way.card == &card; });
  return known->bus;
}

Status HostFrame::reach(const CardLink& card) {
  for (const auto& way : ways_) {
    if (way.card == &card) return {};
  }
  const auto there = card.platform().share_dma(*memory_, card.bdf());
  if (!there) return forward_error(there);
  ways_.push_back({&card, *there});
  return {};
}

}  // namespace npu::driver
