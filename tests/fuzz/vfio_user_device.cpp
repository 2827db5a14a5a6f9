// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/vfio_user_device.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "model/host/vfio_user/eventfd.hpp"
#include "npu/base/checked.hpp"

namespace npu::fuzz {

void found(const char* what) {
  std::fprintf(stderr, "vfio_user_fuzz: %s\n", what);
  std::abort();
}

Bytes FuzzDevice::region_size(unsigned region) const {
  constexpr Bytes kSizes[] = {4096, 0, 2 << 20, 0, 64, 0, 2048, 4096, 0};
  if (region >= std::size(kSizes)) found("asked about a region that no function has");
  return kSizes[region];
}

unsigned FuzzDevice::irq_count(unsigned index) const {
  constexpr unsigned kCounts[] = {1, 4, 32, 1, 0};
  if (index >= std::size(kCounts)) found("asked about an interrupt type that no function has");
  return kCounts[index];
}

void FuzzDevice::check_region(unsigned region, Bytes offset, Bytes count) const {
  if (count == 0 || count > (1 << 20)) found("an access of a size out of range");
  if (!range_fits(offset, count, region_size(region))) found("an access outside of its region");
}

int FuzzDevice::read(unsigned region, Bytes offset, std::byte* data, Bytes count) {
  check_region(region, offset, count);
  std::memset(data, 0x5a, count);
  act();
  return random_.percent(3) ? EIO : 0;
}

int FuzzDevice::write(unsigned region, Bytes offset, const std::byte* data, Bytes count) {
  check_region(region, offset, count);
  if (region == 6) found("a write to the ROM");
  for (Bytes i = 0; i < count; ++i)
    sum_ = static_cast<unsigned char>(sum_ + std::to_integer<int>(data[i]));
  act();
  return random_.percent(3) ? EIO : 0;
}

void FuzzDevice::set_trigger(unsigned index, unsigned vector, int eventfd) {
  if (vector >= irq_count(index)) found("a trigger of a vector that is not there");
  const auto before = triggers_.find({index, vector});
  if (before != triggers_.end() && ::fcntl(before->second, F_GETFD) < 0) {
    found("a trigger that was closed before it was taken back");
  }
  if (eventfd < 0) {
    if (triggers_.erase({index, vector}) == 0) found("a trigger taken back that was not given");
    return;
  }
  triggers_[{index, vector}] = eventfd;
  act();
}

void FuzzDevice::mask(unsigned index, unsigned vector, bool) {
  if (vector >= irq_count(index)) found("a vector masked that is not there");
}

int FuzzDevice::map(const model::vfio_user::DmaMapping& mapping) {
  const bool aligned = is_aligned(mapping.iova | mapping.size, 4096);
  if (!aligned || mapping.size == 0 || mapping.data == nullptr) found("a malformed mapping");
  if (!mapping.readable && !mapping.writable) found("a mapping without rights");
  const std::uint64_t last = mapping.iova + (mapping.size - 1);
  if (last < mapping.iova) found("a mapping past the address space");
  const auto after = mappings_.upper_bound(last);
  if (after != mappings_.begin()) {
    const auto& before = std::prev(after)->second;
    if (before.iova + (before.size - 1) >= mapping.iova) found("mappings that overlap");
  }
  if (random_.percent(3)) return ENOMEM;
  mappings_[mapping.iova] = mapping;
  return 0;
}

void FuzzDevice::unmap(std::uint64_t iova, Bytes size) {
  const auto mapping = mappings_.find(iova);
  if (mapping == mappings_.end() || mapping->second.size != size) {
    found("an unmap of what is not mapped");
  }
  act();  // the memory is still there
  mappings_.erase(mapping);
}

void FuzzDevice::client_gone() {
  if (!has_nothing()) found("a client gone before its mappings and triggers");
}

void FuzzDevice::act() {
  if (!mappings_.empty() && random_.percent(30)) {
    auto at = mappings_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(mappings_.size())));
    const auto& mapping = at->second;
    volatile std::byte* byte = mapping.data + random_.below(mapping.size);
    sum_ = static_cast<unsigned char>(sum_ + std::to_integer<int>(std::byte{*byte}));
    if (mapping.writable) *byte = std::byte{sum_};
  }
  if (!triggers_.empty() && random_.percent(30)) {
    auto at = triggers_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(triggers_.size())));
    if (::fcntl(at->second, F_GETFD) < 0) found("a trigger that is closed");
    model::vfio_user::signal_eventfd(at->second);
  }
}

}  // namespace npu::fuzz
