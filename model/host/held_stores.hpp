// SPDX-License-Identifier: Apache-2.0
// The stores to devices that one core has made and that have not left it yet, of a host whose
// stores leave in any legal order until a barrier (host.cpu.order=weak).
//
// Legal is what Arm allows (host-order.md O1, O4): stores to memory
// that combines (Normal Non-cacheable) leave in any order but that of the same bytes, joined with
// their neighbours or not; stores to registers (Device-nGnRE) keep their order for a function.
// Between the two there is none. A load of a register is behind the stores to its function's
// registers, any load behind the stores to its own bytes.
#pragma once

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "model/core/legal_order.hpp"
#include "model/host/mapped_bar.hpp"

namespace npu::model {

struct HeldStore {
  std::uint64_t address = 0;
  unsigned length = 0;
  std::array<unsigned char, 64> bytes{};
  MappedBar bar;
  bool combines = false;
  SimTime issued = 0;        // the first of them
  std::uint64_t cause = 0;   // of the first
  std::uint64_t number = 0;  // in program order, of the first
  unsigned stores = 1;       // that it is made of
  SimTime leaves = 0;
};

class HeldStores {
 public:
  // Told of a store that leaves now, and what is still held.
  using Leave = std::function<void(const HeldStore&, const std::vector<HeldStore>& held)>;

  // What a store waits for at most. Much longer than a write takes to cross a link and a card to
  // act on it; and half of them wait next to nothing.
  static constexpr SimTime kLongest = 2'000'000;        // ps, of stores that combine
  static constexpr SimTime kLongestRegister = 200'000;  // of stores to registers

  HeldStores(Agenda& agenda, LegalOrder& order, SimTime longest_register, Leave leave)
      : agenda_(agenda),
        order_(order),
        longest_register_(longest_register),
        leave_(std::move(leave)) {}

  // A store of up to 8 bytes, naturally aligned, at `issued`, now or ahead of now; its number.
  std::uint64_t enter(HeldStore store);
  // What a load must not pass leaves now. `combines`: it is of memory that combines.
  void before_load(std::uint64_t address, unsigned width, const MappedBar& bar, bool combines);
  // All of it leaves now, in the order in which it would have.
  void drain();
  bool empty() const { return held_.empty(); }

 private:
  bool join(const HeldStore& store);
  void put_behind(HeldStore& store, std::uint64_t address, unsigned width);
  void serve(std::uint64_t);
  void leave_until(SimTime time);

  static constexpr SimTime kShort = 20'000;  // ps
  Agenda& agenda_;
  LegalOrder& order_;
  const SimTime longest_register_;
  Leave leave_;
  std::uint64_t next_ = 0;
  std::vector<HeldStore> held_;  // in program order
};

}  // namespace npu::model
