// SPDX-License-Identifier: Apache-2.0
#include "apps/compat/client/copies.hpp"

#include <algorithm>

#include "apps/compat/client/own_memory.hpp"
#include "apps/compat/client/pinned.hpp"
#include "apps/compat/client/request.hpp"
#include "apps/compat/client/watched_pinned.hpp"

namespace npu::compat {
namespace {

std::size_t piece_of(std::size_t left) {
  return std::min(left, kWindow);
}

wire::Order order_of(const CopyOrder& order) {
  return {order.in_stream, word(order.stream)};
}

// Ordinary memory is taken when the stream comes to it, buffered memory at once.
int copy_in(void* to, const void* from, std::size_t count, const CopyOrder& order, bool buffered) {
  if (order.in_stream && !buffered) {
    const int status = ask<Call::kCopyTurn>({word(order.stream)});
    if (status != 0) return status;
  }
  for (std::size_t done = 0; done < count;) {
    Channel* const channel = channel_of_this_thread();
    if (channel == nullptr) return kNoServer;
    const std::size_t piece = piece_of(count - done);
    if (!read_own(channel->window(), static_cast<const std::byte*>(from) + done, piece)) {
      return kRuntimeParameter;
    }
    const wire::WindowCopy copy{word(to) + done, piece, order_of(order)};
    const int status = buffered ? ask<Call::kCopyBuffered>(copy, nullptr, piece)
                                : ask<Call::kCopyIn>(copy, nullptr, piece);
    if (status != 0) return status;
    done += piece;
  }
  return 0;
}

int copy_out(void* to, const void* from, std::size_t count, const CopyOrder& order) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = piece_of(count - done);
    const int status = ask<Call::kCopyOut>({word(from) + done, piece, order_of(order)});
    if (status != 0) return status;
    if (!write_own(static_cast<std::byte*>(to) + done, channel_of_this_thread()->window(), piece)) {
      return kRuntimeParameter;
    }
    done += piece;
  }
  return 0;
}

int copy_pinned(bool to_device, const void* device, const void* host, const PinnedPlace& place,
                std::size_t count, const CopyOrder& order) {
  const int status = ask<Call::kCopyPinned>(
      {to_device, word(device), place.memory, place.offset, count, order_of(order)});
  if (status == 0 && order.in_stream) {
    watch_copy(host, count, place, !to_device, word(order.stream));
  }
  return status;
}

int copy_on_device(void* to, const void* from, std::size_t count, const CopyOrder& order) {
  return ask<Call::kCopyOnDevice>({word(to), word(from), count, order_of(order)});
}

int is_on_device(const void* address, bool* there) {
  *there = false;
  if (find_pinned(address)) return 0;
  return ask_for<Call::kPlace>(there, {word(address)});
}

// Kinds that say where memory is are believed; this one asks. An error of the question is the
// copy's.
int find_kind(const void* to, const void* from, CopyKind* kind) {
  bool into = false, out_of = false;
  if (const int status = is_on_device(to, &into); status != 0) return status;
  if (const int status = is_on_device(from, &out_of); status != 0) return status;
  if (into) {
    *kind = out_of ? CopyKind::kDeviceToDevice : CopyKind::kHostToDevice;
  } else {
    *kind = out_of ? CopyKind::kDeviceToHost : CopyKind::kHostToHost;
  }
  return 0;
}

int copy_on_host(void* to, const void* from, std::size_t count, const CopyOrder& order) {
  if (order.in_stream) return ask<Call::kCopyOnHost>({word(order.stream)});
  return move_own(to, from, count) ? 0 : kRuntimeParameter;
}

}  // namespace

int copy_bytes(void* to, const void* from, std::size_t count, CopyKind kind,
               const CopyOrder& order) {
  if (kind == CopyKind::kDefault) {
    if (const int status = find_kind(to, from, &kind); status != 0) return status;
  }
  switch (kind) {
    case CopyKind::kHostToHost:
      return copy_on_host(to, from, count, order);
    case CopyKind::kHostToDevice:
    case CopyKind::kHostBufferToDevice: {
      const auto place = find_pinned(from);
      const bool buffered = kind == CopyKind::kHostBufferToDevice;
      if (!place || buffered) return copy_in(to, from, count, order, buffered);
      if (place->left < count) return kRuntimeParameter;
      return copy_pinned(true, to, from, *place, count, order);
    }
    case CopyKind::kDeviceToHost: {
      const auto place = find_pinned(to);
      if (!place) return copy_out(to, from, count, order);
      if (place->left < count) return kRuntimeParameter;
      return copy_pinned(false, from, to, *place, count, order);
    }
    case CopyKind::kDeviceToDevice:
    case CopyKind::kWithinDevice:
    case CopyKind::kBetweenDevices:
      return copy_on_device(to, from, count, order);
    default:
      return kInvalidParameter;
  }
}

int fill_bytes(void* to, std::uint8_t value, std::size_t count, const CopyOrder& order) {
  const auto place = find_pinned(to);
  if (place && place->left < count) return kRuntimeParameter;
  if (place && order.in_stream) {
    const int status =
        ask<Call::kMemsetPinned>({place->memory, place->offset, value, count, word(order.stream)});
    if (status == 0) watch_copy(to, count, *place, true, word(order.stream));
    return status;
  }
  bool on_device = false;
  if (!place && !order.in_stream) {
    if (const int status = is_on_device(to, &on_device); status != 0) return status;
  }
  if (on_device || order.in_stream) {
    return ask<Call::kMemset>({word(to), value, count, order_of(order)});
  }
  return fill_own(to, value, count) ? 0 : kRuntimeParameter;
}

}  // namespace npu::compat
