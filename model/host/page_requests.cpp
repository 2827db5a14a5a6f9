// SPDX-License-Identifier: Apache-2.0
#include "model/host/page_requests.hpp"

#include <algorithm>
#include <utility>

namespace npu::model {

using platform::PageResponse;

namespace {

// The IOMMU's own interrupts: it is no function of a bus.
constexpr std::uint16_t kIommu = 0;

}  // namespace

PageRequests::PageRequests(Simulation& sim)
    : sim_(sim), track_(sim.recorder.track("host.page_requests")) {}

void PageRequests::connect(Interrupts& interrupts, Respond respond) {
  interrupts_ = &interrupts;
  respond_ = std::move(respond);
}

std::shared_ptr<VectorState> PageRequests::open(std::uint32_t requester) {
  if (served(requester)) return nullptr;
  auto vector = interrupts_->open(kIommu, requester);
  if (vector) open_[requester].vector = vector;
  return vector;
}

void PageRequests::close(std::uint32_t requester) {
  auto& served = open_.at(requester);
  for (const auto& request : served.queue) answer(request, PageResponse::kInvalid);
  for (const auto& request : served.taken) answer(request, PageResponse::kInvalid);
  queued_ -= served.queue.size();
  interrupts_->close(kIommu, requester);
  open_.erase(requester);
}

void PageRequests::come(const Request& request, bool known, SimTime written) {
  const auto& message = request.message;
  if (!message.read && !message.write) return;  // a Stop Marker, which has no response
  auto arrived = request;
  arrived.since = sim_now();
  if (!known || !served(request.requester)) return answer(arrived, PageResponse::kInvalid);
  if (queued_ == kEntries) return answer(arrived, PageResponse::kSuccess);
  ++queued_;
  coming_.emplace(++numbers_, arrived);
  sim_.agenda.at<&PageRequests::write>(written, *this, numbers_);
}

void PageRequests::write(std::uint64_t number) {
  const auto request = coming_.at(number);
  coming_.erase(number);
  const auto found = open_.find(request.requester);
  if (found == open_.end()) {
    --queued_;
    return answer(request, PageResponse::kInvalid);
  }
  auto& served = found->second;
  served.queue.push_back(request);
  if (served.queue.size() > 1) return;
  interrupts_->message(kIommu, Interrupts::kMessageAddress, served.vector->data, request.cause);
}

std::optional<PageRequests::Request> PageRequests::take(std::uint32_t requester) {
  auto& served = open_.at(requester);
  if (served.queue.empty()) return std::nullopt;
  const auto request = served.queue.front();
  served.queue.pop_front();
  --queued_;
  served.taken.push_back(request);
  return request;
}

void PageRequests::respond(std::uint32_t requester, std::uint32_t pasid, std::uint16_t group,
                           PageResponse response) {
  auto& taken = open_.at(requester).taken;
  const auto found = std::find_if(taken.begin(), taken.end(), [&](const Request& request) {
    return request.pasid == pasid && request.message.group == group;
  });
  if (found == taken.end()) return;
  const auto request = *found;
  taken.erase(found);
  answer(request, response);
}

void PageRequests::answer(const Request& request, PageResponse response) {
  constexpr unsigned kBdfShift = 48;
  constexpr std::uint64_t kPage = 0xFFFF'FFFF'F000;
  sim_.emit(track_, platform::Activity::kPageRequest, request.since, sim_now(), request.cause, 0,
            std::uint64_t{request.requester} << kBdfShift | (request.address & kPage));
  PageResponseMessage message;
  message.pasid = request.pasid;
  message.group = request.message.group;
  message.code = static_cast<std::uint16_t>(response);
  respond_(request.requester, message, request.cause);
}

}  // namespace npu::model
