// SPDX-License-Identifier: Apache-2.0
// Managed memory of all cards of the machine, which Python's arrays have, too, at the same address.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/python/native/card.hpp"
#include "npu/driver/managed.hpp"
#include "npu/driver/process_view.hpp"

namespace npu::python {

// What allocations have in common; it lives as long as one of them.
class ManagedCards {
 public:
  // Those that there are, or of these cards, which are open and all of the machine. `pager`: the
  // program of the cards' control processors.
  static std::shared_ptr<ManagedCards> open(std::vector<std::shared_ptr<Card>> cards,
                                            const pybind11::buffer& pager);
  ~ManagedCards();
  ManagedCards(const ManagedCards&) = delete;
  ManagedCards& operator=(const ManagedCards&) = delete;

  // Around fork() of the process: the child has copies. Nothing, if there is none.
  static void before_fork();
  static void in_child();

  // An array's bytes may be used by other threads and by the kernel, until a card takes them.
  void fault_in(driver::DeviceAddress at, Bytes size, bool write);

  Session& session() { return cards_[0]->session(); }
  driver::ManagedMemory& memory() { return *memory_; }

 private:
  explicit ManagedCards(std::vector<std::shared_ptr<Card>> cards);
  Result<driver::Access> touch(driver::DeviceAddress at, bool write);

  static std::weak_ptr<ManagedCards> only;

  const std::vector<std::shared_ptr<Card>> cards_;
  std::unique_ptr<driver::ProcessView> view_;
  std::unique_ptr<driver::ManagedMemory> memory_;
};

// An allocation; it lives until neither it nor a view of its bytes is held.
class Managed {
 public:
  static std::shared_ptr<Managed> allocate(std::shared_ptr<ManagedCards> cards, Bytes size);
  ~Managed();
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  std::uint64_t address() const { return address_.value; }
  Bytes size() const { return size_; }
  // `device` -1: the host.
  void prefetch(Bytes offset, Bytes size, int device);
  void to_host(bool write) { cards_->fault_in(address_, size_, write); }
  // `advice`: read_mostly, preferred_location, accessed_by; ValueError.
  void advise(const std::string& advice, bool set, int device);
  // Where the page of this byte is: a device's number, -1 the host, None nowhere.
  pybind11::object location(Bytes offset);

 private:
  Managed(std::shared_ptr<ManagedCards> cards, driver::DeviceAddress address, Bytes size)
      : cards_(std::move(cards)), address_(address), size_(size) {}

  const std::shared_ptr<ManagedCards> cards_;
  const driver::DeviceAddress address_;
  const Bytes size_;
};

}  // namespace npu::python
