// SPDX-License-Identifier: Apache-2.0
// Many copies by one call, and memory that is given back when the device has ended its work.
#include <acl/acl_rt.h>
#include <acl/acl_rt_batch.h>

namespace {

struct CopyBatch {
  void** to;
  const size_t* room;
  void** from;
  const size_t* sizes;
  size_t count;
  const aclrtMemcpyBatchAttr* attributes;
  const size_t* indexes;
  size_t attribute_count;
};

bool is_valid(const CopyBatch& all) {
  if (all.to == nullptr || all.room == nullptr || all.from == nullptr || all.sizes == nullptr ||
      all.attributes == nullptr || all.indexes == nullptr || all.count == 0 ||
      all.attribute_count == 0 || all.indexes[0] != 0) {
    return false;
  }
  for (size_t k = 1; k < all.attribute_count; ++k) {
    if (all.indexes[k] <= all.indexes[k - 1]) return false;
  }
  if (all.indexes[all.attribute_count - 1] >= all.count) return false;
  for (size_t i = 0; i < all.count; ++i) {
    if (all.to[i] == nullptr || all.from[i] == nullptr || all.sizes[i] > all.room[i]) return false;
  }
  return true;
}

bool is_on_device(const aclrtMemLocation& place) {
  return place.type == ACL_MEM_LOCATION_TYPE_DEVICE;
}

// Memory that no one has told npusim of is the host's.
bool is_there(const void* address, const aclrtMemLocation& said) {
  aclrtPtrAttributes found = {};
  const bool known = aclrtPointerGetAttributes(address, &found) == ACL_SUCCESS;
  const bool on_device = known && is_on_device(found.location);
  if (on_device != is_on_device(said)) return false;
  return !on_device || found.location.id == said.id;
}

// The kinds of all copies, before the first one is made.
aclError kinds_of(const CopyBatch& all, aclrtMemcpyKind* kind, size_t i, size_t* attribute) {
  while (*attribute + 1 < all.attribute_count && all.indexes[*attribute + 1] <= i) ++*attribute;
  const auto& said = all.attributes[*attribute];
  const bool down = said.srcLoc.type == ACL_MEM_LOCATION_TYPE_HOST && is_on_device(said.dstLoc);
  const bool up = said.dstLoc.type == ACL_MEM_LOCATION_TYPE_HOST && is_on_device(said.srcLoc);
  if (!down && !up) return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  *kind = down ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  const bool right = is_there(all.from[i], said.srcLoc) && is_there(all.to[i], said.dstLoc);
  return right ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID;
}

template <class Copy>
aclError copy_batch(const CopyBatch& all, size_t* failed, Copy copy) {
  if (failed != nullptr) *failed = SIZE_MAX;
  if (!is_valid(all)) return ACL_ERROR_INVALID_PARAM;
  aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE;
  for (const bool checks : {true, false}) {
    size_t attribute = 0;
    for (size_t i = 0; i < all.count; ++i) {
      const aclError wrong = kinds_of(all, &kind, i, &attribute);
      if (wrong != ACL_SUCCESS) {
        if (failed != nullptr) *failed = i;
        return wrong;
      }
      if (checks) continue;
      const aclError status = copy(all.to[i], all.room[i], all.from[i], all.sizes[i], kind);
      if (status != ACL_SUCCESS) return status;
    }
  }
  return ACL_SUCCESS;
}

aclError behind_device(aclError (*free)(void*), void* address) {
  const aclError waited = aclrtSynchronizeDevice();
  const aclError freed = free(address);
  return freed == ACL_SUCCESS ? waited : freed;
}

}  // namespace

extern "C" {

aclError aclrtMemcpyBatch(void** to, size_t* room, void** from, size_t* sizes, size_t count,
                          aclrtMemcpyBatchAttr* attributes, size_t* indexes, size_t attribute_count,
                          size_t* failed) {
  if (failed == nullptr) return ACL_ERROR_INVALID_PARAM;
  const CopyBatch all{to, room, from, sizes, count, attributes, indexes, attribute_count};
  return copy_batch(all, failed, aclrtMemcpy);
}

aclError aclrtMemcpyBatchV2(void** to, size_t* room, void** from, size_t* sizes, size_t count,
                            aclrtMemcpyBatchAttr* attributes, size_t* indexes,
                            size_t attribute_count) {
  const CopyBatch all{to, room, from, sizes, count, attributes, indexes, attribute_count};
  return copy_batch(all, nullptr, aclrtMemcpy);
}

aclError aclrtMemcpyBatchAsync(void** to, size_t* room, void** from, size_t* sizes, size_t count,
                               aclrtMemcpyBatchAttr* attributes, size_t* indexes,
                               size_t attribute_count, size_t* failed, aclrtStream stream) {
  if (failed == nullptr) return ACL_ERROR_INVALID_PARAM;
  const CopyBatch all{to, room, from, sizes, count, attributes, indexes, attribute_count};
  return copy_batch(all, failed,
                    [stream](auto... copy) { return aclrtMemcpyAsync(copy..., stream); });
}

aclError aclrtMemcpyBatchAsyncV2(void** to, size_t* room, void** from, size_t* sizes, size_t count,
                                 aclrtMemcpyBatchAttr* attributes, size_t* indexes,
                                 size_t attribute_count, aclrtStream stream) {
  const CopyBatch all{to, room, from, sizes, count, attributes, indexes, attribute_count};
  return copy_batch(all, nullptr,
                    [stream](auto... copy) { return aclrtMemcpyAsync(copy..., stream); });
}

aclError aclrtFreeWithDevSync(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return behind_device(aclrtFree, address);
}

aclError aclrtFreeHostWithDevSync(void* address) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  return behind_device(aclrtFreeHost, address);
}

aclError aclrtCheckMemType(void** addresses, uint32_t count, uint32_t types, uint32_t* matches,
                           uint32_t reserved) {
  constexpr uint32_t kAll = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
  if (addresses == nullptr || count == 0 || matches == nullptr || reserved != 0 || types == 0 ||
      (types & ~kAll) != 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  *matches = (types & ACL_RT_MEM_TYPE_DEV) != 0 ? 1 : 0;
  for (uint32_t i = 0; i < count && *matches != 0; ++i) {
    aclrtPtrAttributes found = {};
    const bool known = aclrtPointerGetAttributes(addresses[i], &found) == ACL_SUCCESS;
    *matches = known && is_on_device(found.location) ? 1 : 0;
  }
  return ACL_SUCCESS;
}

}  // extern "C"
