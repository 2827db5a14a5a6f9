// SPDX-License-Identifier: Apache-2.0
#include "model/pcie/read_requester.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/pcie/port.hpp"
#include "model/pcie/tlp.hpp"
#include "npu/abi/pci.hpp"

namespace npu::model {

namespace pci = abi::pci;

namespace {

constexpr Bytes kMaxReadRequest = 4096;
constexpr unsigned kTranslationAnswer = 8;

constexpr std::uint64_t context_of(unsigned tag, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | tag;
}
constexpr unsigned tag_of(std::uint64_t context) {
  return static_cast<unsigned>(context);
}
unsigned length_of(const tlm::tlm_generic_payload& read) {
  const bool is_translation = Transaction::of(read).kind == TransactionKind::kTranslation;
  return is_translation ? kTranslationAnswer : read.get_data_length();
}

// Status register bits of a requester (PCIe 7.5.1.1.4).
constexpr std::uint16_t kParityError = 1 << 15, kMasterAbort = 1 << 13, kTargetAbort = 1 << 12;

}  // namespace

Completion completion_with(CompletionFault fault, Completion otherwise) {
  switch (fault) {
    case CompletionFault::kPoison:
      return Completion::kPoisoned;
    case CompletionFault::kUnsupported:
      return Completion::kUnsupportedRequest;
    case CompletionFault::kAbort:
      return Completion::kCompleterAbort;
    case CompletionFault::kNone:
    case CompletionFault::kDrop:
      break;
  }
  return otherwise;
}

ReadRequester::ReadRequester(Simulation& simulation, const EndpointConfig& config,
                             FunctionSet& functions, Owner& owner)
    : simulation_(simulation),
      egress_(ticks(config.egress)),
      ingress_(ticks(config.ingress)),
      functions_(functions),
      owner_(owner),
      deadlines_(simulation, *this, config.completion_timeout) {}

unsigned ReadRequester::take_tag() {
  if (free_tags_.empty()) {
    free_tags_.push_back(static_cast<unsigned>(tags_.size()));
    tags_.emplace_back();
    tags_.back().data = std::make_unique<unsigned char[]>(kMaxReadRequest);
  }
  const unsigned tag = free_tags_.back();
  free_tags_.pop_back();
  return tag;
}

void ReadRequester::start(unsigned port, Payload& client) {
  const unsigned number = take_tag();
  auto& tag = tags_[number];
  tag.client = &client;
  tag.port = port;
  tag.travelling = true;
  tag.function = Transaction::of(client).function;
  auto& wire = make_wire(client, number);
  ++outstanding_;
  simulation_.agenda.at<&ReadRequester::send>(sim_now() + egress_, *this, handle_of(wire));
  deadlines_.start(Transaction::of(wire).context);
}

ReadRequester::Payload& ReadRequester::make_wire(const Payload& client, unsigned number) {
  const auto& info = Transaction::of(client);
  auto& tag = tags_[number];
  auto& wire = simulation_.pool.allocate(client.get_command(), client.get_address(), tag.data.get(),
                                         length_of(client));
  auto& wire_info = Transaction::of(wire);
  wire_info.kind = info.kind;
  wire_info.function = info.function;
  wire_info.requester = info.requester;
  wire_info.pasid = functions_.pasid_enabled(info.function) ? info.pasid : 0;
  wire_info.translated = info.translated;
  wire_info.no_write = info.no_write;
  wire_info.cause = info.cause;
  wire_info.issued = sim_now();
  wire_info.context = context_of(number, tag.generation);
  return wire;
}

void ReadRequester::send(std::uint64_t wire) {
  if (functions_.in_hot_reset()) {
    const unsigned number = tag_of(Transaction::of(payload_of(wire)).context);
    tags_[number].travelling = false;
    free_tags_.push_back(number);
    return payload_of(wire).release();
  }
  owner_.send_read(payload_of(wire));
}

void ReadRequester::reject(unsigned port, Payload& client) {
  Transaction::of(client).sender_states.push(port);
  simulation_.agenda.at<&ReadRequester::rejected>(sim_now() + egress_, *this, handle_of(client));
}

void ReadRequester::rejected(std::uint64_t handle) {
  auto& client = payload_of(handle);
  const auto port = static_cast<unsigned>(Transaction::of(client).sender_states.pop());
  refuse(client, Completion::kCompleterAbort);
  owner_.read_ended(port, client);
}

void ReadRequester::completion_arrived(Payload& wire) {
  simulation_.agenda.at<&ReadRequester::deliver>(sim_now() + ingress_, *this, handle_of(wire));
}

void ReadRequester::deliver(std::uint64_t handle) {
  auto& wire = payload_of(handle);
  const auto& info = Transaction::of(wire);
  const auto fault = std::exchange(fault_, CompletionFault::kNone);
  if (fault == CompletionFault::kDrop || !is_waiting(info.context)) {
    lose(wire);
  } else {
    const unsigned number = tag_of(info.context);
    tags_[number].travelling = false;
    const auto completion = completion_with(fault, info.completion);
    if (completion != Completion::kSuccess) log_error(completion, wire);
    end(number, completion, wire.get_data_ptr());
  }
  wire.release();
}

void ReadRequester::lose(const Payload& wire) {
  const unsigned number = tag_of(Transaction::of(wire).context);
  tags_[number].travelling = false;
  if (tags_[number].client == nullptr) free_tags_.push_back(number);  // given up before
}

bool ReadRequester::is_pending(unsigned function) const {
  return std::any_of(tags_.begin(), tags_.end(), [function](const Tag& tag) {
    return tag.client != nullptr && tag.function == function;
  });
}

bool ReadRequester::is_waiting(std::uint64_t context) const {
  const auto& tag = tags_[tag_of(context)];
  return tag.client != nullptr && context == context_of(tag_of(context), tag.generation);
}

void ReadRequester::end(unsigned number, Completion completion, const unsigned char* data) {
  auto& tag = tags_[number];
  auto& client = *std::exchange(tag.client, nullptr);
  const unsigned port = tag.port;
  ++tag.generation;
  --outstanding_;
  Transaction::of(client).completion = completion;
  if (completion == Completion::kSuccess) {
    const unsigned length = length_of(client);
    if (client.get_data_ptr() != nullptr) std::memcpy(client.get_data_ptr(), data, length);
    client.set_response_status(tlm::TLM_OK_RESPONSE);
  } else {
    refuse(client, completion);
  }
  owner_.read_ended(port, client);  // may start the next read
  if (!tags_[number].travelling) free_tags_.push_back(number);
}

void ReadRequester::abort(unsigned function) {
  for (unsigned tag = 0; tag < tags_.size(); ++tag) {
    const bool open = tags_[tag].client && tags_[tag].function == function;
    if (open) end(tag, Completion::kCompleterAbort, nullptr);
  }
}

void ReadRequester::timed_out(std::uint64_t context) {
  const unsigned tag = tag_of(context);
  log_error(Completion::kTimeout, *tags_[tag].client);
  end(tag, Completion::kTimeout, nullptr);
}

void ReadRequester::log_error(Completion completion, const Payload& payload) {
  const auto& info = Transaction::of(payload);
  auto& function = functions_.of_chip(info.function);
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
    case Completion::kPageFault:
      break;  // never over the link
  }
}

}  // namespace npu::model
