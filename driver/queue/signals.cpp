// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "driver/queue/process_memory.hpp"
#include "driver/queue/signal_wait.hpp"

namespace npu::driver {

Result<std::unique_ptr<Signals>> make_signals(CardLink& link, Picoseconds context_switch,
                                              std::uint32_t pasid, platform::MmioRegion& page,
                                              platform::InterruptVector* vector, unsigned slots) {
  if (slots == 0 || slots > abi::kSignalSlots) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} signals, 1 .. {} are possible", slots, abi::kSignalSlots));
  }
  auto memory = link.platform().allocate_dma(link.bdf(), Bytes{slots} * abi::kSignalSize, 4096,
                                             platform::DmaDirection::kBidirectional);
  if (!memory) return forward_error(memory);
  if (auto ok = give_to_process(link.platform(), **memory, pasid); !ok) return forward_error(ok);
  return std::make_unique<Signals>(std::make_unique<Signals::Impl>(
      link, context_switch, page, vector, std::move(*memory), slots));
}

Signals::Signals(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Signals::~Signals() = default;

// Under the lock.
Status Signals::Impl::check(SignalId id) const {
  if (!ids.contains(id.value))
    return fail(ErrorCode::kNotFound, fmt::format("signal {}", id.value));
  return {};
}

unsigned Signals::capacity() const {
  return static_cast<unsigned>(impl_->table.size());
}

unsigned Signals::in_use() const {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  return impl_->ids.in_use();
}

// Age 1, so that 0 is nobody's.
Result<SignalId> Signals::create(const SignalOptions& options) {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  const auto id = impl_->ids.allocate();
  if (!id) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("all {} signals of the process in use", impl_->table.size()));
  }
  auto& slot = impl_->table[*id];
  ++slot.generation;
  slot.auto_reset = options.auto_reset;
  slot.taken = 1;
  impl_->store(SignalId{*id}, 1);
  return SignalId{*id};
}

Status Signals::destroy(SignalId signal) {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  if (auto ok = impl_->check(signal); !ok) return ok;
  ++impl_->table[signal.value].generation;
  impl_->store(signal, 0);
  impl_->ids.free(signal.value);
  if (impl_->sleepers > 0) static_cast<void>(impl_->ring(signal));
  return {};
}

void Signals::Impl::connect(bool on) {
  lock.lock(link.clock());
  const SpinLockHolder holder(lock);
  connected = on;
}

// The card may write it at the same time.
void Signals::Impl::count_up(SignalId id) const {
  auto* slot = reinterpret_cast<std::uint64_t*>(memory->cpu().data + id.value * abi::kSignalSize);
  __atomic_fetch_add(slot, 1, __ATOMIC_RELEASE);
}

// A process without queues has no doorbells, and nobody on the card waits for it.
Status Signals::Impl::ring(SignalId id) {
  if (auto ok = link.usable(); !ok) return ok;
  if (!connected) return {};
  const auto value = id.value | (sleepers > 0 ? unsigned{abi::kSignalWakesHost} : 0U);
  link.platform().write_barrier();
  doorbells.write64(Bytes{abi::kSignalDoorbell} * abi::kDoorbellSize, value);
  return {};
}

Status Signals::set(SignalId signal) {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  if (auto ok = impl_->check(signal); !ok) return ok;
  impl_->count_up(signal);
  return impl_->ring(signal);
}

Status Signals::raise(SignalId signal, std::uint64_t value) {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  if (auto ok = impl_->check(signal); !ok) return ok;
  if (impl_->value(signal) >= value) return {};
  impl_->store(signal, value);
  return impl_->ring(signal);
}

Status Signals::reset(SignalId signal) {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  if (auto ok = impl_->check(signal); !ok) return ok;
  impl_->table[signal.value].taken = impl_->value(signal);
  return {};
}

Result<bool> Signals::is_set(SignalId signal) const {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  if (auto ok = impl_->check(signal); !ok) return forward_error(ok);
  return impl_->value(signal) != impl_->table[signal.value].taken;
}

Result<std::uint64_t> Signals::age(SignalId signal) const {
  impl_->lock.lock(impl_->link.clock());
  const SpinLockHolder holder(impl_->lock);
  if (auto ok = impl_->check(signal); !ok) return forward_error(ok);
  return impl_->value(signal);
}

Result<std::size_t> Signals::wait_any(std::vector<SignalWait>& waits, WaitPolicy policy,
                                      Instant deadline) {
  return SignalWaitLoop(*impl_, waits, false, deadline).run(policy);
}

Status Signals::wait_all(std::vector<SignalWait>& waits, WaitPolicy policy, Instant deadline) {
  const auto met = SignalWaitLoop(*impl_, waits, true, deadline).run(policy);
  return met ? Status() : forward_error(met);
}

Status Signals::wait(SignalId signal, WaitPolicy policy, Instant deadline) {
  std::vector<SignalWait> waits{{signal, std::nullopt}};
  return wait_all(waits, policy, deadline);
}

}  // namespace npu::driver
