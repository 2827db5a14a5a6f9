// SPDX-License-Identifier: Apache-2.0
// A function that does what it is told and writes down what it was asked.
#pragma once

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/host/vfio_user/served_device.hpp"

namespace npu::test::vfio_user {

// Region and interrupt indices of the function.
constexpr unsigned kBar0 = 0, kBar2 = 2, kRom = 6, kConfig = 7;
constexpr unsigned kIntx = 0, kMsi = 1, kMsix = 2, kErr = 3;
constexpr unsigned kVectors = 32;
constexpr std::uint64_t kPage = 4096;

class FakeDevice : public model::vfio_user::ServedDevice {
 public:
  std::map<unsigned, std::vector<std::byte>> regions{
      {kBar0, std::vector<std::byte>(4096)},
      {kBar2, std::vector<std::byte>(2 << 20)},
      {kRom, std::vector<std::byte>(2048)},
      {kConfig, std::vector<std::byte>(4096)},
  };
  std::vector<std::string> calls;  // since the last take_calls(), reads included
  std::map<std::pair<unsigned, unsigned>, int> triggers;
  std::map<std::uint64_t, model::vfio_user::DmaMapping> mappings;
  int next_error = 0;             // the next read, write or map fails with it
  std::function<void()> on_read;  // called by every read

  std::vector<std::string> take_calls() { return std::exchange(calls, {}); }

  Bytes region_size(unsigned region) const override {
    const auto found = regions.find(region);
    return found == regions.end() ? 0 : found->second.size();
  }

  unsigned irq_count(unsigned index) const override {
    switch (index) {
      case kMsix:
        return kVectors;
      case kIntx:
      case kErr:
        return 1;
      default:
        return 0;
    }
  }

  int read(unsigned region, Bytes offset, std::byte* data, Bytes count) override {
    note("read", region, offset, count);
    if (on_read) on_read();
    if (next_error != 0) return std::exchange(next_error, 0);
    std::memcpy(data, regions[region].data() + offset, count);
    return 0;
  }

  int write(unsigned region, Bytes offset, const std::byte* data, Bytes count) override {
    note("write", region, offset, count);
    if (next_error != 0) return std::exchange(next_error, 0);
    std::memcpy(regions[region].data() + offset, data, count);
    return 0;
  }

  void set_trigger(unsigned index, unsigned vector, int eventfd) override {
    note(eventfd >= 0 ? "trigger" : "no trigger", index, vector);
    if (eventfd >= 0) {
      triggers[{index, vector}] = eventfd;
    } else {
      triggers.erase({index, vector});
    }
  }

  void mask(unsigned index, unsigned vector, bool masked) override {
    note(masked ? "mask" : "unmask", index, vector);
  }

  int map(const model::vfio_user::DmaMapping& mapping) override {
    note("map", mapping.iova, mapping.size);
    if (next_error != 0) return std::exchange(next_error, 0);
    mappings[mapping.iova] = mapping;
    return 0;
  }

  void unmap(std::uint64_t iova, Bytes size) override {
    note("unmap", iova, size);
    mappings.erase(iova);
  }

  void reset() override { note("reset"); }
  void client_gone() override { note("client gone"); }

 private:
  template <class... Numbers>
  void note(const char* what, Numbers... numbers) {
    std::string line = what;
    for (const std::uint64_t number : {std::uint64_t{numbers}...}) line += text(number);
    calls.push_back(std::move(line));
  }
  void note(const char* what) { calls.emplace_back(what); }

  static std::string text(std::uint64_t number) {
    char hex[24];
    std::snprintf(hex, sizeof hex, " %llx", static_cast<unsigned long long>(number));
    return hex;
  }
};

}  // namespace npu::test::vfio_user
