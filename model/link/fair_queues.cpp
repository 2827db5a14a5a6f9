// SPDX-License-Identifier: Apache-2.0
#include "model/link/fair_queues.hpp"

#include <algorithm>
#include <systemc>

namespace npu::model {

FairQueues::Flow& FairQueues::flow_of(std::uint64_t key) {
  constexpr std::size_t kFew = 8;  // found faster by looking at all
  if (flows_.size() <= kFew) {
    for (const auto& flow : flows_) {
      if (flow->key == key) return *flow;
    }
  } else if (const auto found = index_.find(key); found != index_.end()) {
    return *flows_[found->second];
  }
  index_.emplace(key, flows_.size());
  flows_.push_back(std::make_unique<Flow>());
  flows_.back()->key = key;
  flows_.back()->index = flows_.size() - 1;
  return *flows_.back();
}

void FairQueues::push(tlm::tlm_generic_payload& message, unsigned pool, std::uint32_t number) {
  sc_assert(pool < kPools);
  auto& flow = flow_of(std::uint64_t{pool} << 32 | number);
  if (flow.queue.empty()) {
    // Who had nothing to send saves up no share.
    flow.virtual_time = std::max(flow.virtual_time, virtual_now_);
    flow.active = active_.size();
    active_.push_back(&flow);
  }
  flow.queue.push(message);
  ++waiting_;
}

FairQueues::Flow* FairQueues::least(std::uint64_t blocked) {
  Flow* best = nullptr;
  for (auto* const flow : active_) {
    if ((blocked >> flow->pool() & 1) != 0) continue;
    const bool less = best == nullptr || flow->virtual_time < best->virtual_time ||
                      (flow->virtual_time == best->virtual_time && flow->index < best->index);
    if (less) best = flow;
  }
  return best;
}

tlm::tlm_generic_payload& FairQueues::pop(Flow& flow, Bytes wire_bytes) {
  auto& message = flow.queue.pop();
  --waiting_;
  if (flow.queue.empty()) {
    active_.back()->active = flow.active;
    active_[flow.active] = active_.back();
    active_.pop_back();
  }
  virtual_now_ = flow.virtual_time;
  flow.virtual_time += wire_bytes;
  return message;
}

}  // namespace npu::model
