// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/acl_world.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace npu::fuzz {
namespace {

constexpr std::size_t kBlocks = 12, kStreamsEach = 2;
constexpr std::size_t kMapped = std::size_t{2} << 20;

// A function in a stream: what it must find, and what it writes there.
struct Visit {
  unsigned char* at;
  std::vector<unsigned char> expected;
  unsigned char value;
};

void visit(void* data) {
  const std::unique_ptr<Visit> one(static_cast<Visit*>(data));
  for (std::size_t i = 0; i < one->expected.size(); ++i) {
    if (one->at[i] != one->expected[i]) give_up("a function finds another byte", one->at[i]);
  }
  std::memset(one->at, one->value, one->expected.size());
}

}  // namespace

void give_up(const char* what, int status) {
  std::fprintf(stderr, "acl_memory: %s: %d: %s\n", what, status, aclGetRecentErrMsg());
  std::_Exit(1);
}

// --- Streams ---------------------------------------------------------------------------------

Streams::Streams(const Machine& machine) : machine_(machine) {
  for (std::uint32_t device = 0; device < machine.contexts.size(); ++device) {
    for (std::size_t i = 0; i < kStreamsEach; ++i) all_.push_back({nullptr, device});
  }
  for (auto& stream : all_) open(stream);
}

Streams::~Streams() {
  for (const auto& stream : all_) {
    ACL(aclrtSetCurrentContext(machine_.contexts[stream.device]));
    ACL(aclrtDestroyStream(stream.handle));
  }
}

void Streams::open(Stream& stream) {
  ACL(aclrtSetCurrentContext(machine_.contexts[stream.device]));
  ACL(aclrtCreateStream(&stream.handle));
  ACL(aclrtSubscribeReport(machine_.server, stream.handle));
}

void Streams::replace(std::size_t number) {
  ACL(aclrtSetCurrentContext(machine_.contexts[all_[number].device]));
  ACL(aclrtDestroyStream(all_[number].handle));
  open(all_[number]);
}

// --- Memory ----------------------------------------------------------------------------------

World::World(const Machine& machine, Streams& streams, std::uint32_t seed, bool own_streams)
    : machine_(machine), streams_(streams), seed_(seed), own_streams_(own_streams), random_(seed) {
  for (std::size_t i = 0; i < kBlocks; ++i) blocks_.push_back(make());
}

World::~World() {
  for (auto& block : blocks_) {
    wait_for(block);
    give_back(block);
  }
}

void World::use(std::uint32_t device) {
  ACL(aclrtSetCurrentContext(machine_.contexts[device]));
}

Block World::make() {
  Block block;
  block.kind = static_cast<Kind>(any(kKinds));
  block.device = any(machine_.contexts.size());
  if (block.kind == Kind::kManaged) block.device = 0;
  const std::size_t size = any(4) == 0 ? 1 + any(300'000) : 1 + any(5'000);
  block.model.resize(size);
  use(block.device);
  void* at = nullptr;
  switch (block.kind) {
    case Kind::kDevice:
      ACL(aclrtMalloc(&at, size, ACL_MEM_MALLOC_HUGE_FIRST));
      break;
    case Kind::kManaged:
      ACL(aclrtMemAllocManaged(&at, size, 1));
      break;
    case Kind::kMapped: {
      aclrtPhysicalMemProp memory = {};
      memory.memAttr = ACL_HBM_MEM_HUGE;
      memory.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
      memory.location.id = block.device;
      ACL(aclrtMallocPhysical(&block.physical, kMapped, &memory, 0));
      ACL(aclrtReserveMemAddress(&at, kMapped, 0, nullptr, 0));
      ACL(aclrtMapMem(at, kMapped, 0, block.physical, 0));
      break;
    }
    case Kind::kPinned:
      ACL(aclrtMallocHost(&at, size));
      break;
    case Kind::kPageable:
      at = std::malloc(size);
      break;
  }
  block.at = static_cast<unsigned char*>(at);
  const auto value = static_cast<unsigned char>(any(256));
  std::fill(block.model.begin(), block.model.end(), value);
  ACL(aclrtMemset(at, size, value, size));
  return block;
}

// What is in flight may go on.
void World::give_back(Block& block) {
  if (block.kind == Kind::kMapped || block.in_calls) wait_for(block);
  use(block.device);
  switch (block.kind) {
    case Kind::kDevice:
    case Kind::kManaged:
      ACL(aclrtFree(block.at));
      break;
    case Kind::kMapped:
      ACL(aclrtUnmapMem(block.at));
      ACL(aclrtReleaseMemAddress(block.at));
      ACL(aclrtFreePhysical(block.physical));
      break;
    case Kind::kPinned:
      ACL(aclrtFreeHost(block.at));
      break;
    case Kind::kPageable:
      std::free(block.at);
      break;
  }
}

void World::replace(Block& block) {
  give_back(block);
  block = make();
}

// --- Order -----------------------------------------------------------------------------------

// In one of the ways that there are.
void World::wait_for(int number) {
  const auto& stream = streams_[static_cast<std::size_t>(number)];
  use(stream.device);
  aclrtEvent event = nullptr;
  aclrtStreamStatus running = ACL_STREAM_STATUS_NOT_READY;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  switch (any(6)) {
    case 0:
      return ACL(aclrtSynchronizeStream(stream.handle));
    case 1:
      return ACL(aclrtSynchronizeDevice());
    case 2:
      while (running != ACL_STREAM_STATUS_COMPLETE) ACL(aclrtStreamQuery(stream.handle, &running));
      return;
    default:
      break;
  }
  ACL(aclrtCreateEvent(&event));
  ACL(aclrtRecordEvent(event, stream.handle));
  if (any(2) == 0) {
    ACL(aclrtSynchronizeEvent(event));
  } else {
    while (recorded != ACL_EVENT_RECORDED_STATUS_COMPLETE) {
      ACL(aclrtQueryEventStatus(event, &recorded));
      if (any(4) == 0) ::usleep(5);
    }
  }
  ACL(aclrtDestroyEvent(event));
}

void World::wait_for(Block& block) {
  if (block.stream >= 0) wait_for(block.stream);
  block.stream = -1;
  block.in_calls = false;
}

// What comes next in the stream is behind what used the block before.
void World::order(Block& block, int stream) {
  if (block.kind == Kind::kPageable) return;  // nothing is in flight there when a call has ended
  if (block.stream >= 0 && block.stream != stream) {
    const auto& before = streams_[static_cast<std::size_t>(block.stream)];
    const auto& next = streams_[static_cast<std::size_t>(stream)];
    if (before.device != next.device || any(4) == 0) {
      wait_for(block);
    } else {
      aclrtEvent event = nullptr;
      use(next.device);
      ACL(aclrtCreateEvent(&event));
      ACL(aclrtRecordEvent(event, before.handle));
      ACL(aclrtStreamWaitEvent(next.handle, event));
      ACL(aclrtDestroyEvent(event));
    }
  }
  block.stream = stream;
}

// Of the card that the memory is on; -1: in none.
int World::stream_for(const Block& a, const Block& b) {
  if (any(4) == 0 || (a.on_host() && b.on_host())) return -1;
  const auto& owner = a.on_host() || (!b.on_host() && any(2) == 0) ? b : a;
  return static_cast<int>(owner.device * kStreamsEach + any(kStreamsEach));
}

// --- What is done ----------------------------------------------------------------------------

aclrtMemcpyKind World::kind_of(const Block& to, const Block& from) {
  if (any(4) == 0) return ACL_MEMCPY_DEFAULT;
  if (to.on_host()) return from.on_host() ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_DEVICE_TO_HOST;
  if (!from.on_host()) return ACL_MEMCPY_DEVICE_TO_DEVICE;
  return any(4) == 0 ? ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
}

void World::copy() {
  auto &to = blocks_[any(kBlocks)], &from = blocks_[any(kBlocks)];
  if (&to == &from) return;
  const bool managed = to.kind == Kind::kManaged || from.kind == Kind::kManaged;
  if (managed && !to.on_host() && !from.on_host() && to.device != from.device) return;
  const std::size_t most = std::min(to.model.size(), from.model.size());
  const std::size_t count = 1 + any(most);
  const std::size_t into = any(to.model.size() - count + 1);
  const std::size_t out_of = any(from.model.size() - count + 1);
  const int stream = stream_for(to, from);
  const auto kind = kind_of(to, from);
  if (stream < 0) {
    wait_for(to);
    wait_for(from);
    use(any(machine_.contexts.size()));
    ACL(aclrtMemcpy(to.at + into, count, from.at + out_of, count, kind));
  } else {
    // A buffer takes the bytes in the call.
    kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE ? wait_for(from) : order(from, stream);
    order(to, stream);
    const auto& in = streams_[static_cast<std::size_t>(stream)];
    use(in.device);
    ACL(aclrtMemcpyAsync(to.at + into, count, from.at + out_of, count, kind, in.handle));
  }
  std::memcpy(to.model.data() + into, from.model.data() + out_of, count);
}

void World::copy_rows() {
  auto &to = blocks_[any(kBlocks)], &from = blocks_[any(kBlocks)];
  const std::size_t height = 1 + any(4), width = 1 + any(40), wide = width + any(20);
  if (&to == &from || to.on_host() == from.on_host()) return;
  if (std::min(to.model.size(), from.model.size()) < height * wide) return;
  const int stream = stream_for(to, from);
  const auto kind = to.on_host() ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
  if (stream < 0) {
    wait_for(to);
    wait_for(from);
    use(any(machine_.contexts.size()));
    ACL(aclrtMemcpy2d(to.at, wide, from.at, width, width, height, kind));
  } else {
    order(to, stream);
    order(from, stream);
    const auto& in = streams_[static_cast<std::size_t>(stream)];
    use(in.device);
    ACL(aclrtMemcpy2dAsync(to.at, wide, from.at, width, width, height, kind, in.handle));
  }
  for (std::size_t row = 0; row < height; ++row) {
    std::memcpy(to.model.data() + row * wide, from.model.data() + row * width, width);
  }
}

void World::fill() {
  auto& block = blocks_[any(kBlocks)];
  const std::size_t count = 1 + any(block.model.size());
  const std::size_t offset = any(block.model.size() - count + 1);
  const auto value = static_cast<unsigned char>(any(256));
  int stream = stream_for(block, block);
  if (block.kind == Kind::kPinned) stream = static_cast<int>(any(streams_.size()));
  if (stream < 0) {
    wait_for(block);
    use(block.device);
    ACL(aclrtMemset(block.at + offset, count, value, count));
  } else {
    order(block, stream);
    const auto& in = streams_[static_cast<std::size_t>(stream)];
    use(in.device);
    ACL(aclrtMemsetAsync(block.at + offset, count, value, count, in.handle));
  }
  std::memset(block.model.data() + offset, value, count);
}

void World::call() {
  auto& block = blocks_[any(kBlocks)];
  if (block.kind != Kind::kPinned) return;
  const std::size_t count = 1 + any(block.model.size());
  const auto value = static_cast<unsigned char>(any(256));
  const int stream = static_cast<int>(any(streams_.size()));
  order(block, stream);
  const auto& in = streams_[static_cast<std::size_t>(stream)];
  const auto end = block.model.begin() + static_cast<std::ptrdiff_t>(count);
  auto one = std::make_unique<Visit>(Visit{block.at, {block.model.begin(), end}, value});
  use(in.device);
  ACL(aclrtLaunchCallback(visit, one.release(), ACL_CALLBACK_BLOCK, in.handle));
  block.in_calls = true;
  std::memset(block.model.data(), value, count);
}

void World::host_writes() {
  auto& block = blocks_[any(kBlocks)];
  if (!block.on_host()) return;
  wait_for(block);
  for (std::size_t i = any(7); i < block.model.size(); i += 1 + any(500)) {
    block.at[i] = block.model[i] = static_cast<unsigned char>(any(256));
  }
}

void World::differ(const Block& block, std::size_t at, int found) const {
  std::fprintf(stderr, "seed %u, step %u: memory of kind %d, device %u: byte %zu is %d, not %d\n",
               seed_, steps_, static_cast<int>(block.kind), block.device, at, found,
               block.model[at]);
  std::_Exit(1);
}

void World::check(Block& block) {
  wait_for(block);
  std::vector<unsigned char> bytes(block.at,
                                   block.on_host() ? block.at + block.model.size() : block.at);
  if (!block.on_host()) {
    bytes.resize(block.model.size());
    use(any(machine_.contexts.size()));
    ACL(aclrtMemcpy(bytes.data(), bytes.size(), block.at, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != block.model[i]) differ(block, i, bytes[i]);
  }
}

void World::check_all() {
  for (auto& block : blocks_) check(block);
}

// What comes behind is late.
void World::spin() {
  const auto& stream = streams_[any(streams_.size())];
  npusim_spin_args clocks = {1 + any(60'000)};
  use(stream.device);
  ACL(aclrtLaunchKernel(machine_.spin, 1 + any(3), &clocks, sizeof clocks, stream.handle));
}

void World::step() {
  ++steps_;
  switch (any(16)) {
    case 0:
      return spin();
    case 1:
      return call();
    case 2:
      return host_writes();
    case 3:
      return check(blocks_[any(kBlocks)]);
    case 4:
      return replace(blocks_[any(kBlocks)]);
    case 5:
      return copy_rows();
    case 6:
    case 7:
    case 8:
      return fill();
    case 9:
      if (any(4) == 0) ::usleep(any(200));
      if (own_streams_ && any(4) == 0) {
        const auto number = any(streams_.size());
        streams_.replace(number);
      }
      return;
    default:
      return copy();
  }
}

}  // namespace npu::fuzz
