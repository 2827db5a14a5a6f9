// SPDX-License-Identifier: Apache-2.0
// Queues of the program.
#include <unistd.h>

#include <algorithm>
#include <new>

#include "apps/compat/acl/queues.hpp"

using npu::compat::DeviceQueue;
using npu::compat::give_value;
using npu::compat::is_value;
using npu::compat::kAllPermissions;
using npu::compat::ProgramQueue;
using npu::compat::QueueRoute;
using npu::compat::queues;

namespace {

constexpr size_t kLongestName = 127, kLongestUser = 96;
constexpr uint32_t kLeastDepth = 2, kMostDepth = 8192;
std::shared_ptr<ProgramQueue> queue_of(uint32_t number) {
  const std::lock_guard<std::mutex> held(queues().lock);
  const auto found = queues().all.find(number);
  return found == queues().all.end() ? nullptr : found->second;
}

std::vector<QueueRoute> routes_of(uint32_t number) {
  const std::lock_guard<std::mutex> held(queues().lock);
  std::vector<QueueRoute> found;
  for (const auto& route : queues().routes) {
    if (route.source == number || route.destination == number) found.push_back(route);
  }
  return found;
}

// As much of the source as there is room for.
void move_along(const QueueRoute& route) {
  const auto from = queue_of(route.source), to = queue_of(route.destination);
  if (from == nullptr || to == nullptr) return;
  aclError status = ACL_SUCCESS;
  while (status == ACL_SUCCESS && from->elements.size() != 0) {
    status = from->elements.take(0, [&to](const DeviceQueue::Element& element) {
      std::vector<std::byte> data(element.size);
      const aclError copied = data.empty() ? ACL_SUCCESS
                                           : aclrtMemcpy(data.data(), data.size(), element.at,
                                                         data.size(), ACL_MEMCPY_DEVICE_TO_HOST);
      if (copied != ACL_SUCCESS) return copied;
      return to->elements.put({{data.data(), data.size()}}, element.head, 0);
    });
  }
}

void move_routes(uint32_t number) {
  for (const auto& route : routes_of(number)) move_along(route);
}

}  // namespace

struct tagMemQueueAttr {
  std::string name;
  uint32_t depth = kLeastDepth;
};
extern "C" {

acltdtQueueAttr* acltdtCreateQueueAttr(void) {
  return new (std::nothrow) tagMemQueueAttr;
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr) {
  if (attr == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete attr;
  return ACL_SUCCESS;
}

aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t length,
                            const void* value) {
  if (attr == nullptr || value == nullptr || length == 0) return ACL_ERROR_INVALID_PARAM;
  if (type == ACL_TDT_QUEUE_DEPTH_UINT32) {
    uint32_t depth = 0;
    if (!is_value<uint32_t>(length, value)) return ACL_ERROR_INVALID_PARAM;
    std::memcpy(&depth, value, sizeof depth);
    if (depth < kLeastDepth || depth > kMostDepth) return ACL_ERROR_INVALID_PARAM;
    attr->depth = depth;
    return ACL_SUCCESS;
  }
  if (type != ACL_TDT_QUEUE_NAME_PTR) return ACL_ERROR_INVALID_PARAM;
  const auto* name = static_cast<const char*>(value);
  size_t most = length;
  if (length == sizeof name) {
    std::memcpy(&name, value, sizeof name);
    most = kLongestName + 1;
  }
  const size_t size = name == nullptr ? 0 : ::strnlen(name, most);
  if (size == 0 || size > kLongestName) return ACL_ERROR_INVALID_PARAM;
  attr->name.assign(name, size);
  return ACL_SUCCESS;
}

aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t length,
                            size_t* written, void* value) {
  if (attr == nullptr || written == nullptr || value == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (type == ACL_TDT_QUEUE_DEPTH_UINT32) return give_value(attr->depth, length, written, value);
  if (type != ACL_TDT_QUEUE_NAME_PTR) return ACL_ERROR_INVALID_PARAM;
  const char* const name = attr->name.c_str();
  if (length == sizeof name) return give_value(name, length, written, value);
  const size_t size = attr->name.size() + 1;
  if (length < size) return ACL_ERROR_INVALID_PARAM;
  std::memcpy(value, name, size);
  *written = size;
  return ACL_SUCCESS;
}

aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* queue) {
  if (attr == nullptr || queue == nullptr) return ACL_ERROR_INVALID_PARAM;
  aclrtContext context = nullptr;
  const aclError status = aclrtGetCurrentContext(&context);
  if (status != ACL_SUCCESS) return status;
  const std::lock_guard<std::mutex> held(queues().lock);
  const bool used = std::any_of(queues().all.begin(), queues().all.end(), [attr](const auto& each) {
    return !attr->name.empty() && each.second->name == attr->name;
  });
  if (used) return ACL_ERROR_RT_PARAM_INVALID;
  const uint32_t number = queues().made++;
  queues().all[number] = std::make_shared<ProgramQueue>(context, attr->depth, attr->name);
  *queue = number;
  return ACL_SUCCESS;
}

aclError acltdtDestroyQueue(uint32_t queue) {
  const auto gone = queue_of(queue);  // dies when the lock is free again
  if (gone == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  const std::lock_guard<std::mutex> held(queues().lock);
  queues().all.erase(queue);
  auto& routes = queues().routes;
  routes.erase(std::remove_if(routes.begin(), routes.end(),
                              [queue](const QueueRoute& route) {
                                return route.source == queue || route.destination == queue;
                              }),
               routes.end());
  return ACL_SUCCESS;
}

aclError acltdtEnqueueData(uint32_t queue, const void* data, size_t size, const void* user,
                           size_t user_size, int32_t timeout, uint32_t reserved) {
  if (data == nullptr || size == 0 || user_size > kLongestUser ||
      (user == nullptr && user_size != 0) || timeout < -1 || reserved != 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const auto to = queue_of(queue);
  if (to == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  DeviceQueue::Bytes head(user_size);
  if (user_size != 0) std::memcpy(head.data(), user, user_size);
  const aclError status = to->elements.put({{data, size}}, std::move(head), timeout);
  if (status == ACL_SUCCESS) move_routes(queue);
  return status;
}

aclError acltdtDequeueData(uint32_t queue, void* data, size_t size, size_t* taken, void* user,
                           size_t user_size, int32_t timeout) {
  if (data == nullptr || size == 0 || taken == nullptr || timeout < -1 ||
      user_size > kLongestUser || (user == nullptr && user_size != 0)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const auto from = queue_of(queue);
  if (from == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  move_routes(queue);
  bool fits = true;
  const aclError status =
      from->elements.take(timeout, [&](const DeviceQueue::Element& element) -> aclError {
        fits = element.size <= size;
        if (!fits) return ACL_ERROR_RT_PARAM_INVALID;
        *taken = element.size;
        const size_t told = std::min(user_size, element.head.size());
        if (told != 0) std::memcpy(user, element.head.data(), told);
        return aclrtMemcpy(data, size, element.at, element.size, ACL_MEMCPY_DEVICE_TO_HOST);
      });
  if (!fits) return ACL_ERROR_INVALID_PARAM;
  if (status == ACL_SUCCESS) move_routes(queue);
  return status;
}

aclError acltdtGrantQueue(uint32_t queue, int32_t process, uint32_t permission, int32_t timeout) {
  if (permission == 0 || permission > kAllPermissions || timeout < -1) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const auto of = queue_of(queue);
  if (of == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  if (process != ::getpid()) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  of->permission = permission;
  return ACL_SUCCESS;
}

aclError acltdtAttachQueue(uint32_t queue, int32_t timeout, uint32_t* permission) {
  if (permission == nullptr || timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const auto of = queue_of(queue);
  if (of == nullptr) return ACL_ERROR_RT_PARAM_INVALID;
  *permission = of->permission;
  return ACL_SUCCESS;
}

}  // extern "C"
