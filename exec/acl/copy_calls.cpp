// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Ordinary host memory goes piece by piece through memory that the card reaches;
// host memory of the card's is copied by the card itself.
#include <algorithm>
#include <cstring>

#include "exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;

// In which order the card does something: in a stream's, or by itself.
class Order {
 public:
  static Value<Order> of(Caller& caller, ProcessCard& card, bool in_stream, std::uint64_t handle) {
    if (!in_stream) return Order(caller, card, nullptr);
    const auto stream = caller.stream(handle);
    if (!stream) return forward_fault(stream);
    if ((*stream)->device != card.index()) {
      return fault(kStreamContext, "the stream is of another device than the memory");
    }
    return Order(caller, card, (*stream)->stream.get());
  }

  Stream* stream() const { return stream_; }
  // Submits and waits.
  Outcome run(const abi::QueueEntry& entry) {
    if (stream_ == nullptr) return card_.run(entry);
    const auto ticket = stream_->follow(&entry, 1);
    if (!ticket) return forward_fault(ticket);
    return stream_->wait(Instant::never(), kStreamTimeout);
  }
  // Submits; waits if it is in no stream.
  Outcome begin(const abi::QueueEntry& entry) {
    if (stream_ == nullptr) return card_.run(entry);
    const auto ticket = stream_->follow(&entry, 1);
    return ticket ? Outcome{} : Outcome(forward_fault(ticket));
  }
  // The bytes on the host, through memory of the thread's that the card reaches.
  Outcome move(DeviceAddress device, ByteSpan host, bool to_device) {
    const auto staging = card_.staging(&caller_);
    if (!staging) return forward_fault(staging);
    auto& platform = card_.platform();
    for (Bytes done = 0; done < host.size;) {
      const Bytes piece = std::min<Bytes>((*staging)->size(), host.size - done);
      const ByteSpan staged{(*staging)->cpu().data, piece}, own{host.data + done, piece};
      const auto bus = (*staging)->bus();
      if (to_device) platform.copy(staged, own);
      const auto entry = to_device ? driver::entries::copy_to_device(bus, device + done, piece)
                                   : driver::entries::copy_to_host(device + done, bus, piece);
      if (auto ended = run(entry); !ended) return ended;
      if (!to_device) platform.copy(own, staged);
      done += piece;
    }
    return {};
  }

 private:
  Order(Caller& caller, ProcessCard& card, Stream* stream)
      : caller_(caller), card_(card), stream_(stream) {}

  Caller& caller_;
  ProcessCard& card_;
  Stream* stream_;
};

// Work of the stream that was submitted before.
Outcome wait_for(Stream* stream) {
  return stream == nullptr ? Outcome{} : stream->wait(Instant::never(), kStreamTimeout);
}

Outcome copy_window(Caller& caller, CallRecord& call, bool to_device) {
  const DeviceAddress device{call.words[0]};
  const Bytes size = std::min<Bytes>(call.words[1], compat::kWindow);
  const auto card = caller.card_of(device, size);
  if (!card) return forward_fault(card);
  auto order = Order::of(caller, **card, call.words[2] != 0, call.words[3]);
  if (!order) return forward_fault(order);
  const ByteSpan bytes = call.window.subspan(0, size);
  if (!(*card)->is_managed(device)) return order->move(device, bytes, to_device);
  if (auto before = wait_for(order->stream()); !before) return before;
  auto& managed = *(*card)->known_managed();
  return outcome_of(to_device ? managed.write(device, bytes) : managed.read(device, bytes));
}

}  // namespace

Outcome copy_in(Caller& caller, CallRecord& call) {
  return copy_window(caller, call, true);
}

Outcome copy_out(Caller& caller, CallRecord& call) {
  return copy_window(caller, call, false);
}

Outcome copy_on_device(Caller& caller, CallRecord& call) {
  const DeviceAddress to{call.words[0]}, from{call.words[1]};
  const Bytes size = call.words[2];
  const auto card = caller.card_of(to, size);
  if (!card) return forward_fault(card);
  if (!(*card)->has(from, size)) return fault(kRuntimeParameter, "source is not on that card");
  auto order = Order::of(caller, **card, call.words[3] != 0, call.words[4]);
  if (!order) return forward_fault(order);
  return order->begin(driver::entries::copy_on_device(from, to, size));
}

Outcome copy_pinned(Caller& caller, CallRecord& call) {
  const bool to_device = call.words[0] != 0;
  const DeviceAddress device{call.words[1]};
  const auto memory = caller.process().pinned.find(call.words[2]);
  const Bytes offset = call.words[3], size = call.words[4];
  if (memory == nullptr || offset > memory->shared.bytes().size ||
      size > memory->shared.bytes().size - offset) {
    return fault(kRuntimeParameter, "it is no host memory");
  }
  const auto card = caller.card_of(device, size);
  if (!card) return forward_fault(card);
  auto order = Order::of(caller, **card, call.words[5] != 0, call.words[6]);
  if (!order) return forward_fault(order);
  const ByteSpan own = memory->shared.bytes().subspan(offset, size);
  const ByteSpan image = memory->image->cpu().subspan(offset, size);
  if ((*card)->is_managed(device) || memory->device != (*card)->index()) {
    return order->move(device, own, to_device);
  }
  const auto bus = memory->image->bus() + offset;
  if (to_device) {
    std::memcpy(image.data, own.data, size);
    return order->begin(driver::entries::copy_to_device(bus, device, size));
  }
  const auto entry = driver::entries::copy_to_host(device, bus, size);
  auto* const stream = order->stream();
  if (stream == nullptr) {
    auto done = order->run(entry);
    if (done) std::memcpy(own.data, image.data, size);
    return done;
  }
  const auto ticket = stream->follow(&entry, 1);
  if (!ticket) return forward_fault(ticket);
  stream->expect({*ticket, image, own, memory});
  return {};
}

// Words: address, value, bytes, in a stream, which. The card fills whole words of 4 bytes.
Outcome fill(Caller& caller, CallRecord& call) {
  const DeviceAddress at{call.words[0]};
  const Bytes size = call.words[2];
  if (size == 0) return {};
  const auto card = caller.card_of(at, size);
  if (!card) return forward_fault(card);
  auto order = Order::of(caller, **card, call.words[3] != 0, call.words[4]);
  if (!order) return forward_fault(order);
  const auto byte = static_cast<std::uint8_t>(call.words[1]);
  std::array<std::byte, 4> edge{};
  edge.fill(static_cast<std::byte>(byte));
  const Bytes head = std::min<Bytes>((4 - at.value % 4) % 4, size);
  const Bytes middle = (size - head) / 4 * 4;
  const Bytes tail = size - head - middle;
  const auto write = [&](Bytes offset, Bytes count) -> Outcome {
    if (count == 0) return {};
    return order->move(at + offset, {edge.data(), count}, true);
  };
  if (auto done = write(0, head); !done) return done;
  if (middle != 0) {
    const std::uint32_t pattern = byte * 0x0101'0101U;
    if (auto done = order->begin(driver::entries::fill(at + head, middle, pattern)); !done) {
      return done;
    }
  }
  return write(head + middle, tail);
}

}  // namespace npu::exec::acl
