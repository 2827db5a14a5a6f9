// SPDX-License-Identifier: Apache-2.0
// A function that checks the server's promises while it is being served, and uses what it is given.
#pragma once

#include <map>
#include <utility>

#include "model/host/vfio_user/served_device.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::fuzz {

// Ends the program with a message: a finding.
[[noreturn]] void found(const char* what);

class FuzzDevice : public model::vfio_user::ServedDevice {
 public:
  explicit FuzzDevice(Random& random) : random_(random) {}

  Bytes region_size(unsigned region) const override;
  unsigned irq_count(unsigned index) const override;
  int read(unsigned region, Bytes offset, std::byte* data, Bytes count) override;
  int write(unsigned region, Bytes offset, const std::byte* data, Bytes count) override;
  void set_trigger(unsigned index, unsigned vector, int eventfd) override;
  void mask(unsigned index, unsigned vector, bool masked) override;
  int map(const model::vfio_user::DmaMapping& mapping) override;
  void unmap(std::uint64_t iova, Bytes size) override;
  void reset() override { act(); }
  void client_gone() override;

  bool has_nothing() const { return mappings_.empty() && triggers_.empty(); }
  // DMA and interrupts at random.
  void act();

 private:
  void check_region(unsigned region, Bytes offset, Bytes count) const;

  Random& random_;
  std::map<std::uint64_t, model::vfio_user::DmaMapping> mappings_;
  std::map<std::pair<unsigned, unsigned>, int> triggers_;
  unsigned char sum_ = 0;  // keeps reads from being dropped
};

}  // namespace npu::fuzz
