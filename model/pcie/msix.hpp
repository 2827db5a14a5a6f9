// SPDX-License-Identifier: Apache-2.0
// MSI-X table and pending bit array of a function. Source: PCI Local Bus 3.0, 6.8.2.
#pragma once

#include <cstdint>
#include <vector>

namespace npu::model {

struct MsixMessage {
  std::uint64_t address = 0;
  std::uint32_t data = 0;
};

class MsixTable {
 public:
  // All entries masked. 0 vectors: the function has no MSI-X.
  explicit MsixTable(unsigned vectors);

  unsigned vectors() const { return static_cast<unsigned>(entries_.size()); }
  // MSI-X control register and bus mastering.
  void set_control(bool enabled, bool mask_all) {
    enabled_ = enabled;
    mask_all_ = mask_all;
  }
  // True: send message(vector). False: its pending bit is now set.
  bool raise(unsigned vector);
  MsixMessage message(unsigned vector) const;
  // A pending vector that may be sent now, its bit cleared; -1: none.
  int take_deliverable();
  void reset();

  // Software's accesses, by byte offset into table and pending bit array; width 4 or 8.
  std::uint64_t read_table(std::uint32_t offset, unsigned width) const;
  void write_table(std::uint32_t offset, unsigned width, std::uint64_t value);
  std::uint64_t read_pending(std::uint32_t offset, unsigned width) const;

 private:
  struct Entry {
    std::uint32_t address_low = 0;
    std::uint32_t address_high = 0;
    std::uint32_t data = 0;
    std::uint32_t control = 1;  // bit 0: masked
    bool pending = false;
  };
  bool deliverable(const Entry& entry) const {
    return enabled_ && !mask_all_ && !(entry.control & 1);
  }
  std::uint32_t read_dword(std::uint32_t offset) const;
  void write_dword(std::uint32_t offset, std::uint32_t value);
  std::uint32_t pending_dword(std::uint32_t offset) const;

  std::vector<Entry> entries_;
  unsigned pending_ = 0;  // entries with their pending bit set
  bool enabled_ = false;
  bool mask_all_ = false;
};

}  // namespace npu::model
