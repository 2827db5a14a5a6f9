// SPDX-License-Identifier: Apache-2.0
// Allocations of any size in an address space: small ones share pages of 2 MiB, large ones have
// pages of their own. What a card has and a quota counts are pages (quota.hpp), so that 3,000
// tensors of 64 bytes are one page.
//
// Small blocks lie in the order of addresses in ranges of the heap's. A page has memory while a
// block is in it, and no longer: the heap keeps nothing back, so a use of what was freed faults
// once its page is empty, and no allocation fails for memory that the heap has. Before that it
// does not fault, nor does an access behind a block's end in the same page. The card's MMU has no
// pages below 2 MiB: "normal" pages are parts of these.
//
// All members may be called from several tasks at once; one waits for the other, also while that
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

// As the policies of aclrtMalloc() (docs/sources/acl.md L2).
enum class PagePolicy : std::uint8_t {
  kHugeFirst,  // kNormal up to 1 MiB and where kHugeOnly finds no memory, else that
  kHugeOnly,   // whole pages, which nothing else is in
  kNormal,     // pages that blocks share
  kGiantOnly,  // whole pages, a multiple of 1 GiB
};

struct HeapBlock {
  DeviceAddress address;
  Bytes size = 0;          // as asked for, with its padding
  bool own_pages = false;  // nothing else is in its pages
};

struct HeapUse {
  std::uint64_t blocks = 0;
  Bytes size = 0;   // of the blocks
  Bytes pages = 0;  // of the card, that they take; not the page of padding
};

class NPU_API DeviceHeap {
 public:
  static constexpr Bytes kAlignment = 64;                 // of blocks
  static constexpr Bytes kMostOfNormal = Bytes{1} << 20;  // of kHugeFirst

  // In `space`, which must exist while the heap is used. What is there when the heap ends stays
  // until the space ends.
  explicit DeviceHeap(AddressSpace& space);
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // `padding`: bytes behind `size` that may be accessed and keep nothing: where whole pages have no
  // room for them, they are in one more page that all such blocks have in common. The driver keeps
  // it, so it counts for no quota.
  // kInvalidArgument: size 0, padding of more than a page.
  // kOutOfMemory: no pages of the kind, or over the quota of the space; nothing has changed.
  // kOutOfResources: no addresses or page tables left.
  Result<HeapBlock> allocate(Bytes size, PagePolicy policy = PagePolicy::kHugeFirst,
                             Bytes padding = 0);
  // `before(address, size)`: these pages are given back next.
  // kInvalidArgument: no block begins there.
  // kTimeout: the card has not dropped the pages, and the block is still there.
  using Before = std::function<void(DeviceAddress, Bytes)>;
  Status free(DeviceAddress address, const Before& before = {});

  // The block that the address is in.
  std::optional<HeapBlock> find(DeviceAddress address) const;
  // Whether the address is the heap's, free or not.
  bool contains(DeviceAddress address) const;
  HeapUse use() const;

 private:
  struct Block {
    Bytes size = 0;
    Bytes taken = 0;  // whole pages of its own, or what it takes of shared ones
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
  const std::unique_ptr<platform::Mutex> mutex_;  // of what follows
  const std::unique_ptr<HeapRoom> room_;
  std::map<std::uint64_t, Bytes> ranges_;  // that normal blocks are in, by address
  Blocks blocks_;
  MemoryHandle padding_;      // the common page
  std::uint64_t padded_ = 0;  // blocks that have it
  HeapUse use_;
};

}  // namespace npu::driver
