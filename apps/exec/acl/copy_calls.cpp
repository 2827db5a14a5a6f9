// SPDX-License-Identifier: Apache-2.0
// Copies. Ordinary host memory goes piece by piece through memory that the card reaches, between
// what was submitted before and the call's return; the card itself copies pinned memory.
#include <algorithm>
#include <cstring>

#include "apps/exec/acl/copy_order.hpp"
#include "apps/exec/acl/handlers.hpp"
#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {
namespace {

using driver::DeviceAddress;

// Ordinary memory is not recorded: a copy into a captured stream is made at once.
Value<wire::Order> order_of(Caller& caller, const wire::Order& order) {
  if (order.in_stream == 0) return order;
  const auto stream = caller.stream(order.stream);
  if (!stream) return forward_fault(stream);
  return (*stream)->model == nullptr ? order : wire::Order{};
}

Outcome copy_window(Caller& caller, const wire::WindowCopy& copy, ByteSpan bytes, bool to_device) {
  const DeviceAddress device{copy.address};
  const auto card = caller.card_of(device, copy.bytes);
  if (!card) return forward_fault(card);
  const auto where = order_of(caller, copy.order);
  if (!where) return forward_fault(where);
  auto order = CopyOrder::of(caller, **card, *where);
  if (!order) return forward_fault(order);
  auto& space = caller.process().managed();
  if (space.find(device) == nullptr) return order->move(device, bytes, to_device);
  order->wait_for_earlier();
  auto& managed = *space.memory();
  return outcome_of(to_device ? managed.write(device, bytes) : managed.read(device, bytes));
}

}  // namespace

// The bytes are those that ordinary memory has when the stream comes to the copy.
Outcome serve(Caller& caller, const CallOf<Call::kCopyTurn>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  if ((*stream)->model != nullptr) return may_work_at_once(caller);
  const auto last = (*stream)->watched.last;
  static_cast<void>((*stream)->stream->last().wait(Instant::never()));
  (*stream)->watched.known(last);
  return {};
}

Outcome serve(Caller& caller, const CallOf<Call::kCopyIn>& call) {
  const auto bytes = call.first(call.bytes);
  if (!bytes) return forward_fault(bytes);
  return copy_window(caller, call, *bytes, true);
}

Outcome serve(Caller& caller, const CallOf<Call::kCopyOut>& call) {
  if (call.bytes > call.window.size) return fault(kInvalidParameter, "more bytes than a call has");
  return copy_window(caller, call, call.window.subspan(0, call.bytes), false);
}

// The bytes are taken now, the stream copies them in its order (ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE).
Outcome serve(Caller& caller, const CallOf<Call::kCopyBuffered>& call) {
  const DeviceAddress device{call.address};
  const Bytes size = call.bytes;
  const auto bytes = call.first(size);
  if (!bytes) return forward_fault(bytes);
  const auto card = caller.card_of(device, size);
  if (!card) return forward_fault(card);
  const bool managed = caller.process().managed().find(device) != nullptr;
  if (call.order.in_stream == 0 || managed) return copy_window(caller, call, *bytes, true);
  auto order = CopyOrder::of(caller, **card, call.order);
  if (!order) return forward_fault(order);
  auto buffer = (*card)->process().allocate_host(size, platform::DmaDirection::kDeviceReads);
  if (!buffer) return fault(buffer.error());
  const std::shared_ptr<platform::DmaMemory> taken = std::move(*buffer);
  (*card)->platform().copy(taken->cpu(), *bytes);
  return order->begin(driver::entries::copy_to_device(taken->bus(), device, size), taken);
}

// The streams' order knows no copies within the host.
Outcome serve(Caller& caller, const CallOf<Call::kCopyOnHost>& call) {
  const auto stream = caller.stream(call.handle);
  if (!stream) return forward_fault(stream);
  return fault(kFeature, "asynchronous copies from host to host are not supported");
}

// Between cards the stream's card copies, or the one that the bytes are on. Managed memory is on
// every card.
Outcome serve(Caller& caller, const CallOf<Call::kCopyOnDevice>& call) {
  DeviceAddress to{call.to}, from{call.from};
  const Bytes size = call.bytes;
  auto target = caller.card_of(to, size);
  if (!target) return forward_fault(target);
  auto source = caller.card_of(from, size);
  if (!source) return forward_fault(source);
  auto& managed = caller.process().managed();
  if (managed.has(to, size)) {
    target = source;
  } else if (managed.has(from, size)) {
    source = target;
  }
  if (*target == *source) {
    auto order = CopyOrder::of(caller, **target, call.order);
    if (!order) return forward_fault(order);
    return order->begin(driver::entries::copy_on_device(from, to, size));
  }
  auto* by = *source;
  if (call.order.in_stream != 0) {
    const auto stream = caller.stream(call.order.stream);
    if (!stream) return forward_fault(stream);
    if ((*stream)->device == (*target)->index()) by = *target;
  }
  auto order = CopyOrder::of(caller, *by, call.order);
  if (!order) return forward_fault(order);
  const bool writes = by == *source;
  auto& owner = writes ? **target : **source;
  Outcome done;
  for (Bytes at = 0, piece = 0; done && at < size; at += piece) {  // a block at a time
    const auto far = by->peers().find(owner.space(), owner.index(), (writes ? to : from) + at);
    if (!far) return forward_fault(far);
    piece = std::min(far->left, size - at);
    const auto entry = writes ? driver::entries::copy_to_peer(from + at, far->address, piece)
                              : driver::entries::copy_to_peer(far->address, to + at, piece);
    done = order->begin(entry);
  }
  return done;
}

Outcome serve(Caller& caller, const CallOf<Call::kCopyPinned>& call) {
  const bool to_device = call.to_device != 0;
  const DeviceAddress device{call.address};
  const auto memory = caller.process().pinned.find(call.memory);
  const Bytes offset = call.offset, size = call.bytes;
  if (memory == nullptr || offset > memory->shared->bytes().size ||
      size > memory->shared->bytes().size - offset) {
    return fault(kRuntimeParameter, "it is no host memory");
  }
  const auto card = caller.card_of(device, size);
  if (!card) return forward_fault(card);
  auto order = CopyOrder::of(caller, **card, call.order);
  if (!order) return forward_fault(order);
  if (auto& space = caller.process().managed(); space.find(device) != nullptr) {
    if (order->is_captured()) return fault(kFeature, "no model has copies of managed memory");
    const ByteSpan own = memory->shared->bytes().subspan(offset, size);
    order->wait_for_earlier();
    auto& managed = *space.memory();
    return outcome_of(to_device ? managed.write(device, own) : managed.read(device, own));
  }
  const auto mapped = (*card)->map(*memory);
  if (!mapped) return forward_fault(mapped);
  const auto bus = (*mapped)->bus() + offset;
  const auto entry = to_device ? driver::entries::copy_to_device(bus, device, size)
                               : driver::entries::copy_to_host(device, bus, size);
  auto begun = order->begin(entry, *mapped);
  if (begun) order->remember(*memory, offset, size, call.order.stream);
  return begun;
}

}  // namespace npu::exec::acl
