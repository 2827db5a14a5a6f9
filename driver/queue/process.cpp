// SPDX-License-Identifier: Apache-2.0
// ProcessContext: what a user may call.
#include <fmt/format.h>

#include <algorithm>

#include "driver/device/address_space_impl.hpp"
#include "driver/queue/process_impl.hpp"
#include "driver/queue/process_memory.hpp"
#include "driver/queue/signals_impl.hpp"
#include "driver/support/call_trace.hpp"
#include "driver/support/choice.hpp"
#include "driver/support/impl_of.hpp"

namespace npu::driver {
namespace {

constexpr Picoseconds kFaultPause = 100_us;

void count_call(ProcessContext::Impl& process) {
  process.manager.counters().calls.fetch_add(1, std::memory_order_relaxed);
}

// Unlike one that the card has not answered, after which evictions count.
Status not_begun(const ProcessContext::Impl& process) {
  return fail(ErrorCode::kBusy, process.commands.others_too_long().value().context);
}

CallTrace call_trace(const ProcessContext::Impl& process, platform::DriverCall call,
                     std::uint64_t argument = 0) {
  return {process.link.platform(), process.link.device_index(), call, argument};
}

}  // namespace

Result<std::unique_ptr<ProcessContext>> ProcessContext::open(Device& device,
                                                             const ProcessOptions& options) {
  if (options.max_queues == 0 || options.max_queues > abi::kQueueDoorbells) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} queues, 1 .. {} are possible",
                                                         options.max_queues, abi::kQueueDoorbells));
  }
  const auto manager = manager_of(device);
  if (!manager) {
    return fail(manager.error().code,
                fmt::format("opening a process: {}", manager.error().context));
  }
  auto impl = std::make_unique<Impl>(device, **manager, options);
  count_call(*impl);
  if (auto ok = impl->open(device); !ok) {
    return fail(ok.error().code, fmt::format("opening a process: {}", ok.error().context));
  }
  return std::make_unique<ProcessContext>(std::move(impl));
}

ProcessContext::ProcessContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProcessContext::~ProcessContext() = default;

Status ProcessContext::close() {
  count_call(*impl_);
  if (auto ok = impl_->begin_close(); !ok) return ok;
  return impl_->close();
}

std::uint32_t ProcessContext::pasid() const {
  return impl_->resources.pasid.value();
}
unsigned ProcessContext::vmid() const {
  return impl_->resources.vmid;
}
std::uint32_t ProcessContext::doorbell_page() const {
  return impl_->resources.page.value();
}
AddressSpace& ProcessContext::space() {
  return *impl_->resources.space;
}
Signals& ProcessContext::signals() {
  return *impl_->resources.signals;
}

Result<std::unique_ptr<platform::DmaMemory>> ProcessContext::allocate_host(
    Bytes size, platform::DmaDirection direction) {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  auto known = check_choice("direction", direction, platform::DmaDirection::kDeviceWrites);
  if (!known) return forward_error(known);
  auto& platform = impl_->link.platform();
  auto memory = platform.allocate_dma(impl_->link.bdf(), size, 4096, direction);
  if (!memory) return impl_->link.explain(memory.error());
  if (auto ok = give_to_process(platform, **memory, pasid()); !ok) return forward_error(ok);
  return memory;
}

Result<std::unique_ptr<platform::DmaMemory>> ProcessContext::import_host(
    ByteSpan memory, platform::HostPages pages, platform::DmaDirection direction) {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  auto known = check_choice("direction", direction, platform::DmaDirection::kDeviceWrites);
  if (!known) return forward_error(known);
  auto& platform = impl_->link.platform();
  auto imported = platform.import_dma(impl_->link.bdf(), memory, direction, pages);
  if (!imported) return impl_->link.explain(imported.error());
  if (auto ok = give_to_process(platform, **imported, pasid()); !ok) return forward_error(ok);
  return imported;
}

Result<std::unique_ptr<Queue>> ProcessContext::create_queue(const QueueOptions& options) {
  if (auto ok = impl_->enter(); !ok) return forward_error(ok);
  count_call(*impl_);
  const auto trace = call_trace(*impl_, platform::DriverCall::kCreateQueue);
  auto queue = impl_->create(options);
  if (queue) return queue;  // its handle is what leaves
  impl_->leave();
  return fail(queue.error().code, fmt::format("creating a queue: {}", queue.error().context));
}

Status ProcessContext::update(QueueId queue, const QueueChange& change) {
  if (change.core_mask) {
    auto known = impl_->features.has(&DeviceFeatures::core_limits, "limits of cores are");
    if (!known) return known;
  }
  if (auto ok = impl_->enter(); !ok) return ok;
  count_call(*impl_);
  const auto trace = call_trace(*impl_, platform::DriverCall::kUpdateQueue, queue.value);
  const auto status = impl_->changes.update(queue, change);
  impl_->leave();
  return status;
}

Result<QueueEnd> ProcessContext::destroy(Queue& queue, Instant deadline) {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  const auto& owner = impl_of(queue).process;
  if (&owner != impl_.get()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("queue {} belongs to another process, with PASID {} and not {}",
                            queue.id().value, owner.resources.pasid.value(), pasid()));
  }
  count_call(*impl_);
  const auto trace = call_trace(*impl_, platform::DriverCall::kDestroyQueue, queue.id().value);
  return impl_->endings.destroy(*impl_of(queue).channel, deadline, false);
}

Result<QueueStatus> ProcessContext::query(QueueId queue) {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  count_call(*impl_);
  const MutexHolder holder(impl_->queues.mutex());
  auto* record = impl_->queues.table().find(queue);
  if (record == nullptr) return impl_->commands.no_queue(queue);
  return impl_->changes.query(*record);
}

Result<std::vector<QueueStatus>> ProcessContext::snapshot(std::size_t limit) {
  if (auto ok = impl_->usable(); !ok) return forward_error(ok);
  count_call(*impl_);
  std::vector<QueueStatus> result;
  const MutexHolder holder(impl_->queues.mutex());
  for (const auto& record : impl_->queues.table().records()) {
    if (result.size() == limit) break;
    auto status = impl_->changes.query(*record);
    if (!status) return forward_error(status);
    result.push_back(*status);
  }
  return result;
}

std::size_t ProcessContext::queue_count() const {
  const MutexHolder holder(impl_->queues.mutex());
  return impl_->queues.table().count();
}

std::vector<QueueResult> ProcessContext::suspend(const std::vector<QueueId>& queues,
                                                 Instant deadline) {
  if (!impl_->usable()) return std::vector<QueueResult>(queues.size(), QueueResult::kError);
  count_call(*impl_);
  return impl_->changes.set_suspended(queues, true, deadline);
}

std::vector<QueueResult> ProcessContext::resume(const std::vector<QueueId>& queues,
                                                Instant deadline) {
  if (!impl_->usable()) return std::vector<QueueResult>(queues.size(), QueueResult::kError);
  count_call(*impl_);
  return impl_->changes.set_suspended(queues, false, deadline);
}

Status ProcessContext::evict(Instant deadline) {
  if (auto ok = impl_->usable(); !ok) return ok;
  count_call(*impl_);
  const TimedMutexHolder holder(impl_->queues.mutex(), deadline);
  if (!holder) return not_begun(*impl_);
  return impl_->queues.evictions().evict(deadline);
}

Status ProcessContext::restore(Instant deadline) {
  if (auto ok = impl_->usable(); !ok) return ok;
  count_call(*impl_);
  const TimedMutexHolder holder(impl_->queues.mutex(), deadline);
  if (!holder) return not_begun(*impl_);
  return impl_->queues.evictions().restore(deadline);
}

unsigned ProcessContext::evictions() const {
  const MutexHolder holder(impl_->queues.mutex());
  return impl_->queues.evictions().count();
}

Picoseconds ProcessContext::evicted_time() const {
  const MutexHolder holder(impl_->queues.mutex());
  return impl_->queues.evictions().time();
}

void ProcessContext::on_fault(FaultHandler handler) {
  impl_->faults.set_handler(std::move(handler));
}

std::vector<QueueFault> ProcessContext::take_faults() {
  impl_->manager.collect_faults();
  impl_->faults.deliver();
  return impl_->faults.take();
}

std::vector<QueueFault> ProcessContext::take_faults(QueueId queue) {
  impl_->manager.collect_faults();
  impl_->faults.deliver();
  return impl_->faults.take(queue);
}

Status ProcessContext::wait_fault(Instant deadline) {
  auto& process = *impl_;
  auto& clock = process.link.clock();
  for (;;) {
    const auto seen = process.resources.vector->count();
    process.look_for_faults();
    if (!process.faults.empty()) return {};
    if (auto ok = process.usable(); !ok) return ok;
    if (clock.now() >= deadline) return fail(ErrorCode::kTimeout, "no fault of the process");
    // A queue's fault comes on the queue's vector, so look now and then.
    static_cast<void>(
        process.resources.vector->wait_after(seen, std::min(deadline, clock.now() + kFaultPause)));
  }
}

}  // namespace npu::driver
