// SPDX-License-Identifier: Apache-2.0
#include "model/aicpu/aicpu_stores.hpp"

namespace npu::model {

AicpuStores::AicpuStores(AicpuShared& shared, unsigned number, AicpuThread& thread,
                         AicpuRequests& requests, LineFetch& fetch, Owner& owner)
    : shared_(shared),
      number_(number),
      thread_(thread),
      requests_(requests),
      fetch_(fetch),
      owner_(owner),
      posted_(shared.config.store_buffer, ticks(shared.config.store_done)) {}

// With order.rule=weakest. A store stays in its buffer, and passes those that it is not ordered
// with.
SimTime AicpuStores::leaves(std::uint64_t address, Bytes length, bool releases, SimTime others) {
  const SimTime last = releases ? others : buffer_.last_of(address, length);
  const SimTime late = posted_.delay(0) + shared_.sim.weakest->late(kLate);
  return posted_.delay(std::max(last, late));
}

void AicpuStores::post(std::uint64_t address, const void* data, Bytes length, bool releases) {
  const SimTime others = posted_.all_done();
  thread_.set_local(posted_.post(thread_.local()));
  thread_.synchronise();
  if (requests_.translate(AicpuShared::Access::kTranslateWrite, address)) {
    posted_.postpone(thread_.local());
  }
  const auto hold = shared_.memory.hold(thread_.space());
  if (!shared_.sim.weakest) {
    buffer_.push(address, data, length, hold);
    shared_.sim.agenda.at<&AicpuStores::store_done>(posted_.all_done(), *this, resets_);
    return;
  }
  const SimTime when = leaves(address, length, releases, others);
  buffer_.push(address, data, length, hold, when);
  shared_.sim.agenda.at<&AicpuStores::store_done>(when, *this, resets_);
}

// The oldest one, but for those that others pass.
void AicpuStores::store_done(std::uint64_t resets) {
  if (resets != resets_) return;  // lost on its way
  const SpaceId space = thread_.space();
  const auto store = buffer_.due(sim_now());
  const auto address = store->address;
  const auto completion =
      shared_.write(number_, Writer::kAicpu, space, address, store->bytes.data(), store->length);
  fetch_.written(space, address, store->length);
  shared_.memory.release(store->hold);
  buffer_.erase(store);
  if (completion == Completion::kSuccess) return;
  owner_.store_refused({device_fault(completion), address, space, true});
}

void AicpuStores::await_all() {
  if (all_done() <= thread_.local()) return;
  thread_.set_local(all_done());
  thread_.synchronise();
}

void AicpuStores::reset() {
  for (; !buffer_.empty(); buffer_.pop()) shared_.memory.release(buffer_.oldest().hold);
  ++resets_;
}

}  // namespace npu::model
