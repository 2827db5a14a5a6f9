// SPDX-License-Identifier: Apache-2.0
// vfio_user_echo SOCKET...: one small PCI function behind each socket, to try the server with a
// real client. BAR0 (128 KiB): registers, MSI-X table at 0x10000, pending bits at 0x14000. BAR2 (1
// MiB) and BAR4 (64 KiB): memory. A store to the doorbell at BAR0 + 0x10 gives the IOVA of {u64
// source, u64 target, u32 length, u32 vector}: the function copies by DMA, counts and raises the
// vector.
#include <sys/signalfd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "model/host/vfio_user/eventfd.hpp"
#include "model/host/vfio_user/server.hpp"

namespace npu::model::vfio_user {
namespace {

constexpr unsigned kConfigRegion = 7;
constexpr unsigned kVectors = 32;
constexpr std::uint32_t kIdentity = 0x4f484345;
constexpr Bytes kStatus = 0x08, kCount = 0x0c, kDoorbell = 0x10, kTables = 0x10000;
constexpr Bytes kFlrByte = 0x79;  // of the configuration space; bit 7 begins a function level reset
enum CopyStatus : std::uint32_t { kDone = 1, kBadDescriptor, kBadSource, kBadTarget };

struct ConfigField {
  Bytes offset;
  std::uint32_t value;
  std::uint32_t writable;
};

constexpr ConfigField kConfig[] = {
    {0x00, 0xd11019e5, 0},  {0x04, 0x00100000, 0x547},
    {0x08, 0x12000001, 0},  {0x0c, 0, 0xff},
    {0x10, 0xc, ~0x1ffffU},  // BAR0, BAR2, BAR4: 64-bit, prefetchable
    {0x14, 0, ~0U},         {0x18, 0xc, ~0xfffffU},
    {0x1c, 0, ~0U},         {0x20, 0xc, ~0xffffU},
    {0x24, 0, ~0U},         {0x2c, 0x010019e5, 0},
    {0x34, 0x40, 0},        {0x40, 0x00035001, 0},                              // power management
    {0x44, 8, 3},           {0x50, (kVectors - 1) << 16 | 0x7011, 0xc0000000},  // MSI-X
    {0x54, 0x10000, 0},     {0x58, 0x14000, 0},
    {0x70, 0x00020010, 0},  // PCI Express endpoint with FLR, 16 GT/s x16
    {0x74, 0x10008fe2, 0},  {0x78, 0x00002810, 0x7fff},
    {0x7c, 0x104, 0},       {0x80, 0x01040000, 0},
    {0x9c, 0x1e, 0},        {0xa0, 4, 0},
    {0x100, 0x15020001, 0},  // advanced error reporting
    {0x108, 0, 0x3fff030},  {0x10c, 0x462030, 0x3fff030},
    {0x150, 0x10003, 0},  // serial number
    {0x154, 0x12345678, 0}, {0x158, 0x9abcdef0, 0},
};

class EchoDevice : public ServedDevice {
 public:
  EchoDevice() { reset(); }

  Bytes region_size(unsigned region) const override {
    const auto found = store_.find(region);
    return found == store_.end() ? 0 : found->second.size();
  }
  unsigned irq_count(unsigned index) const override { return index == 2 ? kVectors : index == 3; }

  int read(unsigned region, Bytes offset, std::byte* data, Bytes count) override {
    std::memcpy(data, store_[region].data() + offset, count);
    return 0;
  }

  int write(unsigned region, Bytes offset, const std::byte* data, Bytes count) override {
    if (region == kConfigRegion) {
      write_config(offset, data, count);
    } else if (region != 0 || (offset >= kDoorbell && offset < kTables)) {
      std::memcpy(store_[region].data() + offset, data, count);
      if (region == 0 && offset < kDoorbell + 8 && offset + count == kDoorbell + 8) ring();
    }
    return 0;
  }

  void set_trigger(unsigned index, unsigned vector, int eventfd) override {
    triggers_[{index, vector}] = eventfd;
  }
  void mask(unsigned, unsigned, bool) override {}
  int map(const DmaMapping& mapping) override {
    mappings_.emplace(mapping.iova, mapping);
    return 0;
  }
  void unmap(std::uint64_t iova, Bytes) override { mappings_.erase(iova); }

  void reset() override {
    store_ = {{0, Store(128 << 10)},
              {2, Store(1 << 20)},
              {4, Store(64 << 10)},
              {kConfigRegion, Store(4096)}};
    writable_.assign(4096, std::byte{0});
    for (const auto& field : kConfig) {
      std::memcpy(store_[kConfigRegion].data() + field.offset, &field.value, 4);
      std::memcpy(writable_.data() + field.offset, &field.writable, 4);
    }
    set_register(0, kIdentity);
  }
  void client_gone() override { triggers_.clear(); }

 private:
  using Store = std::vector<std::byte>;

  void set_register(Bytes offset, std::uint32_t value) {
    std::memcpy(store_[0].data() + offset, &value, sizeof value);
  }

  void write_config(Bytes offset, const std::byte* data, Bytes count) {
    auto& config = store_[kConfigRegion];
    bool flr = false;
    for (Bytes i = 0; i < count; ++i) {
      const std::byte may = writable_[offset + i];
      config[offset + i] = (config[offset + i] & ~may) | (data[i] & may);
      flr = flr || (offset + i == kFlrByte && (data[i] & std::byte{0x80}) != std::byte{0});
    }
    if (flr) reset();
  }

  // The bytes at `iova`, page by page; false where one may not be reached so.
  template <class Piece>
  bool access(std::uint64_t iova, Bytes size, bool write, Piece piece) {
    for (Bytes done = 0; done < size;) {
      auto after = mappings_.upper_bound(iova + done);
      if (after == mappings_.begin()) return false;
      const DmaMapping& mapping = std::prev(after)->second;
      const Bytes at = iova + done - mapping.iova;
      if (at >= mapping.size || !(write ? mapping.writable : mapping.readable)) return false;
      const Bytes length = std::min(size - done, mapping.size - at);
      piece(done, mapping.data + at, length);
      done += length;
    }
    return true;
  }

  bool load(std::uint64_t iova, std::byte* to, Bytes size) {
    return access(iova, size, false, [to](Bytes at, const std::byte* data, Bytes length) {
      std::memcpy(to + at, data, length);
    });
  }

  void ring() {
    struct Descriptor {
      std::uint64_t source, target;
      std::uint32_t length, vector;
    } job{};
    std::uint64_t at = 0;
    std::memcpy(&at, store_[0].data() + kDoorbell, sizeof at);
    std::byte bytes[sizeof job];
    std::uint32_t status = kBadDescriptor;
    if (load(at, bytes, sizeof bytes)) {
      std::memcpy(&job, bytes, sizeof job);
      status = copy(job.source, job.target, std::min(job.length, 1U << 20));
    }
    set_register(kStatus, status);
    set_register(kCount, ++copies_);
    const auto trigger = triggers_.find({2, job.vector});
    if (trigger != triggers_.end() && trigger->second >= 0) signal_eventfd(trigger->second);
  }

  CopyStatus copy(std::uint64_t source, std::uint64_t target, Bytes length) {
    std::vector<std::byte> data(length);
    if (!load(source, data.data(), length)) return kBadSource;
    const auto nothing = [](Bytes, std::byte*, Bytes) {};
    if (!access(target, length, true, nothing)) return kBadTarget;
    access(target, length, true, [&data](Bytes at, std::byte* to, Bytes size) {
      std::memcpy(to, data.data() + at, size);
    });
    return kDone;
  }

  std::map<unsigned, Store> store_;
  Store writable_;
  std::map<std::pair<unsigned, unsigned>, int> triggers_;
  std::map<std::uint64_t, DmaMapping> mappings_;
  std::uint32_t copies_ = 0;
};

int run(int count, char** paths) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGINT, SIGTERM}) sigaddset(&ends, number);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const UniqueFd signals(signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC));
  std::deque<EchoDevice> devices;
  Server server;
  for (int i = 0; i < count; ++i) {
    if (const auto status = server.listen(paths[i], devices.emplace_back()); !status) {
      std::fprintf(stderr, "vfio_user_echo: %s\n", status.error().message().c_str());
      return 1;
    }
  }
  server.wake_on(signals.get());
  signalfd_siginfo end;
  while (::read(signals.get(), &end, sizeof end) < 0) server.serve(-1);
  const Statistics& seen = server.statistics();
  std::printf(
      "%llu messages, %llu errors, %llu clients, %llu refused\n",
      static_cast<unsigned long long>(seen.messages), static_cast<unsigned long long>(seen.errors),
      static_cast<unsigned long long>(seen.clients), static_cast<unsigned long long>(seen.refused));
  return 0;
}

}  // namespace
}  // namespace npu::model::vfio_user

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: vfio_user_echo SOCKET...\n");
    return 2;
  }
  return npu::model::vfio_user::run(argc - 1, argv + 1);
}
