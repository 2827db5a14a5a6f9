// SPDX-License-Identifier: Apache-2.0
// Copies. Bytes of ordinary host memory go through the thread's window, a window at a time; those
// of host memory that npusim has mapped stay where they are.
#include <acl/acl_rt.h>

#include <algorithm>
#include <cstring>

#include "compat/acl/pinned.hpp"
#include "compat/acl/request.hpp"

namespace npu::compat {
namespace {

// In which order a copy runs: by itself, or in that of a stream.
struct Order {
  bool in_stream = false;
  aclrtStream stream = nullptr;
};

std::size_t piece_of(std::size_t left) {
  return std::min(left, kWindow);
}

// Word 0: the device address; 1: bytes; 2: in a stream; 3: which.
int copy_in(void* to, const void* from, std::size_t count, const Order& order) {
  for (std::size_t done = 0; done < count;) {
    Channel* const channel = Channel::of_this_thread();
    if (channel == nullptr) return kNoServer;
    const std::size_t piece = piece_of(count - done);
    std::memcpy(channel->window(), static_cast<const std::byte*>(from) + done, piece);
    const int status =
        ask(Call::kCopyIn, {word(to) + done, piece, order.in_stream ? 1U : 0U, word(order.stream)},
            piece);
    if (status != ACL_SUCCESS) return status;
    done += piece;
  }
  return ACL_SUCCESS;
}

int copy_out(void* to, const void* from, std::size_t count, const Order& order) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = piece_of(count - done);
    const int status = ask(
        Call::kCopyOut, {word(from) + done, piece, order.in_stream ? 1U : 0U, word(order.stream)});
    if (status != ACL_SUCCESS) return status;
    std::memcpy(static_cast<std::byte*>(to) + done, Channel::of_this_thread()->window(), piece);
    done += piece;
  }
  return ACL_SUCCESS;
}

// Word 0: to the device; 1: its address; 2: the memory's number; 3: offset; 4: bytes; 5: in a
// stream; 6: which.
int copy_pinned(bool to_device, const void* device, const PinnedPlace& place, std::size_t count,
                const Order& order) {
  return ask(Call::kCopyPinned, {to_device ? 1U : 0U, word(device), place.memory, place.offset,
                                 count, order.in_stream ? 1U : 0U, word(order.stream)});
}

int copy_on_device(void* to, const void* from, std::size_t count, const Order& order) {
  return ask(Call::kCopyOnDevice,
             {word(to), word(from), count, order.in_stream ? 1U : 0U, word(order.stream)});
}

bool is_on_device(const void* address) {
  return !find_pinned(address) && ask(Call::kPlace, {word(address)}) == ACL_SUCCESS &&
         answer() != 0;
}

aclrtMemcpyKind kind_of(const void* to, const void* from) {
  const bool into = is_on_device(to);
  const bool out_of = is_on_device(from);
  if (into) return out_of ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
  return out_of ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST;
}

int copy(void* to, const void* from, std::size_t count, aclrtMemcpyKind kind, const Order& order) {
  if (kind == ACL_MEMCPY_DEFAULT) kind = kind_of(to, from);
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      std::memmove(to, from, count);
      return ACL_SUCCESS;
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE: {
      const auto place = find_pinned(from);
      if (!place || kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
        return copy_in(to, from, count, order);
      }
      if (place->left < count) return ACL_ERROR_RT_PARAM_INVALID;
      return copy_pinned(true, to, *place, count, order);
    }
    case ACL_MEMCPY_DEVICE_TO_HOST: {
      const auto place = find_pinned(to);
      if (!place) return copy_out(to, from, count, order);
      if (place->left < count) return ACL_ERROR_RT_PARAM_INVALID;
      return copy_pinned(false, from, *place, count, order);
    }
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
      return copy_on_device(to, from, count, order);
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      return ACL_ERROR_API_NOT_SUPPORT;
    default:
      return ACL_ERROR_INVALID_PARAM;
  }
}

bool is_kind(aclrtMemcpyKind kind) {
  const auto number = static_cast<int>(kind);
  return number >= ACL_MEMCPY_HOST_TO_HOST && number <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;
}

int checked(void* to, std::size_t max, const void* from, std::size_t count, aclrtMemcpyKind kind,
            const Order& order) {
  if (count == 0) return ACL_SUCCESS;
  if (to == nullptr || from == nullptr || max < count || !is_kind(kind)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  return copy(to, from, count, kind, order);
}

struct Rows {
  std::size_t to_pitch, from_pitch, width, height;
};

int copy_rows(void* to, const void* from, const Rows& rows, aclrtMemcpyKind kind,
              const Order& order) {
  if (to == nullptr || from == nullptr || !is_kind(kind) || rows.width == 0 || rows.height == 0 ||
      rows.to_pitch < rows.width || rows.from_pitch < rows.width) {
    return ACL_ERROR_INVALID_PARAM;
  }
  for (std::size_t row = 0; row < rows.height; ++row) {
    const int status =
        copy(static_cast<std::byte*>(to) + row * rows.to_pitch,
             static_cast<const std::byte*>(from) + row * rows.from_pitch, rows.width, kind, order);
    if (status != ACL_SUCCESS) return status;
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace npu::compat

using npu::compat::Order;

extern "C" {

aclError aclrtMemcpy(void* to, size_t max, const void* from, size_t count, aclrtMemcpyKind kind) {
  return npu::compat::checked(to, max, from, count, kind, {});
}

aclError aclrtMemcpyAsync(void* to, size_t max, const void* from, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return npu::compat::checked(to, max, from, count, kind, {true, stream});
}

aclError aclrtMemcpy2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return npu::compat::copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind, {});
}

aclError aclrtMemcpy2dAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                            size_t width, size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return npu::compat::copy_rows(to, from, {to_pitch, from_pitch, width, height}, kind,
                                {true, stream});
}

}  // extern "C"
