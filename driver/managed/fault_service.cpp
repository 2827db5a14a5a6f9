// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/fault_service.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/device/device_parts.hpp"
#include "driver/managed/driver_paging.hpp"
#include "driver/managed/host_paging.hpp"
#include "driver/managed/pager.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Picoseconds kLookForErrors = 10_ms;
constexpr unsigned kMostFreePages = 64;

Status check(const ManagedOptions& options) {
  const bool marks = options.low_pages >= 1 && options.low_pages <= options.high_pages &&
                     options.high_pages <= kMostFreePages;
  if (!marks) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("watermarks of {} and {} pages; 1 <= low <= high <= {}",
                            options.low_pages, options.high_pages, kMostFreePages));
  }
  if (!is_aligned(options.card_limit, kPageSize)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a limit of {} bytes is not in whole pages of {}", options.card_limit,
                            kPageSize));
  }
  if (options.density_percent > 100) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a density of {} %", options.density_percent));
  }
  if (options.error_threshold == 0) {
    return fail(ErrorCode::kInvalidArgument, "a threshold of 0 fault errors");
  }
  return {};
}

bool agree(const ManagedOptions& a, const ManagedOptions& b) {
  return a.policy == b.policy && a.card_limit == b.card_limit && a.low_pages == b.low_pages &&
         a.high_pages == b.high_pages && a.density_percent == b.density_percent &&
         a.thrash_lapse == b.thrash_lapse;
}

}  // namespace

Result<FaultPolicy> fault_policy(Device& device, const ManagedOptions& options) {
  const bool own = options.policy == FaultPolicy::kMessage || options.policy == FaultPolicy::kBatch;
  if (own) return options.policy;
  auto& link = DeviceParts::link(device);
  const auto mode = link.read<abi::PageFaultMode>();
  if (!mode) return forward_error(mode);
  if (mode->get<abi::PageFaultMode::HostPages>() != 0) {
    auto known =
        DeviceParts::features(device).has(&DeviceFeatures::host_pages, "the host's pages are");
    return known ? Result<FaultPolicy>(FaultPolicy::kAts) : forward_error(known);
  }
  if (options.policy == FaultPolicy::kAts) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("card {} does not use pages of the host", link.device_index()));
  }
  return mode->get<abi::PageFaultMode::ByHost>() != 0 ? FaultPolicy::kBatch : FaultPolicy::kMessage;
}

Result<std::shared_ptr<FaultService>> FaultService::of(Device& device,
                                                       const ManagedOptions& wanted) {
  if (auto ok = check(wanted); !ok) return forward_error(ok);
  auto options = wanted;
  const auto policy = fault_policy(device, wanted);
  if (!policy) return forward_error(policy);
  options.policy = *policy;
  auto& link = DeviceParts::link(device);
  auto& memory = DeviceParts::memory(device);
  auto& services = DeviceParts::services(device);
  const MutexHolder holder(*services.opening);
  if (auto ok = link.usable(); !ok) return forward_error(ok);
  if (auto service = std::static_pointer_cast<FaultService>(services.page_faults.lock())) {
    if (agree(service->options_, options)) return service;
    return fail(ErrorCode::kInvalidArgument,
                "the card's managed memory that there is has other options");
  }
  std::shared_ptr<FaultService> service(new FaultService(link, memory, options));
  if (auto ok = service->start(DeviceParts::vectors(device)); !ok) return forward_error(ok);
  services.page_faults = service;
  memory.set_reclaim([known = std::weak_ptr(service)](unsigned vmid, Bytes bytes) {
    const auto serving = known.lock();
    return serving != nullptr && serving->make_room(vmid, bytes);
  });
  return service;
}

bool FaultService::make_room(unsigned vmid, Bytes wanted) {
  const PagesLock holder(locks_);
  const auto* const pages = spaces_[vmid];
  if (paging_ == nullptr || paging_->ended() || (vmid != 0 && pages == nullptr)) return false;
  auto& slots = paging_->slots();
  bool any = false;
  if (slots.count() * kPageSize < wanted) return false;  // it would not do
  for (Bytes made = 0; made < wanted; made += kPageSize) {
    const auto oldest = slots.oldest(slots.now(), vmid == 0 ? nullptr : pages);
    if (oldest == abi::kNoSlot || !slots[oldest].pages->evict(oldest)) break;
    any = true;
  }
  return any;
}

Status FaultService::start(VectorTable& vectors) {
  auto ok = options_.policy == FaultPolicy::kAts ? share_pages() : serve_card(vectors);
  if (!ok) return ok;
  auto task = link_.platform().tasks().spawn("page faults", [this] { run(); });
  if (!task) return forward_error(task);
  task_ = std::move(*task);
  return {};
}

Status FaultService::share_pages() {
  auto paging = HostPaging::create(link_, memory_);
  if (!paging) return forward_error(paging);
  vector_ = &(*paging)->arrivals();
  paging_ = std::move(*paging);
  return {};
}

Status FaultService::serve_card(VectorTable& vectors) {
  // Compute queues take their vectors from the highest on; so does this, and looks what came.
  const unsigned number = vectors.size() - 1;
  const auto vector = vectors.open(number);
  if (!vector) return forward_error(vector);
  vector_ = *vector;
  ++memory_.loan().pagers;
  counted_ = true;
  const auto all = static_cast<std::uint32_t>(link_.card().hbm_size / kPageSize);
  const auto wanted = static_cast<std::uint32_t>(options_.card_limit / kPageSize);
  const std::uint32_t limit = wanted != 0 && wanted < all ? wanted : all;
  auto paging = options_.policy == FaultPolicy::kMessage
                    ? Pager::create(link_, memory_, vectors, number, options_, limit)
                    : DriverPaging::create(link_, memory_, vectors, number, options_, limit);
  if (!paging) return forward_error(paging);
  paging_ = std::move(*paging);
  return {};
}

FaultService::~FaultService() {
  stop();
  if (counted_) --memory_.loan().pagers;
}

void FaultService::stop() {
  stopping_.store(true, std::memory_order_release);
  prefetcher_.stop();
  if (task_) {
    vector_->wake();
    task_->join();
    task_.reset();
  }
  const PagesLock holder(locks_);
  if (paging_) paging_->end();
}

Status FaultService::serve_known() {
  std::uint32_t served = 0;
  for (unsigned v = 0; v < abi::kVmids; ++v) served |= (spaces_[v] != nullptr ? 1U : 0U) << v;
  if (stopped() || link_.lost()) return {};
  return paging_->serve(served);
}

Status FaultService::add(CardPages& pages) {
  auto& place = spaces_[pages.space().vmid()];
  if (place != nullptr) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("VMID {} has managed memory", pages.space().vmid()));
  }
  if (stopped()) return fail(ErrorCode::kInvalidArgument, "the device is shut down");
  place = &pages;
  auto ok = serve_known();
  if (!ok) place = nullptr;
  return ok;
}

void FaultService::remove(CardPages& pages) {
  spaces_[pages.space().vmid()] = nullptr;
  static_cast<void>(serve_known());
}

void FaultService::run() {
  for (;;) {
    const auto seen = vector_->count();  // first: who stops it sets `stopping_` and then wakes it
    if (stopping_.load(std::memory_order_acquire)) return;
    bool more = false;
    std::optional<Instant> due;
    {
      const PagesLock holder(locks_);
      more = paging_->serve_some(spaces_) && paging_->more();
      due = paging_->due();
    }
    const bool counts = look_for_errors();
    if (more) continue;
    auto until = counts ? link_.clock().now() + kLookForErrors : Instant::never();
    if (due) until = std::min(until, *due);
    const auto woken = vector_->wait_after(seen, until);
    if (!woken && woken.error().code == ErrorCode::kAborted) return;  // the device is shut down
  }
}

// Whether it has to be looked for again soon.
bool FaultService::look_for_errors() {
  const Instant now = link_.clock().now();
  if (now - looked_ < kLookForErrors) return counting_;
  looked_ = now;
  counting_ = false;
  std::vector<std::function<void()>> calls;
  {
    const PagesLock holder(locks_);
    for (auto* const pages : spaces_) {
      // Those of several cards are looked at by the first of these.
      if (pages == nullptr || pages != &pages->all().first_card()) continue;
      if (auto call = pages->all().look_for_errors(now)) calls.push_back(std::move(call));
      counting_ = counting_ || pages->all().counts_errors();
    }
  }
  for (const auto& call : calls) call();
  return counting_;
}

}  // namespace npu::driver
