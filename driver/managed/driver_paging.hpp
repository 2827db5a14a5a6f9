// SPDX-License-Identifier: Apache-2.0
// Faults from the card's ring, served by the driver alone, which writes the page tables and the
// maps of pages with parts itself.
#pragma once

#include "driver/managed/card_paging.hpp"
#include "driver/managed/fault_ring.hpp"
#include "driver/managed/kernel_costs.hpp"
#include "driver/managed/page_invalidator.hpp"
#include "npu/driver/managed.hpp"

namespace npu::driver {

class DriverPaging : public CardPaging {
 public:
  static Result<std::unique_ptr<CardPaging>> create(CardLink& link, MemoryManager& memory,
                                                    VectorTable& vectors, unsigned vector,
                                                    const ManagedOptions& options,
                                                    std::uint32_t limit);
  ~DriverPaging() override { stop(); }

  Status serve(std::uint32_t vmids) override { return ring_->serve(vmids); }
  bool serve_some(const ServedSpaces& spaces) override;
  std::optional<Instant> due() const override;
  Status map(std::uint32_t slot, std::uint64_t entry, abi::PageTableEntry value) override;
  void show_parts(std::uint32_t slot, const PageParts& parts) override;
  Result<bool> unmap(std::uint32_t slot, std::uint64_t entry) override;
  bool tells_writes() const override { return false; }
  void give(std::uint32_t slot) override { slots_.destroy(slot); }

 private:
  void stop() override;
  bool look() override { return ring_->look(); }
  std::vector<abi::PageFaultRecord> take_records();
  // Records of one turn (virtualisation.md S6).
  static constexpr std::size_t kBatch = 256;
  // What a batch wants of one page.
  struct Block {
    CardPages* pages = nullptr;
    std::uint8_t vmid = 0;
    std::uint64_t at = 0;
    PageParts touched;
    bool write = false;
    unsigned records = 0;
  };

  struct Waiting {
    Instant until;
    Block block;
  };

  DriverPaging(CardLink& link, MemoryManager& memory, std::uint32_t limit,
               const ManagedOptions& options)
      : CardPaging(link, memory, limit),
        link_(link),
        memory_(memory),
        invalidator_(link),
        costs_(link.platform().tasks()),
        density_(options.density_percent),
        lapse_(options.thrash_lapse) {}
  Status make_maps();
  Status clear_maps(std::uint64_t base, Bytes size);
  std::vector<Block> sort(const std::vector<abi::PageFaultRecord>& batch,
                          const ServedSpaces& spaces);
  bool must_wait(const Block& block);
  bool serve_waiting(const ServedSpaces& spaces);
  void serve(const Block& block);
  Status migrate_block_in(const Block& block);

  CardLink& link_;
  MemoryManager& memory_;
  PageInvalidator invalidator_;
  KernelCosts costs_;
  const unsigned density_;  // percent
  const Picoseconds lapse_;
  std::vector<Waiting> waiting_;  // because their pages go to and fro
  std::unique_ptr<FaultRing> ring_;
  MemoryHandle maps_;  // block of the card's memory for the residency maps
  std::unique_ptr<platform::MmioRegion> map_region_;
};

}  // namespace npu::driver
