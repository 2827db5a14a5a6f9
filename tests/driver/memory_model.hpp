// SPDX-License-Identifier: Apache-2.0
// What address spaces must look like after random calls, page by page, and a walk through the
// card's page tables that compares.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "npu/abi/registers.hpp"
#include "tests/driver/device_fixture.hpp"

namespace npu::driver {

struct ModelMemory {
  MemoryHandle handle;
  Bytes pages = 0;
  std::uint64_t first_tag = 0;  // page i holds the word first_tag + i
  std::set<unsigned> holders;   // spaces
  unsigned mapped_pages = 0;
  bool tagged = false;
  bool live() const { return !holders.empty() || mapped_pages > 0; }
};

struct ModelPage {
  std::size_t memory = 0;
  Bytes index = 0;
  Access access = Access::kNone;
};

struct ModelSpace {
  AddressSpace* space = nullptr;
  std::map<std::uint64_t, Bytes> reserved;  // begin -> pages; VMM style
  std::map<std::uint64_t, Bytes> plain;     // of allocate()
  std::map<std::uint64_t, ModelPage> pages;
};

class MemoryModel {
 public:
  MemoryModel(Device& device, test::FakeCard& card) : device_(device), card_(card) {}

  std::vector<ModelSpace> spaces;
  std::vector<ModelMemory> memories;

  std::size_t add_memory(MemoryHandle handle, Bytes pages) {
    ModelMemory memory;
    memory.handle = handle;
    memory.pages = pages;
    memory.first_tag = next_tag_;
    next_tag_ += pages;
    memories.push_back(memory);
    return memories.size() - 1;
  }
  void map(std::size_t space, std::uint64_t at, Bytes pages, std::size_t memory, Bytes first,
           Access access) {
    for (Bytes i = 0; i < pages; ++i) {
      spaces[space].pages[at + i * kPageSize] = {memory, first + i, access};
    }
    memories[memory].mapped_pages += static_cast<unsigned>(pages);
    if (pages == memories[memory].pages) write_tags(space, at, memory);
  }
  void unmap(std::size_t space, std::uint64_t at, Bytes pages) {
    for (Bytes i = 0; i < pages; ++i) {
      const auto page = spaces[space].pages.find(at + i * kPageSize);
      --memories[page->second.memory].mapped_pages;
      spaces[space].pages.erase(page);
    }
  }

  // Used and free bytes are the card at every step.
  void check_sum() const {
    Bytes used = 0;
    for (const auto& memory : memories) used += memory.live() ? memory.pages * kPageSize : 0;
    const auto statistics = device_.memory_statistics();
    ASSERT_EQ(statistics.used(), used);
    ASSERT_EQ(statistics.free + used, card_.config().hbm_size);
  }
  // Every page of every space as the card sees it: through tables read anew, and through whatever
  // its MMU has kept.
  void check_pages() {
    test::FakeMmu fresh(card_.memory(), card_.config().bar2_size);
    fresh.set_context_base(card_.read(0, abi::MmuContextBase::kOffset, 8));
    for (auto& model : spaces) {
      for (const auto& [at, page] : model.pages) {
        ASSERT_NO_FATAL_FAILURE(check_page(fresh, model.space->vmid(), at, page));
        ASSERT_NO_FATAL_FAILURE(check_page(card_.mmu(), model.space->vmid(), at, page));
      }
      for (const auto& [begin, pages] : model.reserved) {
        for (Bytes i = 0; i < pages; ++i) check_hole(fresh, model, begin + i * kPageSize);
      }
    }
  }

 private:
  static constexpr std::uint64_t kInside = 0x1234 * 8;

  void write_tags(std::size_t space, std::uint64_t at, std::size_t index) {
    auto& memory = memories[index];
    if (memory.tagged) return;
    memory.tagged = true;
    test::FakeMmu fresh(card_.memory(), card_.config().bar2_size);
    fresh.set_context_base(card_.read(0, abi::MmuContextBase::kOffset, 8));
    for (Bytes i = 0; i < memory.pages; ++i) {
      const auto place = fresh.locate(spaces[space].space->vmid(), at + i * kPageSize + kInside);
      const auto tag = memory.first_tag + i;
      ASSERT_TRUE(place.has_value());
      card_.memory().write(*place, &tag, sizeof tag);
    }
  }
  void check_page(test::FakeMmu& mmu, unsigned vmid, std::uint64_t at, const ModelPage& page) {
    const auto& memory = memories[page.memory];
    const auto read = mmu.translate(vmid, at + kInside, false).fault;
    const auto write = mmu.translate(vmid, at + kInside, true).fault;
    using abi::FaultCode;
    ASSERT_EQ(read, page.access == Access::kNone ? FaultCode::kDevicePermission : FaultCode::kNone);
    ASSERT_EQ(write,
              page.access == Access::kReadWrite ? FaultCode::kNone : FaultCode::kDevicePermission);
    const auto place = mmu.locate(vmid, at + kInside);
    ASSERT_TRUE(place && *place < card_.config().hbm_size);
    std::uint64_t tag = 0;
    card_.memory().read(*place, &tag, sizeof tag);
    if (!memory.tagged) return;
    ASSERT_EQ(tag, memory.first_tag + page.index) << "page at " << at;
  }
  static void check_hole(test::FakeMmu& mmu, const ModelSpace& model, std::uint64_t at) {
    if (model.pages.count(at) != 0) return;
    ASSERT_EQ(mmu.translate(model.space->vmid(), at, false).fault, abi::FaultCode::kTranslation);
  }

  Device& device_;
  test::FakeCard& card_;
  std::uint64_t next_tag_ = 0xA000'0000'0000'0000;
};

}  // namespace npu::driver
