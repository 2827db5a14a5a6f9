// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/fault_service.hpp"

#include <fmt/format.h>

#include <set>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

// Whoever stops the service, or a card that is gone, raises no interrupt: it looks as often.
constexpr Picoseconds kLook = 100_ms;

}  // namespace

Result<std::shared_ptr<FaultService>> FaultService::of(Device::Impl& device) {
  const MutexHolder holder(*device.control);
  if (auto service = device.page_faults.lock()) return service;
  std::shared_ptr<FaultService> service(new FaultService(device));
  if (auto ok = service->start(); !ok) return forward_error(ok);
  device.page_faults = service;
  return service;
}

Status FaultService::start() {
  // Compute queues take their vectors from the highest on; so does this, and looks what came.
  const unsigned number = device_.vectors->size() - 1;
  const auto vector = device_.vectors->open(number);
  if (!vector) return forward_error(vector);
  vector_ = *vector;
  auto ring = FaultRing::create(*device_.link, number);
  if (!ring) return forward_error(ring);
  ring_ = std::move(*ring);
  auto task = device_.platform.tasks().spawn("page faults", [this] { run(); });
  if (!task) return forward_error(task);
  task_ = std::move(*task);
  return {};
}

FaultService::~FaultService() {
  stop();
}

void FaultService::stop() {
  stopping_.store(true, std::memory_order_release);
  if (task_) task_->join();
  task_.reset();
  ring_.reset();
}

Status FaultService::add(ManagedPages& pages) {
  const MutexHolder holder(*mutex_);
  auto& place = pages_[pages.space().vmid()];
  if (place != nullptr) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("VMID {} has managed memory", pages.space().vmid()));
  }
  if (!ring_) return fail(ErrorCode::kInvalidArgument, "the device is shut down");
  place = &pages;
  std::uint32_t served = 0;
  for (unsigned v = 0; v < abi::kVmids; ++v) served |= (pages_[v] != nullptr ? 1U : 0U) << v;
  ring_->serve(served);
  return {};
}

void FaultService::remove(ManagedPages& pages) {
  const MutexHolder holder(*mutex_);
  pages_[pages.space().vmid()] = nullptr;
  std::uint32_t served = 0;
  for (unsigned v = 0; v < abi::kVmids; ++v) served |= (pages_[v] != nullptr ? 1U : 0U) << v;
  if (ring_ && !device_.link->lost()) ring_->serve(served);
}

void FaultService::run() {
  while (!stopping_.load(std::memory_order_acquire)) {
    const auto seen = vector_->count();
    const auto batch = ring_->take(kBatch);
    if (!batch.empty()) {
      ring_->give_back();
      serve(batch);
      continue;
    }
    static_cast<void>(vector_->wait_beyond(seen, device_.platform.clock().now() + kLook));
  }
}

void FaultService::serve(const std::vector<abi::PageFaultRecord>& batch) {
  const MutexHolder holder(*mutex_);
  std::set<ManagedPages*> concerned;
  for (const auto& record : batch) {
    auto* const pages = pages_[record.vmid % abi::kVmids];
    if (pages == nullptr) continue;  // its space has been given up meanwhile
    ++pages->statistics().records;
    if (concerned.insert(pages).second) ++pages->statistics().batches;
    serve(record);
  }
}

void FaultService::serve(const abi::PageFaultRecord& record) {
  auto& pages = *pages_[record.vmid];
  const std::uint64_t page = align_down(record.address, kPageSize);
  const auto brought = pages.bring_to_card(record.address);
  pages.trace().begin(ServiceTrace::kReply);
  if (brought) {
    ring_->retry(record.vmid, page);
  } else {
    ++pages.statistics().fault_errors;
    ring_->refuse(record.vmid, page);
  }
  pages.trace().end();
}

}  // namespace npu::driver
