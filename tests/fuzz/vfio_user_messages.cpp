// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/vfio_user_messages.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace npu::fuzz {

using namespace test::vfio_user;

namespace {

constexpr std::uint64_t kPageSize = 4096;
constexpr std::uint64_t kFilePages = 64;

std::string link_to(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace

DescriptorPool::DescriptorPool() {
  for (const unsigned flags : {0U, 0U, unsigned{MFD_ALLOW_SEALING}}) {
    memories_.push_back(std::make_unique<SharedMemory>(kFilePages * kPageSize, flags));
  }
  ::fcntl(memories_[2]->fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  for (const std::uint64_t initial : {std::uint64_t{0}, std::uint64_t{0}, UINT64_MAX - 1}) {
    events_.emplace_back(initial);
  }
  const std::string file = link_to(memories_[0]->fd());
  for (const int flags : {O_RDONLY, O_WRONLY, O_PATH, O_RDWR}) {
    others_.push_back(::open(file.c_str(), flags | O_CLOEXEC));
  }
  int pair[2];
  if (::pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0) others_.insert(others_.end(), pair, pair + 2);
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
    others_.insert(others_.end(), pair, pair + 2);
  }
  others_.push_back(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  others_.push_back(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  others_.push_back(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  others_.push_back(::epoll_create1(EPOLL_CLOEXEC));
}

DescriptorPool::~DescriptorPool() {
  for (const int fd : others_) ::close(fd);
}

int DescriptorPool::any(Random& random) {
  switch (random.below(3)) {
    case 0:
      return file(random);
    case 1:
      return event(random);
    default:
      return random.in(others_);
  }
}

void DescriptorPool::resize_a_file(Random& random) {
  const auto pages = random.below(2 * kFilePages);
  const auto size = static_cast<off_t>(pages * kPageSize + random.below(2) * 100);
  [[maybe_unused]] const int done = ::ftruncate(file(random), size);
}

void DescriptorPool::restore_files() {
  for (const auto& memory : memories_) {
    [[maybe_unused]] const int done = ::ftruncate(memory->fd(), kFilePages * kPageSize);
  }
}

// Numbers at which something changes.
std::uint64_t MessageMaker::number() {
  const std::uint64_t base = random_.of<std::uint64_t>({0,
                                                        1,
                                                        2,
                                                        4,
                                                        5,
                                                        8,
                                                        9,
                                                        16,
                                                        20,
                                                        24,
                                                        32,
                                                        64,
                                                        4096,
                                                        1 << 20,
                                                        2 << 20,
                                                        UINT64_C(1) << 31,
                                                        UINT64_C(1) << 32,
                                                        UINT64_C(1) << 40,
                                                        UINT64_C(1) << 63,
                                                        UINT64_MAX - 4095,
                                                        UINT64_MAX});
  if (random_.percent(20)) return random_.bits();
  return base + random_.below(5) - 2;
}

std::uint64_t MessageMaker::page() {
  if (random_.percent(5)) return number();
  if (random_.percent(5)) return UINT64_MAX / kPageSize - random_.below(4);
  return random_.below(80);
}

Draft MessageMaker::message(std::uint16_t command, const Blob& payload, std::vector<int> fds) {
  const auto id = static_cast<std::uint16_t>(random_.bits());
  const std::uint32_t flags = random_.percent(20) ? kWantsNoReply : 0;
  return {header(id, command, kHeaderBytes + payload.size(), flags).blob(payload), std::move(fds)};
}

Draft MessageMaker::version() {
  const auto* text = random_.of<const char*>(
      {"", "{}", R"({"capabilities":{"max_msg_fds":8,"pgsizes":4096,"write_multiple":true}})",
       R"({"capabilities":{"max_data_xfer_size":65536,"max_dma_maps":10,"write_multiple":true}})"});
  return message(kVersion, version_payload(0, static_cast<std::uint16_t>(random_.below(3)), text));
}

Draft MessageMaker::map() {
  const std::uint64_t size = (1 + random_.below(16)) * kPageSize;
  const auto flags = static_cast<std::uint32_t>(random_.of({1, 2, 3, 3, 3}));
  const Blob payload = map_payload(page() * kPageSize, size, random_.below(56) * kPageSize, flags);
  if (random_.percent(10)) return message(kDmaMap, payload);
  return message(kDmaMap, payload, {pool_.file(random_)});
}

Draft MessageMaker::unmap() {
  if (random_.percent(5)) return message(kDmaUnmap, unmap_payload(0, 0, kAll));
  return message(kDmaUnmap, unmap_payload(page() * kPageSize, random_.below(40) * kPageSize));
}

Draft MessageMaker::set_irqs() {
  const auto data = random_.of({kNone, kBool, kEventfd, kEventfd});
  const auto action = random_.of({kMask, kUnmask, kTrigger, kTrigger, kTrigger});
  const auto index = static_cast<std::uint32_t>(random_.of({0, 1, 2, 2, 2, 3}));
  const auto start = static_cast<std::uint32_t>(random_.below(33));
  const auto count = static_cast<std::uint32_t>(random_.below(18));
  std::vector<int> fds;
  if (data == kEventfd && random_.percent(80)) {
    for (std::uint32_t i = 0; i < count; ++i) fds.push_back(pool_.event(random_));
  }
  const Blob payload = random_.percent(10)
                           ? irqs_payload(kNone | kTrigger, index, 0, 0)
                           : irqs_payload(data | action, index, start, count,
                                          data == kBool ? Blob(count, std::byte{1}) : Blob());
  return message(kSetIrqs, payload, std::move(fds));
}

Draft MessageMaker::access() {
  const auto region = static_cast<std::uint32_t>(random_.of({0, 0, 2, 4, 6, 7}));
  const auto count = static_cast<std::uint32_t>(
      random_.percent(3) ? random_.below(1 << 20) : random_.of({1, 2, 4, 4, 8, 64}));
  const std::uint64_t offset = random_.below(4096);
  if (random_.percent(50)) return message(kRegionRead, access_payload(region, offset, count));
  return message(kRegionWrite, access_payload(region, offset, count, Blob(count)));
}

Draft MessageMaker::write_multi() {
  std::vector<SmallWrite> writes(random_.below(6));
  for (auto& write : writes) {
    write = {random_.below(4100), static_cast<std::uint32_t>(random_.of({0, 2, 7, 6})),
             static_cast<std::uint32_t>(random_.below(10)), random_.bits()};
  }
  return message(kWriteMulti, write_multi_payload(writes));
}

// GET_INFO and the like, RESET, and commands that are not there.
Draft MessageMaker::question() {
  const auto index = static_cast<std::uint32_t>(random_.below(10));
  const auto argsz = static_cast<std::uint32_t>(random_.of({16, 32, 40}));
  const auto command =
      static_cast<std::uint16_t>(random_.of({4, 5, 5, 6, 7, 7, 13, 11, 12, 14, 16, 17, 18, 19, 0}));
  const std::size_t size = command == kReset ? 0 : command == kGetRegionInfo ? 32 : 16;
  Blob payload = Fields().u32(argsz).u32(0).u32(index).u32(0).u64(0).u64(0);
  payload.resize(size);
  return message(command, payload);
}

Draft MessageMaker::well_formed() {
  const auto kind = random_.below(100);
  if (kind < 25) return map();
  if (kind < 40) return unmap();
  if (kind < 60) return set_irqs();
  if (kind < 82) return access();
  if (kind < 88) return write_multi();
  if (kind < 98) return question();
  return version();
}

void MessageMaker::mutate(Draft& draft) {
  auto& bytes = draft.bytes;
  const auto overwrite = [&bytes, this](std::size_t at, std::size_t width) {
    const std::uint64_t value = number();
    if (at + width <= bytes.size()) std::memcpy(bytes.data() + at, &value, width);
  };
  const auto keep_size = [&bytes] {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    if (bytes.size() >= 8) std::memcpy(bytes.data() + 4, &size, sizeof size);
  };
  switch (random_.below(10)) {
    case 0:
    case 1:
    case 2:  // a field of the payload
      overwrite(16 + 4 * random_.below(8), random_.of<std::size_t>({4, 4, 8}));
      break;
    case 3:  // a bit anywhere
      bytes[random_.below(bytes.size())] ^= std::byte{1} << random_.below(8);
      break;
    case 4:  // shorter, and says so
      bytes.resize(std::max<std::size_t>(16, random_.below(bytes.size() + 1)));
      keep_size();
      break;
    case 5:  // longer, and says so
      bytes.resize(bytes.size() + 1 + random_.below(64), std::byte{0xff});
      keep_size();
      break;
    case 6:  // another command, type or flag
      overwrite(random_.of<std::size_t>({2, 8}), 2);
      break;
    case 7:  // another size than it has
      overwrite(4, 4);
      break;
    case 8:
      if (!draft.fds.empty()) draft.fds.resize(random_.below(draft.fds.size()));
      break;
    default:
      for (auto i = random_.percent(5) ? random_.below(250) : 1; i > 0; --i) {
        draft.fds.push_back(pool_.any(random_));
      }
  }
}

Draft MessageMaker::mutated() {
  Draft draft = !last_.bytes.empty() && random_.percent(10) ? last_ : well_formed();
  for (auto i = random_.below(3) + 1; i > 0; --i) mutate(draft);
  if (draft.fds.size() > 250) draft.fds.resize(250);
  last_ = draft;
  return draft;
}

}  // namespace npu::fuzz
