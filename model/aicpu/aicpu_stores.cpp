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

void AicpuStores::post(std::uint64_t address, const void* data, Bytes length) {
  thread_.set_local(posted_.post(thread_.local()));
  thread_.synchronise();
  if (requests_.translate(AicpuShared::Access::kTranslateWrite, address)) {
    posted_.postpone(thread_.local());
  }
  buffer_.push(address, data, length, shared_.memory.hold(thread_.space()));
  shared_.sim.agenda.at<&AicpuStores::store_done>(posted_.all_done(), *this, resets_);
}

// The oldest one.
void AicpuStores::store_done(std::uint64_t resets) {
  if (resets != resets_) return;  // lost on its way
  const SpaceId space = thread_.space();
  const auto& store = buffer_.oldest();
  const auto completion = shared_.write(number_, Writer::kAicpu, space, store.address,
                                        store.bytes.data(), store.length);
  fetch_.written(space, store.address, store.length);
  shared_.memory.release(store.hold);
  const auto address = store.address;
  buffer_.pop();
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
