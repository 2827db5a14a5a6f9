// SPDX-License-Identifier: Apache-2.0
// Queues of the program, by numbers of its own, and routes between them.
#pragma once

#include <acl/acl_tdt_queue.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apps/compat/acl/device_queue.hpp"

namespace npu::compat {

inline constexpr uint32_t kAllPermissions = ACL_TDT_QUEUE_PERMISSION_MANAGE |
                                            ACL_TDT_QUEUE_PERMISSION_DEQUEUE |
                                            ACL_TDT_QUEUE_PERMISSION_ENQUEUE;

struct ProgramQueue {
  ProgramQueue(aclrtContext context, size_t depth, std::string text)
      : elements(context, depth), name(std::move(text)) {}
  DeviceQueue elements;
  std::string name;
  uint32_t permission = kAllPermissions;
};

struct QueueRoute {
  uint32_t source = 0, destination = 0;
  int32_t status = ACL_TDT_QUEUE_ROUTE_UNBIND;
  bool same(const QueueRoute& other) const {
    return source == other.source && destination == other.destination;
  }
};

// Left alone at the process' end: threads may still be in calls.
struct Queues {
  std::mutex lock;
  std::map<uint32_t, std::shared_ptr<ProgramQueue>> all;  // by number
  std::vector<QueueRoute> routes;                         // that are bound
  uint32_t made = 0;
};

inline Queues& queues() {
  static auto* const kQueues = new Queues;
  return *kQueues;
}

// A parameter of a type.
template <class T>
bool is_value(size_t length, const void* value) {
  return value != nullptr && length == sizeof(T);
}

template <class T>
aclError give_value(const T& from, size_t length, size_t* written, void* to) {
  if (!is_value<T>(length, to) || written == nullptr) return ACL_ERROR_INVALID_PARAM;
  std::memcpy(to, &from, sizeof from);
  *written = sizeof from;
  return ACL_SUCCESS;
}

}  // namespace npu::compat
