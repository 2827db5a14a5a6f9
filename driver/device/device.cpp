// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/device.hpp"

#include <fmt/format.h>

#include "driver/device/address_space_impl.hpp"
#include "driver/device/device_impl.hpp"
#include "driver/link/fault_registers.hpp"
#include "driver/support/call_trace.hpp"
#include "driver/support/choice.hpp"
#include "driver/support/impl_of.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

tl::unexpected<Error> no_stream(StreamId id) {
  return fail(ErrorCode::kNotFound, fmt::format("stream {}", id.value));
}

tl::unexpected<Error> no_event(EventId id) {
  return fail(ErrorCode::kNotFound, fmt::format("event {}", id.value));
}

// What cannot be right in any address space. Device addresses are the business of the card's MMU,
// host addresses that of the IOMMU.
Status check_command(const DmaCommand& command) {
  const auto opcode = static_cast<std::uint8_t>(command.opcode());
  if (abi::find_ring_operation(opcode) == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("opcode is {}, which the ring does not take", opcode));
  }
  if (command.size() == 0) return fail(ErrorCode::kInvalidArgument, "a DMA command of 0 bytes");
  if (!checked_add(command.source(), command.size()) ||
      !checked_add(command.destination(), command.size())) {
    return fail(ErrorCode::kOutOfRange,
                fmt::format("{} bytes from {:#x} to {:#x} overflow", command.size(),
                            command.source(), command.destination()));
  }
  return {};
}

}  // namespace

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
  return open_index(platform, *found, index, options);
}

Result<std::unique_ptr<Device>> Device::open_index(platform::Platform& platform,
                                                   const ScanResult& found, std::uint32_t index,
                                                   const DeviceOptions& options) {
  for (const auto& card : found.cards) {
    if (card.device_index == index) return open(platform, card.bdf(), options);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no card with device index {}: {} usable, {} refused", index,
                          found.cards.size(), found.refused.size()));
}

Status Device::shutdown() {
  const CallTrace trace(impl_->platform, impl_->card.device_index, platform::DriverCall::kShutdown);
  auto& link = *impl_->link;
  if (!link.close()) return {};
  impl_->memory->peers()->close();
  auto& services = impl_->services;
  if (const auto service = services.fault_service()) service->stop();
  // Not in the middle of a compaction.
  const MutexHolder memory_holder(impl_->memory->mutex());
  // Nor in the middle of a reset, which would enable the queue again.
  const MutexHolder holder(*services.control);
  const auto deadline = link.ready_deadline();
  if (services.queues) services.queues->stop();
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
  if (auto ok = impl_->link->usable(); !ok) return ok;
  const MutexHolder holder(*impl_->services.control);
  if (auto ok = impl_->link->usable(); !ok) return ok;
  return impl_->queue->reset(impl_->link->ready_deadline());
}

const CardInfo& Device::info() const {
  return impl_->card;
}

Result<bool> Device::has_link_to(std::uint32_t index) const {
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
  return impl_->link->has_link_to(index);
}

bool Device::lost() const {
  return impl_->link->lost();
}

AddressSpace& Device::address_space() {
  return *impl_->default_space;
}

Result<std::unique_ptr<AddressSpace>> Device::create_address_space(
    ProcessId process, std::shared_ptr<MemoryQuota> quota,
    std::shared_ptr<UnifiedAddresses> addresses) {
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
  return make_address_space(*impl_->link, *impl_->memory, impl_->features, process,
                            std::move(quota), std::move(addresses));
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
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
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
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
  auto known = check_choice("direction", direction, platform::DmaDirection::kDeviceWrites);
  if (!known) return forward_error(known);
  return impl_->platform.allocate_dma(impl_->card.bdf(), size, 4096, direction);
}

Result<std::optional<FaultReport>> Device::take_fault() {
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
  return driver::take_fault(*impl_->link);
}

// --- Streams, events, submitting and waiting -------------------------------------------------

Result<StreamId> Device::create_stream(const StreamOptions& options) {
  const CallTrace trace(impl_->platform, impl_->card.device_index,
                        platform::DriverCall::kCreateStream);
  auto known = check_choice("placement", options.placement, StreamPlacement::kBar0);
  if (!known) return forward_error(known);
  // Both, in the compactor's order: the space must neither close nor change its VMID meanwhile.
  const MutexHolder memory_holder(impl_->memory->mutex());
  const MutexHolder holder(*impl_->services.control);
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
  const auto& space = options.space ? impl_of(*options.space) : impl_of(*impl_->default_space);
  if (&space.link != impl_->link.get() || space.space == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                "the stream's address space is closed or of another card");
  }
  const auto vmid = space.space->vmid();
  const auto created = impl_->streams->create(options, vmid);
  if (created) impl_->memory->add_stream(vmid);
  return created;
}

Status Device::destroy_stream(StreamId id, Instant deadline) {
  const CallTrace trace(impl_->platform, impl_->card.device_index,
                        platform::DriverCall::kDestroyStream, id.value);
  if (auto ok = impl_->link->usable(); !ok) return ok;
  auto* stream = impl_->streams->find_user(id);
  if (!stream) return no_stream(id);
  const auto last = QueueMark::from_raw(stream->submitted.load(std::memory_order_relaxed));
  if (auto ok = impl_->queue->wait_consumed(last, deadline); !ok) return ok;
  if (auto ok = impl_->streams->finish(id, deadline); !ok) return ok;
  const unsigned vmid = stream->vmid;
  {
    const MutexHolder holder(*impl_->services.control);
    if (impl_->streams->find_user(id) != stream) return no_stream(id);
    // The stream stays if its event does, for another try.
    if (auto ok = impl_->events->destroy(stream->event); !ok) return ok;
    stream->used.store(false, std::memory_order_release);
  }
  impl_->memory->remove_stream(vmid);
  const MutexHolder holder(impl_->memory->mutex());
  return impl_->memory->collect(vmid, true);
}

Result<EventId> Device::stream_event(StreamId id) const {
  const auto* stream = impl_->streams->find_user(id);
  if (!stream) return no_stream(id);
  return stream->event;
}

Result<EventId> Device::create_event() {
  CallTrace trace(impl_->platform, impl_->card.device_index, platform::DriverCall::kCreateEvent);
  const auto failed = [&](const Error& error) {
    trace.failed();
    return tl::unexpected(error);
  };
  if (auto ok = impl_->link->usable(); !ok) return failed(ok.error());
  const MutexHolder holder(*impl_->services.control);
  auto event = impl_->events->create();
  if (!event) return failed(event.error());
  return event;
}

Status Device::destroy_event(EventId event) {
  CallTrace trace(impl_->platform, impl_->card.device_index, platform::DriverCall::kDestroyEvent,
                  event.value);
  if (auto ok = impl_->link->usable(); !ok) {
    trace.failed();
    return ok;
  }
  const MutexHolder holder(*impl_->services.control);
  auto destroyed = impl_->events->destroy(event);
  if (!destroyed) trace.failed();
  return destroyed;
}

Result<Ticket> Device::submit(StreamId id, const DmaCommand& command,
                              const SubmitOptions& options) {
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
  auto* stream = impl_->streams->find_user(id);
  if (!stream) return no_stream(id);
  if (auto ok = check_command(command); !ok) return forward_error(ok);
  CopyRequest request;
  request.stream = id;
  request.command = command;
  request.event = options.event == kStreamEvent ? stream->event.load() : options.event;
  request.interrupt = options.interrupt && stream->interrupt;
  if (request.event != kNoEvent && !impl_->events->exists(request.event)) {
    return no_event(request.event);
  }
  auto ticket = impl_->queue->submit(request, impl_->options.submit_timeout);
  if (ticket) stream->note_submitted(QueueMark::behind(*ticket));
  return ticket;
}

Result<bool> Device::is_done(const Ticket& ticket) {
  if (auto ok = impl_->link->usable(); !ok) return forward_error(ok);
  if (!impl_->events->exists(ticket.event)) return no_event(ticket.event);
  return impl_->waiter->is_done(ticket);
}

Status Device::wait(const Ticket& ticket, WaitPolicy policy, Instant deadline) {
  if (auto ok = impl_->link->usable(); !ok) return ok;
  if (auto ok = check_choice("policy", policy, WaitPolicy::kAdaptive); !ok) return ok;
  if (!impl_->events->exists(ticket.event)) return no_event(ticket.event);
  const auto* stream = impl_->streams->find_user(ticket.stream);
  if (!stream) return no_stream(ticket.stream);
  const WaitContext context{stream->vector, stream->predictor.get()};
  return impl_->waiter->wait(ticket, context, policy, deadline);
}

Status Device::copy(StreamId stream, const DmaCommand& command, WaitPolicy policy,
                    Instant deadline) {
  const auto ticket = submit(stream, command);
  if (!ticket) return forward_error(ticket);
  return wait(*ticket, policy, deadline);
}

DmaStatistics Device::dma_statistics() const {
  return impl_->queue->statistics();
}

WaitStatistics Device::wait_statistics() const {
  return impl_->waiter->statistics();
}

// --- Parts -----------------------------------------------------------------------------------

CardLink& DeviceParts::link(Device& device) {
  return *device.impl_->link;
}
VectorTable& DeviceParts::vectors(Device& device) {
  return *device.impl_->vectors;
}
MemoryManager& DeviceParts::memory(Device& device) {
  return *device.impl_->memory;
}
Compactor& DeviceParts::compactor(Device& device) {
  return *device.impl_->compactor;
}
DeviceServices& DeviceParts::services(Device& device) {
  return device.impl_->services;
}
const CardFeatures& DeviceParts::features(Device& device) {
  return device.impl_->features;
}
const AdaptiveOptions& DeviceParts::adaptive(Device& device) {
  return device.impl_->options.adaptive;
}

}  // namespace npu::driver
