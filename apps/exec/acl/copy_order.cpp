// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/copy_order.hpp"

#include <algorithm>

#include "apps/exec/acl/models.hpp"

namespace npu::exec::acl {

Value<CopyOrder> CopyOrder::of(Caller& caller, ProcessCard& card,
                               const compat::wire::Order& order) {
  if (order.in_stream == 0) {
    if (auto may = may_work_at_once(caller); !may) return forward_fault(may);
    return CopyOrder(caller, card, nullptr);
  }
  auto stream = caller.stream(order.stream);
  if (!stream) return forward_fault(stream);
  if ((*stream)->device != card.index()) {
    return fault(kStreamContext, "the stream is of another device than the memory");
  }
  return CopyOrder(caller, card, std::move(*stream));
}

void CopyOrder::wait_for_earlier() {
  if (stream_ == nullptr) return;
  const auto last = stream_->watched.last;
  static_cast<void>(stream_->stream->last().wait(Instant::never()));
  stream_->watched.known(last);
}

Outcome CopyOrder::run(const abi::QueueEntry& entry) {
  if (stream_ == nullptr) return card_.run(entry, caller_.site());
  {
    Submitting submitting(stream_->watched);
    const auto submitted = stream_->stream->submit(&entry, 1);
    if (!submitted) return submission_fault(submitted.error());
    submitting.made(submitted->ticket());
  }
  return synchronize(*stream_, Instant::never(), kStreamTimeout);
}

Outcome CopyOrder::begin(const abi::QueueEntry& entry, std::shared_ptr<const void> keep) {
  if (stream_ == nullptr) return card_.run(entry, caller_.site());
  return submit(*stream_, &entry, 1, std::move(keep));
}

void CopyOrder::remember(PinnedMemory& memory, Bytes offset, Bytes size,
                         std::uint64_t stream) const {
  if (stream_ == nullptr || stream_->watched.races == nullptr || is_captured()) return;
  const auto& watched = stream_->watched;
  auto& all = memory.in_flight;
  const auto is_over = [&watched](const auto& each) { return watched.races->is_over(each.last); };
  all.erase(std::remove_if(all.begin(), all.end(), is_over), all.end());
  all.push_back({offset, size, stream, ticket_of(watched.device, watched.last)});
}

Outcome CopyOrder::move(driver::DeviceAddress device, ByteSpan host, bool to_device) {
  const auto staging = card_.staging(caller_.number());
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

}  // namespace npu::exec::acl
