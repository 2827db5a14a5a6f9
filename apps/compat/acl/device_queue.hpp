// SPDX-License-Identifier: Apache-2.0
// A queue whose elements are in the memory of a device: who puts copies to it, who takes copies
// back.
#pragma once

#include <acl/acl_rt.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "apps/compat/client/request.hpp"

namespace npu::compat {

class DeviceQueue {
 public:
  using Bytes = std::vector<std::byte>;
  struct Piece {
    const void* data = nullptr;
    size_t size = 0;
  };
  // In device memory, and what is known of it on the host.
  struct Element {
    void* at = nullptr;
    size_t size = 0;
    Bytes head;
  };

  DeviceQueue(aclrtContext context, size_t depth) : context_(context), depth_(depth) {}
  ~DeviceQueue() { clear(); }
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  size_t size() {
    const std::lock_guard<std::mutex> held(lock_);
    return elements_.size() + coming_;
  }
  // `milliseconds` of simulated time, -1: for ever. 207014; errors of what it calls.
  aclError put(const std::vector<Piece>& pieces, Bytes head, int32_t milliseconds) {
    const aclError room = wait(milliseconds, ACL_ERROR_RT_QUEUE_FULL, [this] { return reserve(); });
    if (room != ACL_SUCCESS) return room;
    Element element;
    element.head = std::move(head);
    const aclError status = in_context([&] { return to_device(pieces, &element); });
    const std::lock_guard<std::mutex> held(lock_);
    --coming_;
    if (status == ACL_SUCCESS) elements_.push_back(std::move(element));
    return status;
  }
  // The first element: `copy(element)` says whether it is taken. 207013; what `copy` returns.
  template <class Copy>
  aclError take(int32_t milliseconds, Copy&& copy) {
    Element first;
    const aclError there =
        wait(milliseconds, ACL_ERROR_RT_QUEUE_EMPTY, [&] { return pop(&first); });
    if (there != ACL_SUCCESS) return there;
    const aclError status = in_context([&] { return copy(first); });
    if (status == ACL_SUCCESS) {
      give_back(first);
      return status;
    }
    const std::lock_guard<std::mutex> held(lock_);
    elements_.push_front(std::move(first));
    return status;
  }
  void clear() {
    Element each;
    while (pop(&each)) give_back(each);
  }

 private:
  bool reserve() {
    const std::lock_guard<std::mutex> held(lock_);
    if (elements_.size() + coming_ >= depth_) return false;
    ++coming_;
    return true;
  }
  bool pop(Element* to) {
    const std::lock_guard<std::mutex> held(lock_);
    if (elements_.empty()) return false;
    *to = std::move(elements_.front());
    elements_.pop_front();
    return true;
  }
  // Looks every millisecond, as the vendor's queues do.
  template <class Try>
  static aclError wait(int32_t milliseconds, aclError late, Try&& attempt) {
    constexpr std::uint64_t kLook = 1'000'000;
    for (std::int64_t passed = 0; !attempt(); ++passed) {
      if (milliseconds >= 0 && passed >= milliseconds) return late;
      const aclError status = ask<Call::kSleep>({kLook});
      if (status != ACL_SUCCESS) return status;
    }
    return ACL_SUCCESS;
  }
  // The thread's own context is put back.
  template <class Work>
  aclError in_context(Work&& work) {
    aclrtContext before = nullptr;
    const bool had = aclrtGetCurrentContext(&before) == ACL_SUCCESS;
    aclError status = had && before == context_ ? ACL_SUCCESS : aclrtSetCurrentContext(context_);
    if (status != ACL_SUCCESS) return status;
    status = work();
    if (had && before != context_) static_cast<void>(aclrtSetCurrentContext(before));
    return status;
  }
  static aclError to_device(const std::vector<Piece>& pieces, Element* element) {
    for (const auto& piece : pieces) element->size += piece.size;
    if (element->size == 0) return ACL_SUCCESS;
    aclError status = aclrtMallocAlign32(&element->at, element->size, ACL_MEM_MALLOC_HUGE_FIRST);
    auto* to = static_cast<std::byte*>(element->at);
    for (const auto& piece : pieces) {
      if (status != ACL_SUCCESS) break;
      status = aclrtMemcpy(to, piece.size, piece.data, piece.size, ACL_MEMCPY_HOST_TO_DEVICE);
      to += piece.size;
    }
    if (status != ACL_SUCCESS && element->at != nullptr) static_cast<void>(aclrtFree(element->at));
    return status;
  }
  void give_back(Element& element) {
    if (element.at == nullptr) return;
    static_cast<void>(in_context([&] { return aclrtFree(element.at); }));
    element.at = nullptr;
  }

  const aclrtContext context_;
  const size_t depth_;
  std::mutex lock_;
  std::deque<Element> elements_;
  size_t coming_ = 0;  // that are copied
};

}  // namespace npu::compat
