// SPDX-License-Identifier: Apache-2.0
#include "model/host/exported_function.hpp"

#include <linux/vfio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/host/natural_width.hpp"
#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr std::uint32_t kBarsEnd = pci::kBar0 + 24;

bool overlaps(std::uint32_t offset, unsigned width, std::uint32_t begin, std::uint32_t end) {
  return offset < end && offset + width > begin;
}

}  // namespace

ExportedFunction::ExportedFunction(HostPlatform& host, HostMemory& memory, Interrupts& interrupts,
                                   const ResourceLookup& resources, platform::Bdf bdf)
    : host_(host), memory_(memory), interrupts_(interrupts), bdf_(bdf) {
  for (unsigned bar = 0; bar < bars_.size(); ++bar) bars_[bar] = resources(bdf, bar);
}

ExportedFunction::~ExportedFunction() {
  for (const auto& [vector, trigger] : triggers_) interrupts_.close(bdf_.packed(), vector);
}

Status ExportedFunction::prepare() {
  if (auto done = host_.reset_function(bdf_); !done) return done;
  express_ = host_.find_capability(bdf_, pci::kCapPciExpress);
  msix_ = host_.find_capability(bdf_, pci::kCapMsix);
  power_ = host_.find_capability(bdf_, pci::kCapPowerManagement);
  if (msix_ == 0) return fail(ErrorCode::kUnsupported, to_string(bdf_) + " has no MSI-X");
  auto& config = host_.pci();
  msix_image_ = config.read16(bdf_, msix_ + pci::kMsixControl);
  vectors_ = (msix_image_ & pci::kMsixControlSizeMask) + 1U;
  const std::uint32_t table = config.read32(bdf_, msix_ + pci::kMsixTable);
  table_bar_ = table & pci::kMsixBirMask;
  table_offset_ = table & ~pci::kMsixBirMask;
  for (unsigned bar = 0; bar < bars_.size(); ++bar) {
    if (bars_[bar].size == 0) continue;
    const std::uint32_t low = config.read32(bdf_, pci::kBar0 + 4 * bar);
    bar_image_[bar] = low & 0xF;
    bar_mask_[bar] = static_cast<std::uint32_t>(~(bars_[bar].size - 1)) & ~0xFU;
    if ((low & 0x6) == 0x4 && bar + 1 < bars_.size()) {
      bar_mask_[bar + 1] = static_cast<std::uint32_t>(~(bars_[bar].size - 1) >> 32);
    }
  }
  return {};
}

Bytes ExportedFunction::region_size(unsigned region) const {
  if (region == VFIO_PCI_CONFIG_REGION_INDEX) return pci::kConfigSpaceSize;
  return region < bars_.size() ? bars_[region].size : 0;
}

unsigned ExportedFunction::irq_count(unsigned index) const {
  if (index == VFIO_PCI_MSIX_IRQ_INDEX) return vectors_;
  return index == VFIO_PCI_ERR_IRQ_INDEX || index == VFIO_PCI_REQ_IRQ_INDEX ? 1 : 0;
}

int ExportedFunction::read(unsigned region, Bytes offset, std::byte* data, Bytes count) {
  if (region != VFIO_PCI_CONFIG_REGION_INDEX && count > kLongestBarAccess) return EINVAL;
  if (before_access_) before_access_();
  while (count > 0) {
    unsigned width = 0;
    std::uint64_t value = 0;
    if (region == VFIO_PCI_CONFIG_REGION_INDEX) {
      width = natural_width(offset, count, 4);
      value = read_config(static_cast<std::uint32_t>(offset), width);
      ++statistics_.config_reads;
    } else if (width = natural_width(offset, count, 8); in_msix_table(region, offset, width)) {
      value = UINT64_MAX;
    } else {
      const SimTime begin = sim_now();
      value = host_.load(bars_[region].address + offset, width);
      statistics_.read_time += sim_now() - begin;
      statistics_.longest_read = std::max(statistics_.longest_read, sim_now() - begin);
      ++statistics_.reads;
    }
    std::memcpy(data, &value, width);
    offset += width;
    data += width;
    count -= width;
  }
  return 0;
}

int ExportedFunction::write(unsigned region, Bytes offset, const std::byte* data, Bytes count) {
  if (region != VFIO_PCI_CONFIG_REGION_INDEX && count > kLongestBarAccess) return EINVAL;
  if (before_access_) before_access_();
  while (count > 0) {
    const bool is_config = region == VFIO_PCI_CONFIG_REGION_INDEX;
    const unsigned width = natural_width(offset, count, is_config ? 4 : 8);
    std::uint64_t value = 0;
    std::memcpy(&value, data, width);
    if (is_config) {
      write_config(static_cast<std::uint32_t>(offset), width, static_cast<std::uint32_t>(value));
      ++statistics_.config_writes;
    } else if (!in_msix_table(region, offset, width)) {
      host_.store(bars_[region].address + offset, value, width);
      ++statistics_.writes;
    }
    offset += width;
    data += width;
    count -= width;
  }
  return 0;
}

// Like the kernel's VFIO: the table is programmed through SET_IRQS only.
bool ExportedFunction::in_msix_table(unsigned region, Bytes offset, Bytes count) const {
  const Bytes end = table_offset_ + Bytes{vectors_} * pci::kMsixEntrySize;
  return region == table_bar_ && offset < end && offset + count > table_offset_;
}

std::uint32_t ExportedFunction::read_config(std::uint32_t offset, unsigned width) {
  std::uint32_t value = host_.pci().read(bdf_, offset, width);
  // A function that does not answer has no images either.
  if (value == pci::kAllOnes >> (32 - 8 * width) && host_.pci().read32(bdf_, 0) == pci::kAllOnes)
    return value;
  const auto overlay = [&](std::uint32_t at, unsigned size, std::uint32_t image) {
    for (std::uint32_t i = 0; i < size; ++i) {
      if (at + i < offset || at + i >= offset + width) continue;
      const std::uint32_t shift = 8 * (at + i - offset);
      value = (value & ~(0xFFU << shift)) | ((image >> (8 * i) & 0xFF) << shift);
    }
  };
  if (overlaps(offset, width, pci::kBar0, kBarsEnd)) {
    for (std::uint32_t bar = 0; bar < bars_.size(); ++bar) {
      overlay(pci::kBar0 + 4 * bar, 4, bar_image_[bar]);
    }
  }
  overlay(msix_ + pci::kMsixControl, 2, msix_image_);
  return value;
}

void ExportedFunction::write_config(std::uint32_t offset, unsigned width, std::uint32_t value) {
  if (overlaps(offset, width, pci::kBar0, kBarsEnd)) {
    return write_bar_register(offset, width, value);
  }
  const std::uint32_t control = msix_ + pci::kMsixControl;
  if (overlaps(offset, width, control, control + 2)) {
    // Only its upper byte, and all else of that dword is read-only.
    if (offset + width <= control + 1) return;
    const std::uint32_t high = value >> (8 * (control + 1 - offset)) & 0xC0;
    msix_image_ = static_cast<std::uint16_t>((msix_image_ & 0x3FFF) | high << 8);
    return;
  }
  const std::uint32_t flr = express_ + pci::kExpDeviceControl + 1;
  if (overlaps(offset, width, flr, flr + 1) && (value >> (8 * (flr - offset)) & 0x80) != 0) {
    return reset();
  }
  host_.pci().write(bdf_, offset, width, value);
  // Back in D0: what was set up meanwhile did not reach the table, which does not answer in D3.
  const std::uint32_t power_state = power_ + kPowerControl;
  if (power_ != 0 && overlaps(offset, width, power_state, power_state + 1)) restore_interrupts();
}

void ExportedFunction::write_bar_register(std::uint32_t offset, unsigned width,
                                          std::uint32_t value) {
  const std::uint32_t bar = (offset - pci::kBar0) / 4;
  const std::uint32_t shift = 8 * (offset % 4);
  const std::uint32_t written = width == 4 ? pci::kAllOnes : ((1U << (8 * width)) - 1) << shift;
  const std::uint32_t changed = written & bar_mask_[bar];
  bar_image_[bar] = (bar_image_[bar] & ~changed) | (value << shift & changed);
}

int ExportedFunction::map(const vfio_user::DmaMapping& mapping) {
  using platform::DmaDirection;
  if (!mapping.readable && !mapping.writable) return EINVAL;
  const auto direction = mapping.readable && mapping.writable ? DmaDirection::kBidirectional
                         : mapping.readable                   ? DmaDirection::kDeviceReads
                                                              : DmaDirection::kDeviceWrites;
  const ByteSpan memory{mapping.data, static_cast<std::size_t>(mapping.size)};
  return memory_.map_at(bdf_.packed(), mapping.iova, memory, direction) ? 0 : EEXIST;
}

void ExportedFunction::unmap(std::uint64_t iova, Bytes size) {
  host_.unmap(bdf_.packed(), iova, size);
}

void ExportedFunction::reset() {
  ++statistics_.resets;
  static_cast<void>(host_.reset_function(bdf_));  // one that does not answer stays as it is
  msix_image_ &= pci::kMsixControlSizeMask;
  restore_interrupts();
}

void ExportedFunction::client_gone() {
  reset();
  for (std::size_t bar = 0; bar < bars_.size(); ++bar) bar_image_[bar] &= ~bar_mask_[bar];
}

}  // namespace npu::model
