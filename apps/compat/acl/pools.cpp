// SPDX-License-Identifier: Apache-2.0
// Pools of device memory in the order of streams: a block that a stream has freed is the next one's
// of that stream at once, and other streams' when the stream has come to the free.
#include <acl/acl_rt.h>
#include <acl/acl_rt_memory_soma.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "apps/compat/acl/pools.hpp"

namespace {

// Blocks are of whole ones of these, so that tensors of about a size share them.
constexpr size_t kBlockGrain = size_t{64} << 10;

struct Block {
  void* address = nullptr;
  size_t size = 0;
  bool used = false;
  aclrtStream stream = nullptr;  // that has freed it
  aclrtEvent freed = nullptr;    // its place in the stream's order
};

// What a stream may take of others', by aclrtMemPoolAttr.
struct Reuse {
  uint32_t follow_events = 1, opportunistic = 1, internal = 1;
};

struct Use {
  size_t now = 0, most = 0;

  void add(size_t size) {
    now += size;
    most = std::max(most, now);
  }
};

struct Pool {
  int32_t device = 0;
  size_t limit = 0;
  uint64_t threshold = 0;
  Reuse reuse;
  std::vector<Block> blocks;
  Use reserved, used;
};

std::mutex& lock() {
  static auto* const kLock = new std::mutex;
  return *kLock;
}
std::vector<std::unique_ptr<Pool>>& pools() {
  static auto* const kPools = new std::vector<std::unique_ptr<Pool>>;
  return *kPools;
}

// Null: it is none.
Pool* pool_of(const void* handle) {
  for (const auto& each : pools()) {
    if (each.get() == handle) return each.get();
  }
  return nullptr;
}

bool is_free(const Block& block) {
  if (block.freed == nullptr) return true;
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return aclrtQueryEventStatus(block.freed, &status) == ACL_SUCCESS &&
         status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}

// The smallest of the pool's free ones for which `may` says so; null: there is none.
template <class May>
Block* smallest(Pool& pool, size_t size, May&& may) {
  Block* best = nullptr;
  for (auto& each : pool.blocks) {
    const bool fits = !each.used && each.size >= size && each.size / 2 <= size;
    if (fits && (best == nullptr || each.size < best->size) && may(each)) best = &each;
  }
  return best;
}

Block* reused(Pool& pool, size_t size, aclrtStream stream) {
  const auto is_own = [stream](const Block& each) { return each.stream == stream; };
  if (auto* const own = smallest(pool, size, is_own); own != nullptr) return own;
  if (pool.reuse.opportunistic != 0) {
    if (auto* const done = smallest(pool, size, is_free); done != nullptr) return done;
  }
  if (pool.reuse.internal == 0) return nullptr;
  auto* const later = smallest(pool, size, [](const Block& each) { return each.freed != nullptr; });
  const bool waits = later != nullptr && aclrtStreamWaitEvent(stream, later->freed) == ACL_SUCCESS;
  return waits ? later : nullptr;
}

void give_back(Pool& pool, std::vector<Block>::iterator block) {
  if (block->freed != nullptr) static_cast<void>(aclrtDestroyEvent(block->freed));
  static_cast<void>(aclrtFree(block->address));
  pool.reserved.now -= block->size;
  pool.blocks.erase(block);
}

// Of what is free beyond `keep` bytes; the last ones first.
void trim(Pool& pool, size_t keep) {
  for (size_t i = pool.blocks.size(); i-- > 0 && pool.reserved.now > keep;) {
    const auto block = pool.blocks.begin() + static_cast<std::ptrdiff_t>(i);
    if (!block->used && is_free(*block)) give_back(pool, block);
  }
}

bool is_switch(aclrtMemPoolAttr attribute) {
  return attribute >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

uint32_t& switch_of(Pool& pool, aclrtMemPoolAttr attribute) {
  if (attribute == ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC) return pool.reuse.opportunistic;
  if (attribute == ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES) return pool.reuse.internal;
  return pool.reuse.follow_events;
}

aclError allocate(Pool& pool, size_t size, Block* block) {
  if (pool.limit != 0 && size > pool.limit - std::min(pool.limit, pool.reserved.now)) {
    trim(pool, 0);
  }
  if (pool.limit != 0 && size > pool.limit - std::min(pool.limit, pool.reserved.now)) {
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  const aclError status = aclrtMalloc(&block->address, size, ACL_MEM_MALLOC_HUGE_FIRST);
  if (status != ACL_SUCCESS) return status;
  block->size = size;
  pool.reserved.add(size);
  return ACL_SUCCESS;
}

}  // namespace

void npu::compat::trim_pools() {
  const std::lock_guard<std::mutex> held(lock());
  for (const auto& pool : pools()) trim(*pool, pool->threshold);
}

void npu::compat::forget_pools(int32_t device) {
  const std::lock_guard<std::mutex> held(lock());
  auto& all = pools();
  const auto gone = std::remove_if(all.begin(), all.end(), [device](const auto& each) {
    int32_t active = 0;
    return each->device == device &&
           aclrtGetPrimaryCtxState(device, nullptr, &active) == ACL_SUCCESS && active == 0;
  });
  all.erase(gone, all.end());
}

extern "C" {

aclError aclrtMemPoolCreate(aclrtMemPool* pool, const aclrtMemPoolProps* props) {
  constexpr unsigned char kZeros[sizeof props->reserved] = {};
  if (pool == nullptr || props == nullptr || props->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED ||
      props->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
      props->location.type != ACL_MEM_LOCATION_TYPE_DEVICE ||
      std::memcmp(props->reserved, kZeros, sizeof kZeros) != 0) {
    return ACL_ERROR_INVALID_PARAM;
  }
  uint32_t devices = 0;
  const aclError status = aclrtGetDeviceCount(&devices);
  if (status != ACL_SUCCESS) return status;
  if (props->location.id >= devices) return ACL_ERROR_RT_INVALID_DEVICEID;
  auto made = std::make_unique<Pool>();
  made->device = static_cast<int32_t>(props->location.id);
  made->limit = props->maxSize;
  const std::lock_guard<std::mutex> held(lock());
  *pool = made.get();
  pools().push_back(std::move(made));
  return ACL_SUCCESS;
}

aclError aclrtMemPoolDestroy(const aclrtMemPool pool) {
  const std::lock_guard<std::mutex> held(lock());
  auto* const found = pool_of(pool);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  aclError first = ACL_SUCCESS;
  while (!found->blocks.empty()) {
    const auto last = found->blocks.end() - 1;
    if (last->freed != nullptr) {
      const aclError status = aclrtSynchronizeEvent(last->freed);
      if (first == ACL_SUCCESS) first = status;
    }
    give_back(*found, last);
  }
  auto& all = pools();
  all.erase(std::find_if(all.begin(), all.end(),
                         [found](const auto& each) { return each.get() == found; }));
  return first;
}

aclError aclrtMemPoolSetAttr(aclrtMemPool pool, aclrtMemPoolAttr attribute, void* value) {
  if (value == nullptr) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(lock());
  auto* const found = pool_of(pool);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (is_switch(attribute)) {
    const auto on = *static_cast<const uint32_t*>(value);
    if (on > 1) return ACL_ERROR_RT_PARAM_INVALID;
    switch_of(*found, attribute) = on;
    return ACL_SUCCESS;
  }
  const auto bytes = *static_cast<const uint64_t*>(value);
  const bool is_most = attribute == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH ||
                       attribute == ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH;
  if (attribute == ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD) {
    found->threshold = bytes;
    return ACL_SUCCESS;
  }
  if (!is_most || bytes != 0) return ACL_ERROR_RT_PARAM_INVALID;
  auto& use = attribute == ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH ? found->used : found->reserved;
  use.most = use.now;
  return ACL_SUCCESS;
}

aclError aclrtMemPoolGetAttr(aclrtMemPool pool, aclrtMemPoolAttr attribute, void* value) {
  if (value == nullptr) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(lock());
  auto* const found = pool_of(pool);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (is_switch(attribute)) {
    *static_cast<uint32_t*>(value) = switch_of(*found, attribute);
    return ACL_SUCCESS;
  }
  auto* const bytes = static_cast<uint64_t*>(value);
  switch (attribute) {
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD:
      *bytes = found->threshold;
      return ACL_SUCCESS;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT:
      *bytes = found->reserved.now;
      return ACL_SUCCESS;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH:
      *bytes = found->reserved.most;
      return ACL_SUCCESS;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT:
      *bytes = found->used.now;
      return ACL_SUCCESS;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH:
      *bytes = found->used.most;
      return ACL_SUCCESS;
    default:
      return ACL_ERROR_RT_PARAM_INVALID;
  }
}

aclError aclrtMemPoolMallocAsync(void** address, size_t size, aclrtMemPool pool,
                                 aclrtStream stream) {
  if (address == nullptr || size == 0 || size > SIZE_MAX - kBlockGrain)
    return ACL_ERROR_INVALID_PARAM;
  int32_t device = 0;
  const aclError known = aclrtGetDevice(&device);
  if (known != ACL_SUCCESS) return known;
  const std::lock_guard<std::mutex> held(lock());
  auto* const found = pool_of(pool);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  if (found->device != device) return ACL_ERROR_RT_STREAM_CONTEXT;
  const size_t whole = (size + kBlockGrain - 1) / kBlockGrain * kBlockGrain;
  auto* block = reused(*found, whole, stream);
  if (block == nullptr) {
    Block made;
    const aclError status = allocate(*found, whole, &made);
    if (status != ACL_SUCCESS) return status;
    found->blocks.push_back(made);
    block = &found->blocks.back();
  }
  block->used = true;
  found->used.add(block->size);
  *address = block->address;
  return ACL_SUCCESS;
}

aclError aclrtMemPoolFreeAsync(void* address, aclrtStream stream) {
  if (address == nullptr) return ACL_ERROR_INVALID_PARAM;
  const std::lock_guard<std::mutex> held(lock());
  for (const auto& pool : pools()) {
    for (auto& block : pool->blocks) {
      if (block.address != address || !block.used) continue;
      if (block.freed == nullptr) {
        const aclError made = aclrtCreateEvent(&block.freed);
        if (made != ACL_SUCCESS) return made;
      }
      const aclError status = aclrtRecordEvent(block.freed, stream);
      if (status != ACL_SUCCESS) return status;
      block.stream = stream;
      block.used = false;
      pool->used.now -= block.size;
      return ACL_SUCCESS;
    }
  }
  return ACL_ERROR_RT_PARAM_INVALID;
}

aclError aclrtMemPoolTrimTo(aclrtMemPool pool, size_t keep) {
  const std::lock_guard<std::mutex> held(lock());
  auto* const found = pool_of(pool);
  if (found == nullptr) return ACL_ERROR_INVALID_PARAM;
  trim(*found, keep);
  return ACL_SUCCESS;
}

}  // extern "C"
