// SPDX-License-Identifier: Apache-2.0
// Cards as management reaches them: one that this program drives, and one beside its driver.
#include <fmt/format.h>

#include <algorithm>

#include "driver/device/device_parts.hpp"
#include "driver/pci/config_space.hpp"
#include "driver/queue/process_impl.hpp"
#include "npu/abi/identity.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/management.hpp"
#include "npu/driver/time_slices.hpp"

namespace npu::driver {
namespace {

constexpr const char* kNobodyHasTimeSlices = "nobody here shares the cores' time";
constexpr const char* kOnlyItsDriver = "only its driver groups the card's cores";

class OwnCard : public ManagementAccess {
 public:
  OwnCard(Device& opened, std::shared_ptr<const MemoryQuota> quota, TimeSliceScheduler* time_slices)
      : opened_(opened),
        link_(DeviceParts::link(opened)),
        memory_(DeviceParts::memory(opened)),
        quota_(std::move(quota)),
        time_slices_(time_slices) {}

  platform::Bdf bdf() const override { return link_.bdf(); }
  platform::MmioRegion& registers() override { return link_.registers(); }
  std::uint32_t read_config(std::uint32_t offset) override {
    return link_.platform().pci().read32(bdf(), offset);
  }
  Result<MemoryUse> memory_use() override {
    if (auto ok = link_.usable(); !ok) return forward_error(ok);
    const MutexHolder holder(memory_.mutex());
    auto& physical = memory_.physical();
    physical.collect();
    const auto now = physical.statistics();
    return MemoryUse{now.total, now.total - now.free};
  }
  Result<std::vector<CardProcess>> processes() override {
    if (auto ok = link_.usable(); !ok) return forward_error(ok);
    std::vector<CardProcess> all;
    const auto* const queues = manager_if_any(opened_);
    if (queues == nullptr) return all;
    queues->for_each_process([&](std::uint32_t pasid, QueueOwner& owner) {
      const auto& process = static_cast<const ProcessContext::Impl&>(owner);
      all.push_back({process.options.process, pasid, held_by(process.resources.vmid)});
    });
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.pasid < b.pasid; });
    return all;
  }
  Result<QuotaUse> quota() override {
    return quota_ == nullptr ? ManagementAccess::quota() : quota_->use();
  }
  Result<unsigned> token() override {
    return time_slices_ == nullptr ? ManagementAccess::token() : time_slices_->card_token();
  }
  Status set_token(unsigned token) override {
    return time_slices_ == nullptr ? ManagementAccess::set_token(token)
                                   : time_slices_->set_card_token(token);
  }
  Result<ComputeGroup> create_group(const ComputeGroupOptions& options) override {
    return create_compute_group(opened_, options);
  }
  Status remove_group(std::uint32_t id) override { return remove_compute_group(opened_, id); }
  Result<std::vector<ComputeGroup>> groups() override { return compute_groups(opened_); }

 private:
  // Blocks whose handles the space holds, and those that it has mapped, each once.
  Bytes held_by(unsigned vmid) {
    const MutexHolder holder(memory_.mutex());
    const auto& blocks = memory_.physical().blocks();
    std::vector<bool> has(blocks.size());
    if (const auto* const space = memory_.space(vmid); space != nullptr) {
      space->for_each_mapping([&](MemoryHandle memory) { has[memory.index] = true; });
    }
    Bytes sum = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto& block = blocks[i];
      if (block.live() && block.is_local() && (has[i] || block.held_by(vmid))) sum += block.size;
    }
    return sum;
  }

  Device& opened_;
  CardLink& link_;
  MemoryManager& memory_;
  std::shared_ptr<const MemoryQuota> quota_;
  TimeSliceScheduler* const time_slices_;
};

class ObservedCard : public ManagementAccess {
 public:
  ObservedCard(platform::Platform& platform, platform::Bdf bdf,
               std::unique_ptr<platform::MmioRegion> registers,
               std::unique_ptr<platform::MmioRegion> memory)
      : platform_(platform),
        bdf_(bdf),
        registers_(std::move(registers)),
        memory_(std::move(memory)) {}

  platform::Bdf bdf() const override { return bdf_; }
  platform::MmioRegion& registers() override { return *registers_; }
  std::uint32_t read_config(std::uint32_t offset) override {
    return platform_.pci().read32(bdf_, offset);
  }
  Result<MemoryUse> memory_use() override {
    if (memory_ == nullptr) return fail(ErrorCode::kUnsupported, "its memory is not looked at");
    const auto total = platform::read_register<abi::HbmSize>(*registers_).raw;
    const auto used = mapped_bytes(*registers_, *memory_);
    if (!used) return forward_error(used);
    return MemoryUse{total, *used};
  }
  Result<std::vector<CardProcess>> processes() override {
    return fail(ErrorCode::kUnsupported, "only its driver knows the card's processes");
  }

 private:
  platform::Platform& platform_;
  const platform::Bdf bdf_;
  std::unique_ptr<platform::MmioRegion> registers_;
  std::unique_ptr<platform::MmioRegion> memory_;  // null: it is not looked at
};

}  // namespace

Result<QuotaUse> ManagementAccess::quota() {
  return fail(ErrorCode::kUnsupported, "who looks has no quota");
}

Result<unsigned> ManagementAccess::token() {
  return fail(ErrorCode::kUnsupported, kNobodyHasTimeSlices);
}

Status ManagementAccess::set_token(unsigned) {
  return fail(ErrorCode::kUnsupported, kNobodyHasTimeSlices);
}

Result<ComputeGroup> ManagementAccess::create_group(const ComputeGroupOptions&) {
  return fail(ErrorCode::kUnsupported, kOnlyItsDriver);
}

Status ManagementAccess::remove_group(std::uint32_t) {
  return fail(ErrorCode::kUnsupported, kOnlyItsDriver);
}

Result<std::vector<ComputeGroup>> ManagementAccess::groups() {
  return fail(ErrorCode::kUnsupported, kOnlyItsDriver);
}

std::unique_ptr<ManagementAccess> manage(Device& device, std::shared_ptr<const MemoryQuota> quota,
                                         TimeSliceScheduler* time_slices) {
  return std::make_unique<OwnCard>(device, std::move(quota), time_slices);
}

Result<std::unique_ptr<ManagementAccess>> observe(platform::Platform& platform, platform::Bdf bdf) {
  auto& config = platform.pci();
  const auto ids = config.read32(bdf, abi::pci::kVendorId);
  if (is_absent(ids)) return fail(ErrorCode::kNotFound, to_string(bdf) + " does not answer");
  if ((ids & 0xFFFF) != abi::kVendorId ||
      !abi::is_npu_device(static_cast<std::uint16_t>(ids >> 16))) {
    return fail(ErrorCode::kUnsupported, to_string(bdf) + " is no NPU");
  }
  if ((config.read16(bdf, abi::pci::kCommand) & abi::pci::kCommandMemory) == 0) {
    return fail(ErrorCode::kUnsupported,
                to_string(bdf) + " decodes no memory: nobody has brought it up");
  }
  auto registers = platform.map_bar(bdf, abi::kRegisterBar, 0, abi::kMsixTableOffset,
                                    platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  const Bytes memory = platform::read_register<abi::HbmSize>(**registers).raw +
                       abi::kReservedTableOffset + abi::kReservedTableSize;
  auto window = platform.map_bar(bdf, abi::kMemoryBar, 0, memory, platform::Caching::kUncached);
  if (!window) return forward_error(window);
  return std::make_unique<ObservedCard>(platform, bdf, std::move(*registers), std::move(*window));
}

Result<std::unique_ptr<ManagementAccess>> observe_virtual(Device& card, platform::Bdf function) {
  auto& platform = DeviceParts::link(card).platform();
  auto registers = platform.map_bar(function, abi::kRegisterBar, 0, abi::kMsixTableOffset,
                                    platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  return std::make_unique<ObservedCard>(platform, function, std::move(*registers), nullptr);
}

}  // namespace npu::driver
