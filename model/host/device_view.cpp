// SPDX-License-Identifier: Apache-2.0
#include "model/host/device_view.hpp"

#include <algorithm>
#include <cstring>

#include "model/core/legal_order.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {
namespace {

constexpr Bytes kWord = 8;
constexpr Bytes kPage = 4096;

}  // namespace

void DeviceView::add(ByteSpan memory, std::uint64_t bus) {
  if (memory.size > kLargest) return;
  blocks_[memory.data] = {memory.size, bus, std::vector<std::byte>(memory.size)};
}

void DeviceView::publish() {
  ++epoch_;
  marked_.clear();
  for (auto& [data, block] : blocks_) std::memcpy(block.left.data(), data, block.size);
}

// Most pages have nothing new.
void DeviceView::mark() {
  for (const auto& [data, block] : blocks_) {
    for (Bytes page = 0; page < block.size; page += kPage) {
      if (std::memcmp(data + page, block.left.data() + page, kPage) == 0) continue;
      for (Bytes at = page; at < page + kPage; at += kWord) {
        const bool differs = std::memcmp(data + at, block.left.data() + at, kWord) != 0;
        if (differs) marked_.insert(block.bus + at);
      }
    }
  }
}

DeviceView::Blocks::iterator DeviceView::find(const std::byte* data, Bytes length) {
  auto found = blocks_.upper_bound(data);
  if (found == blocks_.begin()) return blocks_.end();
  --found;
  return data + length <= found->first + found->second.size ? found : blocks_.end();
}

bool DeviceView::leaves(std::uint64_t bus) const {
  return (mixed(seed_ ^ mixed(epoch_) ^ bus) & 1) != 0;
}

DeviceView::Look DeviceView::look(std::byte* data, Bytes length) {
  const auto found = find(data, length);
  if (found == blocks_.end()) return {data};
  auto& [memory, block] = *found;
  const auto offset = static_cast<Bytes>(data - memory);
  Look look{block.left.data() + offset};
  for (Bytes at = align_down(offset, kWord); at < offset + length; at += kWord) {
    if (std::memcmp(memory + at, block.left.data() + at, kWord) == 0) continue;
    const std::uint64_t bus = block.bus + at;
    if (leaves(bus)) {
      std::memcpy(block.left.data() + at, memory + at, kWord);
    } else if (marked_.erase(bus) != 0 && look.stale++ == 0) {
      look.first = bus;
    }
  }
  return look;
}

void DeviceView::written(const std::byte* data, Bytes length) {
  const auto found = find(data, length);
  if (found == blocks_.end()) return;
  std::memcpy(found->second.left.data() + (data - found->first), data, length);
}

}  // namespace npu::model
