// SPDX-License-Identifier: Apache-2.0
// A tensor in the memory of a card.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "npu/driver/types.hpp"
#include "workloads/network/tensor.hpp"

namespace npu::network {

// Given back with its last value.
class CardMemory {
 public:
  virtual ~CardMemory() = default;
  driver::DeviceAddress address() const { return address_; }

 protected:
  explicit CardMemory(driver::DeviceAddress address) : address_(address) {}

 private:
  driver::DeviceAddress address_;
};

struct Value {
  ElementType type = ElementType::kFloat;
  Sides sides;
  std::shared_ptr<CardMemory> memory;  // null: there are no elements, or they are strings
  // The elements, where they do not depend on the network's inputs: what shapes, axes and the like
  // are read from. Of strings always.
  std::shared_ptr<const Tensor> known;

  std::uint64_t elements() const { return elements_of(sides); }
  Bytes bytes() const { return elements() * row_of(type).bytes; }
  std::uint64_t address() const { return memory == nullptr ? 0 : memory->address().value; }
  std::size_t axes() const { return sides.size(); }
};

}  // namespace npu::network
