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
    : host_(host),
      memory_(memory),
      resources_(resources),
      bdf_(bdf),
      interrupts_(host, interrupts, resources_, bdf, statistics_.interrupts) {
  for (unsigned bar = 0; bar < bars_.size(); ++bar) bars_[bar] = resources(bdf, bar);
}

Status ExportedFunction::prepare() {
  if (auto done = host_.reset_function(bdf_); !done) return done;
  express_ = host_.find_capability(bdf_, pci::kCapPciExpress);
  const auto msix = host_.find_capability(bdf_, pci::kCapMsix);
  const auto power = host_.find_capability(bdf_, pci::kCapPowerManagement);
  if (msix == 0) return fail(ErrorCode::kUnsupported, to_string(bdf_) + " has no MSI-X");
  physical_ = host_.physical_of(bdf_);
  if (physical_) physical_express_ = host_.find_capability(*physical_, pci::kCapPciExpress);
  interrupts_.prepare(msix, power);
  auto& config = host_.pci();
  for (unsigned bar = 0; bar < bars_.size(); ++bar) {
    bar_images_.set(bar, bars_[bar].size, config.read32(bdf_, pci::kBar0 + 4 * bar));
  }
  sriov_ = host_.find_extended_capability(bdf_, pci::kExtSriov);
  if (sriov_ != 0) prepare_virtual_bars();
  return {};
}

// All of one size: that of the first.
void ExportedFunction::prepare_virtual_bars() {
  auto& config = host_.pci();
  const unsigned first = bdf_.packed() + config.read16(bdf_, sriov_ + pci::kSriovVfOffset);
  const auto bdf = platform::Bdf::unpack(first);
  for (unsigned bar = 0; bar < bars_.size(); ++bar) {
    const auto flags = config.read32(bdf_, sriov_ + pci::kSriovBar0 + 4 * bar);
    virtual_bar_images_.set(bar, resources_(bdf, bar).size, flags);
  }
}

Bytes ExportedFunction::region_size(unsigned region) const {
  if (region == VFIO_PCI_CONFIG_REGION_INDEX) return pci::kConfigSpaceSize;
  return region < bars_.size() ? bars_[region].size : 0;
}

unsigned ExportedFunction::irq_count(unsigned index) const {
  if (index == VFIO_PCI_MSIX_IRQ_INDEX) return interrupts_.vectors();
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
    } else if (width = natural_width(offset, count, 8);
               interrupts_.in_table(region, offset, width)) {
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
    } else if (!interrupts_.in_table(region, offset, width)) {
      host_.store(bars_[region].address + offset, value, width);
      ++statistics_.writes;
    }
    offset += width;
    data += width;
    count -= width;
  }
  return 0;
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
  for (unsigned bar = 0; bar < bars_.size(); ++bar) {
    overlay(pci::kBar0 + 4 * bar, 4, bar_images_.get(bar));
    if (sriov_ != 0) overlay(sriov_ + pci::kSriovBar0 + 4 * bar, 4, virtual_bar_images_.get(bar));
  }
  overlay(interrupts_.control_offset(), 2, interrupts_.control());
  for (const std::uint32_t at : {pci::kExpLinkStatus, pci::kExpLinkStatus2}) {
    if (physical_ && overlaps(offset, width, express_ + at, express_ + at + 2)) {
      overlay(express_ + at, 2, host_.pci().read16(*physical_, physical_express_ + at));
    }
  }
  return value;
}

void ExportedFunction::write_config(std::uint32_t offset, unsigned width, std::uint32_t value) {
  if (overlaps(offset, width, pci::kBar0, kBarsEnd)) {
    return bar_images_.write(offset - pci::kBar0, width, value);
  }
  if (write_virtual_bars(offset, width, value)) return;
  const std::uint32_t msix = interrupts_.control_offset();
  if (overlaps(offset, width, msix, msix + 2)) {
    // Only its upper byte, and all else of that dword is read-only.
    if (offset + width <= msix + 1) return;
    return interrupts_.write_control(value >> (8 * (msix + 1 - offset)));
  }
  const std::uint32_t flr = express_ + pci::kExpDeviceControl + 1;
  if (overlaps(offset, width, flr, flr + 1) && (value >> (8 * (flr - offset)) & 0x80) != 0) {
    return reset();
  }
  host_.pci().write(bdf_, offset, width, value);
  const std::uint32_t control = sriov_ + pci::kSriovControl;
  if (sriov_ != 0 && overlaps(offset, width, control, control + 2)) virtual_functions_changed();
  // Back in D0: what was set up meanwhile did not reach the table, which does not answer in D3.
  const std::uint32_t power_state = interrupts_.power_offset();
  if (power_state != 0 && overlaps(offset, width, power_state, power_state + 1)) {
    interrupts_.restore();
  }
}

// Where virtual functions lie and how far apart is the machine's own: the client sees images of
// their BARs, and their page size as it is.
bool ExportedFunction::write_virtual_bars(std::uint32_t offset, unsigned width,
                                          std::uint32_t value) {
  const std::uint32_t bars = sriov_ + pci::kSriovBar0;
  if (sriov_ == 0 || !overlaps(offset, width, sriov_ + pci::kSriovPageSize, bars + 24))
    return false;
  if (offset >= bars) virtual_bar_images_.write(offset - bars, width, value);
  return true;
}

void ExportedFunction::virtual_functions_changed() {
  host_.follow_virtual_functions(bdf_);
  if (on_virtual_functions_) on_virtual_functions_();
}

// The other interrupts never happen.
void ExportedFunction::set_trigger(unsigned index, unsigned vector, int eventfd) {
  if (index == VFIO_PCI_MSIX_IRQ_INDEX) interrupts_.set_trigger(vector, eventfd);
}

void ExportedFunction::mask(unsigned index, unsigned vector, bool masked) {
  if (index == VFIO_PCI_MSIX_IRQ_INDEX) interrupts_.mask(vector, masked);
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
  interrupts_.reset_control();
  if (sriov_ != 0) virtual_functions_changed();
  interrupts_.restore();
}

void ExportedFunction::client_gone() {
  reset();
  bar_images_.forget();
  virtual_bar_images_.forget();
}

}  // namespace npu::model
