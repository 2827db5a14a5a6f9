// SPDX-License-Identifier: Apache-2.0
// Bus scripts: the accesses a piece of driver must make, in order, with the answers it gets.
//   BusScript script;
//   script.expect_read<abi::DeviceStatus>(0x1).expect_write<abi::DmaDoorbell>(7);
//   ScriptedRegion region(script, 32_KiB);
//   ... run the driver on region ...
//   EXPECT_TRUE(script.is_done());
#pragma once

#include <deque>
#include <string>

#include "npu/platform/memory.hpp"

namespace npu::test {

class BusScript {
 public:
  template <class R>
  BusScript& expect_read(std::uint64_t answer, Bytes block = 0) {
    return expect_read_at(block + R::kOffset, sizeof(typename R::raw_type), answer);
  }
  template <class R>
  BusScript& expect_write(std::uint64_t value, Bytes block = 0) {
    return expect_write_at(block + R::kOffset, sizeof(typename R::raw_type), value);
  }
  BusScript& expect_read_at(Bytes offset, unsigned width, std::uint64_t answer);
  BusScript& expect_write_at(Bytes offset, unsigned width, std::uint64_t value);

  // A deviation fails the running test, with what was expected and what came.
  std::uint64_t read(Bytes offset, unsigned width);
  void write(Bytes offset, unsigned width, std::uint64_t value);
  bool is_done() const { return steps_.empty(); }

 private:
  struct Step {
    bool is_read;
    Bytes offset;
    unsigned width;
    std::uint64_t value;
  };
  static std::string describe(const Step& step);
  bool matches(const Step& actual, bool compare_value);

  std::deque<Step> steps_;
};

class ScriptedRegion : public platform::MmioRegion {
 public:
  ScriptedRegion(BusScript& script, Bytes size) : script_(script), size_(size) {}
  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(script_.read(offset, 4));
  }
  std::uint64_t read64(Bytes offset) override { return script_.read(offset, 8); }
  void write32(Bytes offset, std::uint32_t value) override { script_.write(offset, 4, value); }
  void write64(Bytes offset, std::uint64_t value) override { script_.write(offset, 8, value); }

 private:
  BusScript& script_;
  Bytes size_;
};

}  // namespace npu::test
