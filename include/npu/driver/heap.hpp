// SPDX-License-Identifier: Apache-2.0
// Allocations of any size in an address space, for programs with many small tensors. Small blocks
// share pages of 2 MiB, and large blocks have their own. A quota is charged for pages (quota.hpp):
// 3,000 tensors of 64 bytes are one page.
//
// A page has memory only while it contains a block. So an access to a freed block faults once its
// page is empty, but not before. An access behind the end of a block does not fault within the
// page. The card's MMU has no pages below 2 MiB: "normal" pages are parts of these.
//
// All members may be called from several tasks at once. They run one after the other, also while
// one waits for the card.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "npu/base/result.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/memory.hpp"
#include "npu/driver/types.hpp"
#include "npu/platform/time.hpp"

namespace npu::driver {

class HeapRoom;

// The policies of aclrtMalloc() (docs/sources/acl.md L2).
enum class PagePolicy : std::uint8_t {
  kHugeFirst,  // up to 1 MiB kNormal; else kHugeOnly, or kNormal if that finds no memory
  kHugeOnly,   // whole pages of its own
  kNormal,     // parts of shared pages
  kGiantOnly,  // whole pages of its own, rounded up to 1 GiB
};

struct HeapBlock {
  DeviceAddress address;
  Bytes size = 0;          // as requested, plus padding
  bool own_pages = false;  // no other block is in its pages
};

struct HeapUse {
  std::uint64_t blocks = 0;
  Bytes size = 0;   // of the blocks
  Bytes pages = 0;  // of the card; without the page of padding
};

class NPU_API DeviceHeap {
 public:
  static constexpr Bytes kAlignment = 64;                 // of blocks, bytes
  static constexpr Bytes kMostOfNormal = Bytes{1} << 20;  // of kHugeFirst

  // `space` must exist while the heap is used. Blocks that remain when the heap ends are freed with
  // the space.
  explicit DeviceHeap(AddressSpace& space);
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // `padding`: bytes behind `size` that may be accessed, with undefined content, at most kPageSize.
  // Where a block's own pages have no room for it, it is in one page that all such blocks share,
  // and that no quota is charged for.
  // kInvalidArgument: size 0 or too much padding.
  // kOutOfMemory: no such pages, or over the quota of the space; nothing has changed.
  // kOutOfResources: no addresses or page tables left.
  Result<HeapBlock> allocate(Bytes size, PagePolicy policy = PagePolicy::kHugeFirst,
                             Bytes padding = 0);
  // Frees a block. It calls `before(address, size)` before it unmaps these pages.
  // kInvalidArgument: no block begins there.
  // kTimeout: the card did not drop the pages; the block still exists.
  using Before = std::function<void(DeviceAddress, Bytes)>;
  Status free(DeviceAddress address, const Before& before = {});

  // The block that contains the address.
  std::optional<HeapBlock> find(DeviceAddress address) const;
  // Whether the address belongs to the heap, free or not.
  bool contains(DeviceAddress address) const;
  HeapUse use() const;

 private:
  struct Block {
    Bytes size = 0;
    Bytes taken = 0;  // bytes of its own pages, or of its part of shared pages
    bool own_pages = false;
    bool padded = false;  // by the common page, behind its own

    Bytes addresses() const { return padded ? taken + kPageSize : taken; }
  };
  using Blocks = std::map<std::uint64_t, Block>;  // by address

  Result<HeapBlock> allocate_pages(Bytes size, Bytes padding, Bytes grain);
  Result<HeapBlock> allocate_padded(Bytes size, Bytes padding, Bytes whole);
  Result<HeapBlock> allocate_normal(Bytes size, Bytes padding);
  Status hold_padding();
  void drop_padding();
  Result<HeapBlock> keep(std::uint64_t at, const Block& block);
  Result<std::uint64_t> find_room(Bytes size);
  bool within_quota(Bytes pages) const;
  Status back(std::uint64_t at, Bytes size);
  Status back_pages(std::uint64_t begin, Bytes size);
  Status free_pages(std::uint64_t at, const Block& block, const Before& before);
  Status free_normal(std::uint64_t at, const Block& block, const Before& before);
  Blocks::const_iterator containing(std::uint64_t address) const;

  AddressSpace& space_;
  const std::unique_ptr<platform::Mutex> mutex_;  // of all members below
  const std::unique_ptr<HeapRoom> room_;
  std::map<std::uint64_t, Bytes> ranges_;  // that normal blocks are in, by address
  Blocks blocks_;
  MemoryHandle padding_;      // the common page
  std::uint64_t padded_ = 0;  // blocks that have it
  HeapUse use_;
};

}  // namespace npu::driver
