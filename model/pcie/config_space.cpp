// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/config_space.hpp"

#include <cassert>

namespace npu::model {

namespace pci = abi::pci;

namespace {
std::uint8_t byte_of(std::uint32_t value, unsigned i) {
  return static_cast<std::uint8_t>(value >> (8 * i));
}
}  // namespace

std::uint32_t ConfigSpace::read(std::uint32_t offset, unsigned width) const {
  assert(offset + width <= value_.size() && "configuration offset");
  std::uint32_t value = 0;
  for (unsigned i = 0; i < width; ++i) value |= std::uint32_t{value_[offset + i]} << (8 * i);
  return value;
}

void ConfigSpace::write(std::uint32_t offset, unsigned width, std::uint32_t value) {
  assert(offset + width <= value_.size() && "configuration offset");
  for (unsigned i = 0; i < width; ++i) {
    const std::uint32_t at = offset + i;
    const std::uint8_t in = byte_of(value, i);
    std::uint32_t out = (value_[at] & ~std::uint32_t{writable_[at]}) | (in & writable_[at]);
    out &= ~std::uint32_t{static_cast<std::uint8_t>(in & clears_[at])};
    value_[at] = static_cast<std::uint8_t>(out);
  }
}

void ConfigSpace::set(std::uint32_t offset, unsigned width, std::uint32_t value) {
  for (unsigned i = 0; i < width; ++i) value_[offset + i] = byte_of(value, i);
}

void ConfigSpace::set_bits(std::uint32_t offset, unsigned width, std::uint32_t bits) {
  set(offset, width, read(offset, width) | bits);
}

void ConfigSpace::clear_bits(std::uint32_t offset, unsigned width, std::uint32_t bits) {
  set(offset, width, read(offset, width) & ~bits);
}

void ConfigSpace::writable(std::uint32_t offset, unsigned width, std::uint32_t mask) {
  for (unsigned i = 0; i < width; ++i) writable_[offset + i] = byte_of(mask, i);
}

void ConfigSpace::write_one_to_clear(std::uint32_t offset, unsigned width, std::uint32_t mask) {
  for (unsigned i = 0; i < width; ++i) clears_[offset + i] = byte_of(mask, i);
}

void ConfigSpace::add_bar64(std::uint32_t offset, Bytes size, bool prefetchable) {
  set(offset, 4, pci::kBarType64 | (prefetchable ? pci::kBarPrefetchable : 0));
  resize_bar64(offset, size);
}

// The address bits below the size stay 0, which is how software finds the size.
void ConfigSpace::resize_bar64(std::uint32_t offset, Bytes size) {
  const std::uint64_t mask = ~(size - 1);
  const auto low = static_cast<std::uint32_t>(mask), high = static_cast<std::uint32_t>(mask >> 32);
  set(offset, 4, read(offset, 4) & (low | pci::kBarFlagsMask));
  set(offset + 4, 4, read(offset + 4, 4) & high);
  writable(offset, 4, low);
  writable(offset + 4, 4, high);
}

std::uint64_t ConfigSpace::bar64(std::uint32_t offset) const {
  return std::uint64_t{read(offset + 4, 4)} << 32 | (read(offset, 4) & ~pci::kBarFlagsMask);
}

std::uint32_t ConfigSpace::add_capability(std::uint8_t id, std::uint32_t length) {
  const std::uint32_t offset = next_capability_;
  assert(offset + length <= pci::kExtendedStart && "capabilities need more than 256 bytes");
  set(last_capability_ ? last_capability_ + 1 : pci::kCapabilityPointer, 1, offset);
  set_bits(pci::kStatus, 2, pci::kStatusCapabilities);
  set(offset, 1, id);
  last_capability_ = offset;
  next_capability_ = (offset + length + 3) & ~3U;
  return offset;
}

std::uint32_t ConfigSpace::add_extended(std::uint16_t id, unsigned version, std::uint32_t length) {
  const std::uint32_t offset = next_extended_;
  assert(offset + length <= pci::kConfigSpaceSize && "extended capabilities overflow");
  if (last_extended_) set_bits(last_extended_, 4, offset << 20);
  set(offset, 4, id | version << 16);
  last_extended_ = offset;
  next_extended_ = (offset + length + 3) & ~3U;
  return offset;
}

}  // namespace npu::model
