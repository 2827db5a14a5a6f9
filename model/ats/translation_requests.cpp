// SPDX-License-Identifier: Apache-2.0
#include "model/ats/translation_requests.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "npu/abi/pci.hpp"

namespace npu::model {

namespace {

constexpr unsigned kTranslationBytes = 8;
constexpr std::uint64_t kInSpace = (std::uint64_t{1} << abi::kVirtualBits) - 1;

}  // namespace

TranslationRequests::TranslationRequests(Simulation& sim, const std::string& track, Send send,
                                         Listener& listener)
    : sim_(sim), track_(sim.recorder.track(track)), send_(std::move(send)), listener_(listener) {}

void TranslationRequests::want(tlm::tlm_generic_payload& trans, TaggedAddress page,
                               std::uint32_t pasid) {
  const bool write = trans.is_write();
  std::uint32_t number = 0;
  for (; number < requests_.size(); ++number) {
    auto& known = requests_[number];
    if (known.state == State::kFree || known.page != page || known.write != write) continue;
    // Of one that has been stopped only the response is awaited.
    if (!known.wanted()) continue;
    known.waiting.push_back(&trans);
    if (known.state != State::kTranslating) send_back(known);
    return;
  }
  number = 0;
  while (number < requests_.size() && requests_[number].state != State::kFree) ++number;
  if (number == requests_.size()) requests_.emplace_back();
  auto& request = requests_[number];
  request.write = write;
  request.pasid = pasid;
  request.page = page;
  request.cause = Transaction::of(trans).cause;
  request.waiting.push_back(&trans);
  translate(number);
}

void TranslationRequests::translate(std::uint32_t number) {
  auto& request = requests_[number];
  request.state = State::kTranslating;
  request.stale = false;
  request.since = sim_now();
  const unsigned function = function_at(number);
  auto& trans = sim_.pool.allocate(tlm::TLM_READ_COMMAND, request.page & kInSpace, nullptr,
                                   kTranslationBytes);
  auto& info = Transaction::of(trans);
  info.kind = TransactionKind::kTranslation;
  info.no_write = !request.write;
  info.function = static_cast<std::uint8_t>(function);
  info.pasid = request.pasid;
  info.cause = request.cause;
  info.issued = sim_now();
  info.context = std::uint64_t{request.generation} << 32 | number;
  auto delay = sc_core::SC_ZERO_TIME;
  send_(trans, delay);
}

void TranslationRequests::answered(tlm::tlm_generic_payload& trans) {
  const auto& info = Transaction::of(trans);
  const auto number = static_cast<std::uint32_t>(info.context);
  const auto completion = info.completion;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, trans.get_data_ptr(), sizeof bytes);
  const bool current = requests_[number].generation == info.context >> 32;
  trans.release();
  if (!current) return;
  auto& request = requests_[number];
  sim_.emit(track_, platform::Activity::kAtsRequest, request.since, sim_now(), request.cause, 0,
            request.page);
  if (completion != Completion::kSuccess) return refuse(number, completion);
  if (request.stale) return translate(number);
  if (bytes == 0) return ask_for_page(number);
  if (bytes < abi::entry_span(0)) return refuse(number, Completion::kNotMapped);
  const Waiting waiting = std::move(request.waiting);
  const auto page = request.page;
  const bool write = request.write, replays = request.replays;
  free(number);
  listener_.granted(page, write, waiting);
  if (replays) listener_.settled(page, Completion::kSuccess);
}

// --- Page requests ----------------------------------------------------------------------------

unsigned TranslationRequests::outstanding(unsigned function) const {
  unsigned count = 0;
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    count += requests_[i].state == State::kRequested && function_at(i) == function ? 1 : 0;
  }
  return count;
}

std::uint16_t TranslationRequests::free_group(unsigned function) const {
  std::uint16_t group = 0;
  const auto taken = [&] {
    for (std::uint32_t i = 0; i < requests_.size(); ++i) {
      const auto& request = requests_[i];
      const bool has = request.state == State::kRequested && function_at(i) == function;
      if (has && request.group == group) return true;
    }
    return false;
  };
  while (taken()) ++group;
  return group;
}

void TranslationRequests::ask_for_page(std::uint32_t number) {
  auto& request = requests_[number];
  const unsigned function = function_at(number);
  const unsigned allowed = std::min(services_->page_requests(function), abi::pci::kPriGroups);
  if (allowed == 0) return refuse(number, Completion::kNotMapped);
  if (request.state == State::kTranslating) request.since = sim_now();
  send_back(request);
  if (outstanding(function) >= allowed) {
    request.state = State::kQueued;
    return;
  }
  request.group = free_group(function);
  request.state = State::kRequested;
  if (!send_page_request(request, false)) refuse(number, Completion::kCompleterAbort);
}

// Each page is a group of its own. False: the function may not send now.
bool TranslationRequests::send_page_request(const Request& request, bool stop_marker) {
  PageRequestMessage message;
  message.group = request.group;
  message.last = true;
  message.read = !stop_marker;
  message.write = !stop_marker && request.write;
  auto& trans =
      sim_.pool.allocate(tlm::TLM_WRITE_COMMAND, request.page & kInSpace, nullptr, sizeof message);
  std::memcpy(trans.get_data_ptr(), &message, sizeof message);
  auto& info = Transaction::of(trans);
  info.kind = TransactionKind::kPageRequest;
  info.posted = true;
  info.function = static_cast<std::uint8_t>(function_of(space_of_tagged(request.page)));
  info.pasid = request.pasid;
  info.cause = request.cause;
  info.issued = sim_now();
  auto delay = sc_core::SC_ZERO_TIME;
  const bool sent = send_(trans, delay) != tlm::TLM_COMPLETED;
  if (!sent) trans.release();
  return sent;
}

bool TranslationRequests::responded(unsigned function, const PageResponseMessage& message) {
  const auto found = std::find_if(requests_.begin(), requests_.end(), [&](const Request& request) {
    return request.state == State::kRequested && request.group == message.group &&
           request.pasid == message.pasid && function_of(space_of_tagged(request.page)) == function;
  });
  if (found == requests_.end()) return false;
  const auto number = static_cast<std::uint32_t>(found - requests_.begin());
  if (!found->wanted()) {  // stopped meanwhile
    free(number);
  } else {
    sim_.emit(track_, platform::Activity::kPageFault, found->since, sim_now(), found->cause, 0,
              found->page);
    if (message.code == 0) {
      translate(number);
    } else {
      refuse(number, Completion::kNotMapped);
    }
  }
  ask_queued(function);
  return true;
}

void TranslationRequests::ask_queued(unsigned function) {
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    const bool waits = requests_[i].state == State::kQueued && function_at(i) == function;
    if (waits) ask_for_page(i);
  }
}

// --- The end ----------------------------------------------------------------------------------

void TranslationRequests::refuse(std::uint32_t number, Completion completion) {
  auto& request = requests_[number];
  const Waiting waiting = std::move(request.waiting);
  const bool replays = request.replays;
  const auto page = request.page;
  free(number);
  listener_.refused(waiting, completion);
  if (replays) listener_.settled(page, completion);
}

// The host's page takes a while.
void TranslationRequests::send_back(Request& request) {
  const auto first =
      std::stable_partition(request.waiting.begin(), request.waiting.end(),
                            [](const auto* trans) { return !Transaction::of(*trans).replays; });
  request.replays = request.replays || first != request.waiting.end();
  const Waiting back(first, request.waiting.end());
  request.waiting.erase(first, request.waiting.end());
  for (auto* const trans : back) listener_.sent_back(*trans);
}

bool TranslationRequests::replays(TaggedAddress page) const {
  return std::any_of(requests_.begin(), requests_.end(), [page](const Request& request) {
    return request.state != State::kFree && request.replays && request.page == page;
  });
}

void TranslationRequests::free(std::uint32_t number) {
  auto& request = requests_[number];
  request.waiting.clear();
  request.replays = false;
  request.state = State::kFree;
  ++request.generation;
}

void TranslationRequests::invalidate(unsigned function) {
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    if (function_at(i) == function) requests_[i].stale = true;
  }
}

void TranslationRequests::stop(SpaceId space, std::uint32_t pasid) {
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    auto& request = requests_[i];
    if (request.state == State::kFree || space_of_tagged(request.page) != space) continue;
    const Waiting waiting = std::move(request.waiting);
    request.waiting.clear();
    const bool replays = std::exchange(request.replays, false);
    const auto page = request.page;
    if (request.state != State::kRequested) free(i);
    listener_.refused(waiting, Completion::kNotMapped);
    if (replays) listener_.settled(page, Completion::kNotMapped);
  }
  if (services_ == nullptr || services_->page_requests(function_of(space)) == 0) return;
  Request marker;
  marker.page = tagged_address(space, 0);
  marker.pasid = pasid;
  send_page_request(marker, true);
}

TranslationRequests::Waiting TranslationRequests::reset(unsigned function) {
  Waiting all;
  for (std::uint32_t i = 0; i < requests_.size(); ++i) {
    auto& request = requests_[i];
    if (request.state == State::kFree || function_at(i) != function) continue;
    all.insert(all.end(), request.waiting.begin(), request.waiting.end());
    free(i);
  }
  return all;
}

}  // namespace npu::model
