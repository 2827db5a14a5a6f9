// SPDX-License-Identifier: Apache-2.0
#include "compat/client/copies.hpp"

#include <algorithm>
#include <cstring>

#include "compat/client/pinned.hpp"
#include "compat/client/request.hpp"

namespace npu::compat {
namespace {

std::size_t piece_of(std::size_t left) {
  return std::min(left, kWindow);
}

// Word 0: the device address; 1: bytes; 2: in a stream; 3: which.
int copy_in(void* to, const void* from, std::size_t count, const CopyOrder& order) {
  for (std::size_t done = 0; done < count;) {
    Channel* const channel = channel_of_this_thread();
    if (channel == nullptr) return kNoServer;
    const std::size_t piece = piece_of(count - done);
    std::memcpy(channel->window(), static_cast<const std::byte*>(from) + done, piece);
    const int status =
        ask(Call::kCopyIn, {word(to) + done, piece, order.in_stream ? 1U : 0U, word(order.stream)},
            piece);
    if (status != 0) return status;
    done += piece;
  }
  return 0;
}

int copy_out(void* to, const void* from, std::size_t count, const CopyOrder& order) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = piece_of(count - done);
    const int status = ask(
        Call::kCopyOut, {word(from) + done, piece, order.in_stream ? 1U : 0U, word(order.stream)});
    if (status != 0) return status;
    std::memcpy(static_cast<std::byte*>(to) + done, channel_of_this_thread()->window(), piece);
    done += piece;
  }
  return 0;
}

// Word 0: to the device; 1: its address; 2: the memory's number; 3: offset; 4: bytes; 5: in a
// stream; 6: which.
int copy_pinned(bool to_device, const void* device, const PinnedPlace& place, std::size_t count,
                const CopyOrder& order) {
  return ask(Call::kCopyPinned, {to_device ? 1U : 0U, word(device), place.memory, place.offset,
                                 count, order.in_stream ? 1U : 0U, word(order.stream)});
}

int copy_on_device(void* to, const void* from, std::size_t count, const CopyOrder& order) {
  return ask(Call::kCopyOnDevice,
             {word(to), word(from), count, order.in_stream ? 1U : 0U, word(order.stream)});
}

bool is_on_device(const void* address) {
  return !find_pinned(address) && ask(Call::kPlace, {word(address)}) == 0 && answer() != 0;
}

CopyKind kind_of(const void* to, const void* from) {
  const bool into = is_on_device(to);
  const bool out_of = is_on_device(from);
  if (into) return out_of ? CopyKind::kDeviceToDevice : CopyKind::kHostToDevice;
  return out_of ? CopyKind::kDeviceToHost : CopyKind::kHostToHost;
}

}  // namespace

int copy_bytes(void* to, const void* from, std::size_t count, CopyKind kind,
               const CopyOrder& order) {
  if (kind == CopyKind::kDefault) kind = kind_of(to, from);
  switch (kind) {
    case CopyKind::kHostToHost:
      std::memmove(to, from, count);
      return 0;
    case CopyKind::kHostToDevice:
    case CopyKind::kHostBufferToDevice: {
      const auto place = find_pinned(from);
      if (!place || kind == CopyKind::kHostBufferToDevice) {
        return copy_in(to, from, count, order);
      }
      if (place->left < count) return kRuntimeParameter;
      return copy_pinned(true, to, *place, count, order);
    }
    case CopyKind::kDeviceToHost: {
      const auto place = find_pinned(to);
      if (!place) return copy_out(to, from, count, order);
      if (place->left < count) return kRuntimeParameter;
      return copy_pinned(false, from, *place, count, order);
    }
    case CopyKind::kDeviceToDevice:
    case CopyKind::kWithinDevice:
      return copy_on_device(to, from, count, order);
    case CopyKind::kBetweenDevices:
      return kNotSupported;
    default:
      return kInvalidParameter;
  }
}

}  // namespace npu::compat
