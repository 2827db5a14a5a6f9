// SPDX-License-Identifier: Apache-2.0
#include "apps/python/native/stream.hpp"

#include <array>
#include <utility>

namespace npu::python {
namespace py = pybind11;

namespace {

driver::WaitPolicy policy_of(const std::string& name) {
  if (name == "polling") return driver::WaitPolicy::kPolling;
  if (name == "interrupt") return driver::WaitPolicy::kInterrupt;
  if (name == "adaptive") return driver::WaitPolicy::kAdaptive;
  throw py::value_error("policy: found '" + name + "'; allowed: polling, interrupt, adaptive");
}

abi::DmaOpcode opcode_of(const std::string& name) {
  std::string allowed;
  for (const auto& operation : abi::kDmaOperations) {
    if (!operation.ring) continue;
    if (name == operation.option) return operation.opcode;
    allowed += (allowed.empty() ? "" : ", ") + std::string(operation.option);
  }
  throw py::value_error("direction: found '" + name + "'; allowed: " + allowed);
}

// What gives a stream or an event back may come when the card has been closed.
template <class End>
void end_later(Card& card, End end) {
  if (card.closed()) return;
  auto* const device = &card.device();
  card.session().end_later([device, end] { end(*device); });
}

}  // namespace

Instant deadline_in(platform::Platform& host, std::int64_t timeout_ps) {
  return timeout_ps < 0 ? Instant::never() : host.clock().now() + Picoseconds(timeout_ps);
}

std::shared_ptr<HostMemory> HostMemory::allocate(std::shared_ptr<Card> card, Bytes size) {
  auto memory = value_of(
      card->with([=](driver::DeviceContext& all) { return all.device().allocate_host(size); }));
  return std::shared_ptr<HostMemory>(new HostMemory(std::move(card), std::move(memory)));
}

HostMemory::~HostMemory() {
  card_->count_host_memory(-1);
  auto* const memory = memory_.release();
  card_->session().end_later([memory] { delete memory; });
}

Event::Event(std::shared_ptr<Card> card) : card_(std::move(card)) {
  id_ =
      value_of(card_->with([](driver::DeviceContext& all) { return all.device().create_event(); }));
}

Event::~Event() {
  end_later(*card_, [id = id_](driver::Device& device) {
    static_cast<void>(device.destroy_event(id));  // a card that is gone has none
  });
}

bool CopyTicket::done() {
  return value_of(
      card_->with([this](driver::DeviceContext& all) { return all.device().is_done(ticket_); }));
}

void CopyTicket::wait(const std::string& policy, std::int64_t timeout_ps) {
  const auto how = policy_of(policy);
  auto& device = card_->device();
  check(card_->session().call([&](platform::Platform& host) {
    return device.wait(ticket_, how, deadline_in(host, timeout_ps));
  }));
}

Stream::Stream(std::shared_ptr<Card> card, bool interrupt) : card_(std::move(card)) {
  id_ = value_of(card_->with([=](driver::DeviceContext& all) {
    driver::StreamOptions options;
    options.interrupt = interrupt;
    options.space = &all.process().space();
    return all.device().create_stream(options);
  }));
}

Stream::~Stream() {
  if (closed_) return;
  end_later(*card_, [id = id_](driver::Device& device) {
    static_cast<void>(device.destroy_stream(id, Instant::never()));
  });
}

CopyTicket Stream::submit(const std::string& opcode, std::uint64_t source,
                          std::uint64_t destination, Bytes size, const Event* event) {
  if (closed_) throw std::runtime_error("the stream is closed");
  const auto command = driver::DmaCommand::untyped(opcode_of(opcode), source, destination, size);
  driver::SubmitOptions options;
  if (event != nullptr) options.event = event->id();
  const auto ticket = value_of(card_->with(
      [&](driver::DeviceContext& all) { return all.device().submit(id_, command, options); }));
  return {card_, ticket};
}

void Stream::close(std::int64_t timeout_ps) {
  if (closed_) return;
  auto& device = card_->device();
  check(card_->session().call([&](platform::Platform& host) {
    return device.destroy_stream(id_, deadline_in(host, timeout_ps));
  }));
  closed_ = true;
}

}  // namespace npu::python
