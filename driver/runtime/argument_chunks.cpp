// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/argument_chunks.hpp"

#include "npu/base/checked.hpp"
#include "npu/driver/queue_entries.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kPlaceAlignment = 64;  // abi::LaunchPayload::arguments

}  // namespace

ArgumentChunks::~ArgumentChunks() {
  for (const auto& chunk : chunks_) static_cast<void>(process_.space().free(chunk.device));
}

Result<ArgumentChunks::Place> ArgumentChunks::take(Bytes size) {
  const Bytes wanted = align_down(size + kPlaceAlignment - 1, kPlaceAlignment);
  if (chunks_.empty() || chunks_.back().used + wanted > kChunk) {
    auto host = process_.allocate_host(kChunk);
    if (!host) return forward_error(host);
    const auto device = process_.space().allocate(kChunk);
    if (!device) return forward_error(device);
    chunks_.push_back({std::move(*host), device->address, 0});
  }
  auto& chunk = chunks_.back();
  const Place place{chunk.host->cpu().subspan(chunk.used, size),
                    {chunk.host->bus().value + chunk.used},
                    chunk.device + chunk.used};
  chunk.used += wanted;
  return place;
}

std::vector<abi::QueueEntry> ArgumentChunks::copies() const {
  std::vector<abi::QueueEntry> all;
  for (const auto& chunk : chunks_) {
    if (chunk.used == 0) continue;
    all.push_back(entries::copy_to_device(chunk.host->bus(), chunk.device, chunk.used));
  }
  return all;
}

}  // namespace npu::driver
