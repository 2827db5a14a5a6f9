// SPDX-License-Identifier: Apache-2.0
// Tensors, data sets, and channels that they go through.
#include <acl/acl_rt.h>
#include <acl/acl_tdt.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "apps/compat/acl/device_queue.hpp"

using npu::compat::DeviceQueue;

namespace {

constexpr size_t kMostSides = 128;
constexpr size_t kUsualCapacity = 128;

}  // namespace

struct acltdtDataItem {
  acltdtTensorType type = ACL_TENSOR_DATA_UNDEFINED;
  aclDataType data_type = ACL_DT_UNDEFINED;
  std::vector<int64_t> sides;
  void* data = nullptr;
  size_t size = 0;
  std::vector<std::byte> own;  // of a tensor that was received
};

struct acltdtDataset {
  std::vector<acltdtDataItem*> items;
  std::vector<std::unique_ptr<acltdtDataItem>> own;
  std::string name;
};

struct acltdtChannelHandle {
  acltdtChannelHandle(aclrtContext context, size_t capacity, const char* text)
      : queue(context, capacity), name(text) {}
  mutable DeviceQueue queue;
  std::string name;
  bool stopped = false;
};

namespace {

// What goes with an item, in front of its sides.
struct ItemHead {
  int32_t type, data_type;
  uint64_t sides, size;
};

template <class T>
void append(DeviceQueue::Bytes& to, const T* from, size_t count) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(from);
  to.insert(to.end(), bytes, bytes + count * sizeof(T));
}

DeviceQueue::Bytes head_of(const acltdtDataset& dataset) {
  DeviceQueue::Bytes head;
  for (const auto* const item : dataset.items) {
    const ItemHead one = {item->type, item->data_type, item->sides.size(), item->size};
    append(head, &one, 1);
    append(head, item->sides.data(), item->sides.size());
  }
  return head;
}

aclError receive(const DeviceQueue::Element& element, acltdtDataset* dataset) {
  std::vector<std::unique_ptr<acltdtDataItem>> items;
  const auto* from = static_cast<const std::byte*>(element.at);
  for (size_t at = 0; at < element.head.size();) {
    ItemHead head;
    std::memcpy(&head, element.head.data() + at, sizeof head);
    at += sizeof head;
    auto item = std::make_unique<acltdtDataItem>();
    item->type = static_cast<acltdtTensorType>(head.type);
    item->data_type = static_cast<aclDataType>(head.data_type);
    item->sides.resize(head.sides);
    const size_t bytes = head.sides * sizeof(int64_t);
    if (bytes != 0) std::memcpy(item->sides.data(), element.head.data() + at, bytes);
    at += bytes;
    item->own.resize(head.size);
    item->size = head.size;
    item->data = item->own.data();
    const aclError status = head.size == 0 ? ACL_SUCCESS
                                           : aclrtMemcpy(item->data, item->size, from, item->size,
                                                         ACL_MEMCPY_DEVICE_TO_HOST);
    if (status != ACL_SUCCESS) return status;
    if (head.size != 0) from += head.size;
    items.push_back(std::move(item));
  }
  for (const auto& item : items) dataset->items.push_back(item.get());
  dataset->own = std::move(items);
  return ACL_SUCCESS;
}

}  // namespace

extern "C" {

acltdtDataItem* acltdtCreateDataItem(acltdtTensorType type, const int64_t* dims, size_t dim_count,
                                     aclDataType data_type, void* data, size_t size) {
  if ((dims == nullptr && dim_count != 0) || dim_count > kMostSides ||
      (data == nullptr && size != 0)) {
    return nullptr;
  }
  auto* const item = new (std::nothrow) acltdtDataItem;
  if (item == nullptr) return nullptr;
  item->type = type;
  item->data_type = data_type;
  if (dim_count != 0) item->sides.assign(dims, dims + dim_count);
  item->data = data;
  item->size = size;
  return item;
}

aclError acltdtDestroyDataItem(acltdtDataItem* item) {
  if (item == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete item;
  return ACL_SUCCESS;
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* item) {
  return item == nullptr ? ACL_TENSOR_DATA_UNDEFINED : item->type;
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* item) {
  return item == nullptr ? ACL_DT_UNDEFINED : item->data_type;
}

void* acltdtGetDataAddrFromItem(const acltdtDataItem* item) {
  return item == nullptr ? nullptr : item->data;
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem* item) {
  return item == nullptr ? 0 : item->size;
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem* item) {
  return item == nullptr ? 0 : item->sides.size();
}

aclError acltdtGetDimsFromItem(const acltdtDataItem* item, int64_t* dims, size_t dim_count) {
  if (item == nullptr || dim_count < item->sides.size() || (dims == nullptr && dim_count != 0)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  std::copy(item->sides.begin(), item->sides.end(), dims);
  return ACL_SUCCESS;
}

aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* item, size_t* slice_count,
                                    size_t* slice) {
  static_cast<void>(item);
  static_cast<void>(slice_count);
  static_cast<void>(slice);
  return ACL_ERROR_INVALID_PARAM;
}

acltdtDataset* acltdtCreateDataset(void) {
  return new (std::nothrow) acltdtDataset;
}

aclError acltdtDestroyDataset(acltdtDataset* dataset) {
  if (dataset == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete dataset;
  return ACL_SUCCESS;
}

acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index) {
  return dataset == nullptr || index >= dataset->items.size() ? nullptr : dataset->items[index];
}

aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* item) {
  if (dataset == nullptr || item == nullptr || !dataset->own.empty()) {
    return ACL_ERROR_INVALID_PARAM;
  }
  dataset->items.push_back(item);
  return ACL_SUCCESS;
}

size_t acltdtGetDatasetSize(const acltdtDataset* dataset) {
  return dataset == nullptr ? 0 : dataset->items.size();
}

const char* acltdtGetDatasetName(const acltdtDataset* dataset) {
  return dataset == nullptr ? nullptr : dataset->name.c_str();
}

acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t device, const char* name,
                                                     size_t capacity) {
  aclrtContext before = nullptr, context = nullptr;
  const bool had = aclrtGetCurrentContext(&before) == ACL_SUCCESS;
  if (name == nullptr || capacity == 0 || device > INT32_MAX) return nullptr;
  int32_t current = -1;
  if (had && aclrtGetDevice(&current) == ACL_SUCCESS && static_cast<uint32_t>(current) == device) {
    context = before;
  } else {
    if (aclrtSetDevice(static_cast<int32_t>(device)) != ACL_SUCCESS) return nullptr;
    const bool there = aclrtGetCurrentContext(&context) == ACL_SUCCESS;
    if (had) static_cast<void>(aclrtSetCurrentContext(before));
    if (!there) return nullptr;
  }
  return new (std::nothrow) acltdtChannelHandle(context, capacity, name);
}

acltdtChannelHandle* acltdtCreateChannel(uint32_t device, const char* name) {
  return acltdtCreateChannelWithCapacity(device, name, kUsualCapacity);
}

aclError acltdtStopChannel(acltdtChannelHandle* channel) {
  if (channel == nullptr) return ACL_ERROR_INVALID_PARAM;
  channel->stopped = true;
  return ACL_SUCCESS;
}

aclError acltdtDestroyChannel(acltdtChannelHandle* channel) {
  if (channel == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete channel;
  return ACL_SUCCESS;
}

aclError acltdtCleanChannel(acltdtChannelHandle* channel) {
  if (channel == nullptr) return ACL_ERROR_INVALID_PARAM;
  channel->queue.clear();
  return ACL_SUCCESS;
}

aclError acltdtSendTensor(const acltdtChannelHandle* channel, const acltdtDataset* dataset,
                          int32_t timeout) {
  if (channel == nullptr || dataset == nullptr || timeout < -1 || channel->stopped ||
      dataset->items.empty()) {
    return ACL_ERROR_INVALID_PARAM;
  }
  std::vector<DeviceQueue::Piece> pieces;
  for (const auto* const item : dataset->items) pieces.push_back({item->data, item->size});
  return channel->queue.put(pieces, head_of(*dataset), timeout);
}

aclError acltdtReceiveTensor(const acltdtChannelHandle* channel, acltdtDataset* dataset,
                             int32_t timeout) {
  if (channel == nullptr || dataset == nullptr || timeout < -1 || !dataset->items.empty()) {
    return ACL_ERROR_INVALID_PARAM;
  }
  const aclError status = channel->queue.take(
      timeout,
      [dataset](const DeviceQueue::Element& element) { return receive(element, dataset); });
  if (status == ACL_SUCCESS) dataset->name = channel->name;
  return status;
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle* channel, size_t* size) {
  if (channel == nullptr || size == nullptr) return ACL_ERROR_INVALID_PARAM;
  *size = channel->queue.size();
  return ACL_SUCCESS;
}

}  // extern "C"
