// SPDX-License-Identifier: Apache-2.0
// Routes between queues.
#include <algorithm>
#include <new>

#include "apps/compat/acl/queues.hpp"

using npu::compat::give_value;
using npu::compat::is_value;
using npu::compat::QueueRoute;
using npu::compat::queues;

struct acltdtQueueRoute : QueueRoute {};
struct acltdtQueueRouteList {
  std::vector<QueueRoute> routes;
};
struct acltdtQueueRouteQueryInfo {
  acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC;
  uint32_t source = 0, destination = 0;

  bool asks_for(const QueueRoute& route) const {
    const bool from = route.source == source, to = route.destination == destination;
    switch (mode) {
      case ACL_TDT_QUEUE_ROUTE_QUERY_SRC:
        return from;
      case ACL_TDT_QUEUE_ROUTE_QUERY_DST:
        return to;
      case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST:
        return from && to;
      default:
        return route.status == ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL;
    }
  }
};

extern "C" {

acltdtQueueRoute* acltdtCreateQueueRoute(uint32_t source, uint32_t destination) {
  auto* const route = new (std::nothrow) acltdtQueueRoute;
  if (route == nullptr) return nullptr;
  route->source = source;
  route->destination = destination;
  return route;
}

aclError acltdtDestroyQueueRoute(const acltdtQueueRoute* route) {
  if (route == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete route;
  return ACL_SUCCESS;
}

aclError acltdtGetQueueRouteParam(const acltdtQueueRoute* route, acltdtQueueRouteParamType type,
                                  size_t length, size_t* written, void* value) {
  if (route == nullptr) return ACL_ERROR_INVALID_PARAM;
  switch (type) {
    case ACL_TDT_QUEUE_ROUTE_SRC_UINT32:
      return give_value(route->source, length, written, value);
    case ACL_TDT_QUEUE_ROUTE_DST_UINT32:
      return give_value(route->destination, length, written, value);
    case ACL_TDT_QUEUE_ROUTE_STATUS_INT32:
      return give_value(route->status, length, written, value);
    default:
      return ACL_ERROR_INVALID_PARAM;
  }
}

acltdtQueueRouteList* acltdtCreateQueueRouteList(void) {
  return new (std::nothrow) acltdtQueueRouteList;
}

aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList* list) {
  if (list == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete list;
  return ACL_SUCCESS;
}

aclError acltdtAddQueueRoute(acltdtQueueRouteList* list, const acltdtQueueRoute* route) {
  if (list == nullptr || route == nullptr) return ACL_ERROR_INVALID_PARAM;
  list->routes.push_back(*route);
  return ACL_SUCCESS;
}

aclError acltdtGetQueueRoute(const acltdtQueueRouteList* list, size_t index,
                             acltdtQueueRoute* route) {
  if (list == nullptr || route == nullptr || index >= list->routes.size()) {
    return ACL_ERROR_INVALID_PARAM;
  }
  static_cast<QueueRoute&>(*route) = list->routes[index];
  return ACL_SUCCESS;
}

size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList* list) {
  return list == nullptr ? 0 : list->routes.size();
}

aclError acltdtBindQueueRoutes(acltdtQueueRouteList* list) {
  if (list == nullptr || list->routes.empty()) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(queues().lock);
  auto& bound = queues().routes;
  for (const auto& route : list->routes) {
    const bool there = queues().all.count(route.source) != 0 &&
                       queues().all.count(route.destination) != 0 &&
                       route.source != route.destination;
    const bool twice = std::any_of(bound.begin(), bound.end(),
                                   [&route](const QueueRoute& each) { return each.same(route); });
    if (!there || twice) return ACL_ERROR_RT_PARAM_INVALID;
  }
  for (auto& route : list->routes) {
    route.status = ACL_TDT_QUEUE_ROUTE_BIND;
    bound.push_back(route);
  }
  return ACL_SUCCESS;
}

aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList* list) {
  if (list == nullptr || list->routes.empty()) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(queues().lock);
  auto& bound = queues().routes;
  for (auto& route : list->routes) {
    const auto found = std::find_if(bound.begin(), bound.end(),
                                    [&route](const QueueRoute& each) { return each.same(route); });
    if (found == bound.end()) return ACL_ERROR_RT_PARAM_INVALID;
    bound.erase(found);
    route.status = ACL_TDT_QUEUE_ROUTE_UNBIND;
  }
  return ACL_SUCCESS;
}

acltdtQueueRouteQueryInfo* acltdtCreateQueueRouteQueryInfo(void) {
  return new (std::nothrow) acltdtQueueRouteQueryInfo;
}

aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo* info) {
  if (info == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete info;
  return ACL_SUCCESS;
}

aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo* info,
                                      acltdtQueueRouteQueryInfoParamType type, size_t length,
                                      const void* value) {
  if (info == nullptr || !is_value<uint32_t>(length, value)) return ACL_ERROR_INVALID_PARAM;
  uint32_t word = 0;
  std::memcpy(&word, value, sizeof word);
  switch (type) {
    case ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM:
      if (word > ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST &&
          word != ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL) {
        return ACL_ERROR_INVALID_PARAM;
      }
      info->mode = static_cast<acltdtQueueRouteQueryMode>(word);
      return ACL_SUCCESS;
    case ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32:
      info->source = word;
      return ACL_SUCCESS;
    case ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32:
      info->destination = word;
      return ACL_SUCCESS;
    default:
      return ACL_ERROR_INVALID_PARAM;
  }
}

aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo* info, acltdtQueueRouteList* list) {
  if (info == nullptr || list == nullptr) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(queues().lock);
  for (const auto& route : queues().routes) {
    if (info->asks_for(route)) list->routes.push_back(route);
  }
  return ACL_SUCCESS;
}

}  // extern "C"
