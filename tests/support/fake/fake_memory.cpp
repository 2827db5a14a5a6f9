// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake/fake_memory.hpp"

#include <algorithm>
#include <cstring>

#include "npu/base/checked.hpp"

namespace npu::test {

void SparseBytes::read(std::uint64_t address, void* data, std::size_t size) const {
  auto* to = static_cast<std::byte*>(data);
  while (size > 0) {
    const auto offset = static_cast<std::size_t>(address % kPage);
    const auto part = std::min(size, kPage - offset);
    const auto page = pages_.find(address / kPage);
    if (page == pages_.end()) {
      std::memset(to, 0, part);
    } else {
      std::memcpy(to, page->second.data() + offset, part);
    }
    address += part;
    to += part;
    size -= part;
  }
}

void SparseBytes::write(std::uint64_t address, const void* data, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  while (size > 0) {
    const auto offset = static_cast<std::size_t>(address % kPage);
    const auto part = std::min(size, kPage - offset);
    auto& page = pages_[address / kPage];
    if (page.empty()) page.resize(kPage);
    std::memcpy(page.data() + offset, from, part);
    address += part;
    from += part;
    size -= part;
  }
}

void SparseBytes::copy(std::uint64_t from, std::uint64_t to, Bytes size) {
  if (from % kPage == 0 && to % kPage == 0) {
    const auto count = size / kPage;
    std::map<std::uint64_t, std::vector<std::byte>> copied;
    const auto end = pages_.lower_bound(from / kPage + count);
    for (auto it = pages_.lower_bound(from / kPage); it != end; ++it) {
      copied[it->first - from / kPage + to / kPage] = it->second;
    }
    pages_.erase(pages_.lower_bound(to / kPage), pages_.lower_bound(to / kPage + count));
    pages_.merge(copied);
    from += count * kPage;
    to += count * kPage;
    size -= count * kPage;
  }
  std::vector<std::byte> buffer(static_cast<std::size_t>(size));
  read(from, buffer.data(), buffer.size());
  write(to, buffer.data(), buffer.size());
}

platform::BusAddress FakeHostMemory::map(Bytes size, Bytes alignment,
                                         platform::DmaDirection direction) {
  next_ = align_down(next_ + alignment - 1, alignment);
  const platform::BusAddress bus{next_};
  auto& mapping = mappings_[bus.value];
  mapping.words.resize(static_cast<std::size_t>(ceil_div(size, 8)));
  mapping.bytes = reinterpret_cast<std::byte*>(mapping.words.data());
  mapping.size = size;
  mapping.direction = direction;
  next_ += align_down(size + 4095, 4096) + 4096;
  return bus;
}

platform::BusAddress FakeHostMemory::import(ByteSpan memory, platform::DmaDirection direction) {
  const auto bus = map(0, platform::kImportAlignment, direction);
  auto& mapping = mappings_[bus.value];
  mapping.bytes = memory.data;
  mapping.size = memory.size;
  next_ += align_down(memory.size + platform::kImportAlignment - 1, platform::kImportAlignment);
  return bus;
}

ByteSpan FakeHostMemory::cpu(platform::BusAddress bus) {
  auto& mapping = mappings_.at(bus.value);
  return {mapping.bytes, static_cast<std::size_t>(mapping.size)};
}

std::byte* FakeHostMemory::find(std::uint64_t bus, Bytes size) {
  auto above = mappings_.upper_bound(bus);
  if (above == mappings_.begin()) return nullptr;
  --above;
  const Bytes offset = bus - above->first;
  if (!range_fits(offset, size, above->second.size)) return nullptr;
  return above->second.bytes + offset;
}

std::byte* FakeHostMemory::find(std::uint64_t bus, Bytes size, std::uint32_t pasid) {
  const auto above = mappings_.upper_bound(bus);
  if (above == mappings_.begin() || std::prev(above)->second.pasid != pasid) return nullptr;
  return find(bus, size);
}

}  // namespace npu::test
