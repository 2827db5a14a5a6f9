// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/egress_queue.hpp"

#include <algorithm>

namespace npu::model {

EgressQueue::EgressQueue(Simulation& simulation, const FunctionSet& functions, PciePort& port,
                         Picoseconds egress)
    : simulation_(simulation), functions_(functions), port_(port), egress_(ticks(egress)) {}

SimTime EgressQueue::post(Payload& payload) {
  auto& info = Transaction::of(payload);
  if (!functions_.pasid_enabled(info.function)) info.pasid = 0;
  posted_ready_ = sim_now() + egress_;
  simulation_.agenda.at<&EgressQueue::send_posted>(posted_ready_, *this, handle_of(payload));
  const auto& link = *port_.link();
  posted_sent_ = std::max({posted_ready_, posted_sent_, link.upstream_free_at()}) +
                 link.upstream_time(payload);
  return posted_sent_;
}

void EgressQueue::send_posted(std::uint64_t payload) {
  if (functions_.in_hot_reset()) return payload_of(payload).release();
  port_.send_request(payload_of(payload));
}

void EgressQueue::complete(Payload& payload) {
  if (posted_ready_ < sim_now()) return port_.send_completion(payload);
  simulation_.agenda.at<&EgressQueue::send_completion>(posted_ready_, *this, handle_of(payload));
}

void EgressQueue::send_completion(std::uint64_t payload) {
  port_.send_completion(payload_of(payload));
}

}  // namespace npu::model
