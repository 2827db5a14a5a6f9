// SPDX-License-Identifier: Apache-2.0
// Device: life cycle, memory, faults.
#include "npu/driver/device.hpp"

#include <fmt/format.h>

#include "driver/device/address_space_impl.hpp"
#include "driver/device/device_impl.hpp"
#include "driver/managed/fault_service.hpp"
#include "driver/support/call_trace.hpp"
#include "driver/support/choice.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Device::~Device() {
  static_cast<void>(shutdown());
}

Result<std::unique_ptr<Device>> Device::open(platform::Platform& platform, platform::Bdf bdf,
                                             const DeviceOptions& options) {
  auto known = check_choice("ring", options.ring, RingPlacement::kHostMemory);
  if (!known) return forward_error(known);
  auto impl = std::make_unique<Impl>(platform, options);
  const CallTrace trace(platform, CallTrace::kNoCard, platform::DriverCall::kOpen, bdf.packed());
  if (auto ok = initialise(*impl, bdf); !ok) {
    if (impl->queue) static_cast<void>(impl->queue->disable(platform.clock().now()));
    restore_function(*impl);
    return forward_error(ok);
  }
  return std::unique_ptr<Device>(new Device(std::move(impl)));
}

Result<std::unique_ptr<Device>> Device::open_index(platform::Platform& platform,
                                                   std::uint32_t index,
                                                   const DeviceOptions& options) {
  const auto found = scan(platform);
  if (!found) return forward_error(found);
  for (const auto& card : found->cards) {
    if (card.device_index == index) return open(platform, card.bdf(), options);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no card with device index {}: {} usable, {} refused", index,
                          found->cards.size(), found->refused.size()));
}

Status Device::Impl::usable() const {
  if (closed.load(std::memory_order_acquire)) {
    return fail(ErrorCode::kInvalidArgument, "the device is shut down");
  }
  return link->alive();
}

Status Device::shutdown() {
  const CallTrace trace(impl_->platform, impl_->card.device_index, platform::DriverCall::kShutdown);
  if (impl_->closed.exchange(true)) return {};
  auto& link = *impl_->link;
  impl_->peers->close();
  if (const auto service = impl_->page_faults.lock()) service->stop();
  // Not in the middle of a compaction.
  const MutexHolder memory_holder(impl_->memory->mutex());
  // Nor in the middle of a reset, which would enable the queue again.
  const MutexHolder holder(*impl_->control);
  const auto deadline = impl_->ready_deadline();
  if (impl_->queues) impl_->queues->stop();
  Status status = impl_->queue->drain(deadline);
  if (auto ok = impl_->queue->disable(deadline); !ok && status) status = ok;
  if (!link.lost()) {
    link.write(abi::EventRecordBase::from_raw(0));
    impl_->memory->withdraw_contexts();
  }
  impl_->vectors->close();
  restore_function(*impl_);
  return status;
}

Status Device::reset_queue() {
  const CallTrace trace(impl_->platform, impl_->card.device_index,
                        platform::DriverCall::kResetQueue);
  if (auto ok = impl_->usable(); !ok) return ok;
  const MutexHolder holder(*impl_->control);
  if (auto ok = impl_->usable(); !ok) return ok;
  return impl_->queue->reset(impl_->ready_deadline());
}

const CardInfo& Device::info() const {
  return impl_->card;
}

bool Device::lost() const {
  return impl_->link->lost();
}

AddressSpace& Device::address_space() {
  return *impl_->default_space;
}

Result<std::unique_ptr<AddressSpace>> Device::create_address_space(
    ProcessId process, std::shared_ptr<MemoryQuota> quota) {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  return make_address_space(*impl_, process, std::move(quota));
}

Result<DeviceMemory> Device::allocate(Bytes size, const MemoryOptions& options) {
  return impl_->default_space->allocate(size, options);
}

Status Device::free(DeviceAddress address) {
  return impl_->default_space->free(address);
}

MemoryStatistics Device::memory_statistics() const {
  const MutexHolder holder(impl_->memory->mutex());
  impl_->memory->physical().collect();
  return impl_->memory->physical().statistics();
}

Result<CompactionReport> Device::compact(Bytes wanted) {
  const CallTrace trace(impl_->platform, impl_->card.device_index, platform::DriverCall::kCompact,
                        0, wanted);
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  const auto size = checked_align_up(wanted, kPageSize);
  if (wanted == 0 || !size) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("compaction for {} bytes", wanted));
  }
  const MutexHolder holder(impl_->memory->mutex());
  return impl_->compactor->run(*size);
}

CompactionStatistics Device::compaction_statistics() const {
  const MutexHolder holder(impl_->memory->mutex());
  return impl_->compactor->statistics();
}

Result<std::unique_ptr<platform::DmaMemory>> Device::allocate_host(
    Bytes size, platform::DmaDirection direction) {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  auto known = check_choice("direction", direction, platform::DmaDirection::kDeviceWrites);
  if (!known) return forward_error(known);
  return impl_->platform.allocate_dma(impl_->card.bdf(), size, 4096, direction);
}

Result<std::optional<FaultReport>> Device::take_fault() {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  auto& link = *impl_->link;
  const auto status = link.read<abi::FaultStatus>();
  if (!status) return forward_error(status);
  if (!status->get<abi::FaultStatus::Valid>()) return std::nullopt;
  const auto code = link.read<abi::FaultCodeRegister>();
  if (!code) return forward_error(code);
  // All ones may be the address at fault.
  const auto address = platform::read_register<abi::FaultAddress>(link.registers());
  const auto info = platform::read_register<abi::FaultInfo>(link.registers());
  const auto access = platform::read_register<abi::FaultAccess>(link.registers());
  link.write(*status);
  FaultReport report;
  report.code = static_cast<abi::FaultCode>(code->get<abi::FaultCodeRegister::Code>());
  report.opcode = static_cast<std::uint8_t>(code->get<abi::FaultCodeRegister::Opcode>());
  report.engine = static_cast<std::uint8_t>(code->get<abi::FaultCodeRegister::Engine>());
  report.address = address.raw;
  report.stream = static_cast<std::uint16_t>(info.get<abi::FaultInfo::Stream>());
  report.ring_index = static_cast<std::uint16_t>(info.get<abi::FaultInfo::RingIndex>());
  report.vmid = static_cast<std::uint8_t>(access.get<abi::FaultAccess::Vmid>());
  report.write = access.get<abi::FaultAccess::Write>() != 0;
  report.overflow = status->get<abi::FaultStatus::Overflow>() != 0;
  return report;
}

std::string describe(const FaultReport& report) {
  const auto access =
      report.vmid == abi::kVmidPhysical
          ? std::string()
          : fmt::format(" of VMID {}, {}", report.vmid, report.write ? "write" : "read");
  return fmt::format("{} (stream {}, ring index {}, opcode {:#04x}, address {:#x}{}){}",
                     to_string(report.code), report.stream, report.ring_index, report.opcode,
                     report.address, access, report.overflow ? ", and more faults after it" : "");
}

}  // namespace npu::driver
