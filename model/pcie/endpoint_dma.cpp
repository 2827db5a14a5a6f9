// SPDX-License-Identifier: Apache-2.0
// Endpoint: what the card sends - DMA requests, their completions and timeouts.
#include <algorithm>
#include <cstring>

#include "model/pcie/endpoint.hpp"
#include "model/pcie/tlp.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr Bytes kMaxRequest = 4096;
constexpr unsigned kTranslationBytes = 8;

constexpr std::uint64_t context_of(unsigned tag, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | tag;
}
constexpr unsigned tag_of(std::uint64_t context) {
  return static_cast<unsigned>(context);
}

// Status register bits of a requester (PCIe 7.5.1.1.4).
constexpr std::uint16_t kParityError = 1 << 15, kMasterAbort = 1 << 13, kTargetAbort = 1 << 12;
constexpr std::uint32_t kAerInternalError = 1 << 22;

}  // namespace

tlm::tlm_sync_enum Endpoint::dma_request(int port, Payload& payload, tlm::tlm_phase&,
                                         sc_core::sc_time& delay) {
  auto& info = Transaction::of(payload);
  sc_assert(payload.get_data_length() <= kMaxRequest);
  const auto& function = of_chip(info.function);
  info.requester = requester(info.function);
  const bool allowed = function.bus_master() && !function.in_reset();
  if (info.posted) {
    const bool may_ask = info.kind != TransactionKind::kPageRequest || function.page_requests() > 0;
    if (!allowed || !may_ask) return refuse_posted(payload);
    delay = sc_core::sc_time::from_value(post(payload) - sim_now());
  } else if (allowed) {
    start_read(static_cast<unsigned>(port), payload);
  } else {
    info.hop_context = static_cast<std::uint64_t>(port);
    simulation_.agenda.at<&Endpoint::refuse_dma>(sim_now() + ticks(chip_.endpoint.egress), *this,
                                                 handle_of(payload));
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Endpoint::refuse_posted(Payload& payload) {
  const auto& info = Transaction::of(payload);
  auto& function = of_chip(info.function);
  if (!function.in_reset()) {
    function.log_uncorrectable(kAerInternalError, tlp_header(payload, info));
  }
  refuse(payload, Completion::kCompleterAbort);
  return tlm::TLM_COMPLETED;
}

void Endpoint::refuse_dma(std::uint64_t handle) {
  auto& payload = payload_of(handle);
  const auto port = static_cast<unsigned>(Transaction::of(payload).hop_context);
  refuse(payload, Completion::kCompleterAbort);
  respond(port, payload);
}

void Endpoint::respond(unsigned port, Payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  dma_sockets[port]->nb_transport_bw(payload, phase, delay);
}

// Returns when the last byte will have left, as far as is known now.
SimTime Endpoint::post(Payload& payload) {
  auto& info = Transaction::of(payload);
  if (!pasid_enabled(info.function)) info.pasid = 0;
  posted_ready_ = sim_now() + ticks(chip_.endpoint.egress);
  simulation_.agenda.at<&Endpoint::send_posted>(posted_ready_, *this, handle_of(payload));
  const auto& link = *port_.link();
  posted_sent_ = std::max({posted_ready_, posted_sent_, link.upstream_free_at()}) +
                 link.upstream_time(payload);
  return posted_sent_;
}

void Endpoint::send_posted(std::uint64_t payload) {
  if (in_hot_reset()) return payload_of(payload).release();
  port_.send_request(payload_of(payload));
}

unsigned Endpoint::take_tag() {
  if (free_tags_.empty()) {
    free_tags_.push_back(static_cast<unsigned>(tags_.size()));
    tags_.emplace_back();
    tags_.back().data = std::make_unique<unsigned char[]>(kMaxRequest);
  }
  const unsigned tag = free_tags_.back();
  free_tags_.pop_back();
  return tag;
}

void Endpoint::start_read(unsigned port, Payload& client) {
  const unsigned number = take_tag();
  auto& tag = tags_[number];
  tag.client = &client;
  tag.port = port;
  tag.travelling = true;
  const auto& info = Transaction::of(client);
  tag.function = info.function;
  const bool is_translation = info.kind == TransactionKind::kTranslation;
  auto& wire =
      simulation_.pool.allocate(client.get_command(), client.get_address(), tag.data.get(),
                                is_translation ? kTranslationBytes : client.get_data_length());
  auto& wire_info = Transaction::of(wire);
  wire_info.kind = info.kind;
  wire_info.function = info.function;
  wire_info.requester = info.requester;
  wire_info.pasid = pasid_enabled(info.function) ? info.pasid : 0;
  wire_info.translated = info.translated;
  wire_info.no_write = info.no_write;
  wire_info.cause = info.cause;
  wire_info.issued = sim_now();
  wire_info.context = context_of(number, tag.generation);
  ++outstanding_;
  simulation_.agenda.at<&Endpoint::send_read>(sim_now() + ticks(chip_.endpoint.egress), *this,
                                              handle_of(wire));
  deadlines_.start(wire_info.context);
}

void Endpoint::send_read(std::uint64_t wire) {
  if (in_hot_reset()) {
    const unsigned number = tag_of(Transaction::of(payload_of(wire)).context);
    tags_[number].travelling = false;
    free_tags_.push_back(number);
    return payload_of(wire).release();
  }
  port_.send_request(payload_of(wire));
}

void Endpoint::completion_arrived(unsigned, Payload& wire) {
  simulation_.agenda.at<&Endpoint::deliver>(sim_now() + ticks(chip_.endpoint.ingress), *this,
                                            handle_of(wire));
}

void Endpoint::deliver(std::uint64_t handle) {
  auto& wire = payload_of(handle);
  const auto& info = Transaction::of(wire);
  const unsigned number = tag_of(info.context);
  const auto fault = take_fault(CompletionSide::kReceived);
  tags_[number].travelling = false;
  if (is_waiting(info.context) && fault != Fault::kDrop) {
    const auto completion = fault == Fault::kPoison ? Completion::kPoisoned : info.completion;
    if (completion != Completion::kSuccess) log_completion_error(completion, wire);
    end_read(number, completion, wire.get_data_ptr());
  } else if (!tags_[number].client) {
    free_tags_.push_back(number);  // late: given up before
  }
  wire.release();
}

bool Endpoint::is_pending(unsigned function) const {
  return std::any_of(tags_.begin(), tags_.end(), [function](const Tag& tag) {
    return tag.client != nullptr && tag.function == function;
  });
}

bool Endpoint::is_waiting(std::uint64_t context) const {
  const auto& tag = tags_[tag_of(context)];
  return tag.client != nullptr && context == context_of(tag_of(context), tag.generation);
}

void Endpoint::end_read(unsigned number, Completion completion, const unsigned char* data) {
  auto& tag = tags_[number];
  auto& client = *std::exchange(tag.client, nullptr);
  const unsigned port = tag.port;
  ++tag.generation;
  --outstanding_;
  auto& info = Transaction::of(client);
  info.completion = completion;
  if (completion == Completion::kSuccess) {
    const bool is_translation = info.kind == TransactionKind::kTranslation;
    const unsigned length = is_translation ? kTranslationBytes : client.get_data_length();
    if (client.get_data_ptr() != nullptr) std::memcpy(client.get_data_ptr(), data, length);
    client.set_response_status(tlm::TLM_OK_RESPONSE);
  } else {
    refuse(client, completion);
  }
  respond(port, client);  // may start the next read
  if (!tags_[number].travelling) free_tags_.push_back(number);
}

void Endpoint::timed_out(std::uint64_t context) {
  const unsigned tag = tag_of(context);
  log_completion_error(Completion::kTimeout, *tags_[tag].client);
  end_read(tag, Completion::kTimeout, nullptr);
}

void Endpoint::log_completion_error(Completion completion, const Payload& payload) {
  const auto& info = Transaction::of(payload);
  auto& function = of_chip(info.function);
  const auto header = tlp_header(payload, info);
  switch (completion) {
    case Completion::kTimeout:
      return function.log_uncorrectable(pci::kAerCompletionTimeout, header);
    case Completion::kPoisoned:
      function.set_status(kParityError);
      return function.log_uncorrectable(pci::kAerPoisoned, header);
    case Completion::kUnsupportedRequest:
      return function.set_status(kMasterAbort);
    case Completion::kCompleterAbort:
    case Completion::kPermission:
      return function.set_status(kTargetAbort);
    case Completion::kSuccess:
      return;
    case Completion::kNotMapped:
    case Completion::kForbidden:
    case Completion::kBadTable:
    case Completion::kNoPeer:
    case Completion::kPeerLinkDown:
    case Completion::kPeerRefused:
      break;  // never over the link
  }
}

}  // namespace npu::model
