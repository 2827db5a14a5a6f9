// SPDX-License-Identifier: Apache-2.0
// exec_invalid ROUNDS SEED: a program under `npusim exec` whose calls are right but for one thing:
// a number, size, request, handle, device or kind that there is not. As they are right they are
// served, and with that one thing they are refused, however often.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/fuzz/exec_slot.hpp"
#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

namespace wire = compat::wire;

constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
constexpr std::uint64_t kHbm = 1, kBeyond = std::uint64_t{1} << 32;  // beyond a number of 32 bits

class Program {
 public:
  explicit Program(Random& random) : slot_(*connect()), random_(random) {
    make<Call::kSetDevice>({0});
    memory_ = make<Call::kMalloc>({2 * kPage}).address;
    heap_ = make<Call::kMallocManaged>({kPage, 1}).address;
    stream_ = make<Call::kCreateStream>({}).handle;
    binary_ = make<Call::kBinaryLoad>({1, 0, wire::kAnyCores}).handle;
    std::memcpy(window_of(slot_), kKernel, sizeof kKernel);
    function_ = make<Call::kBinaryGetFunction>({binary_, 4}, 4).handle;
  }

  void check_all() {
    check_slot();
    check_memory();
    check_managed();
    check_kernels();
    check_management();
    check_collectives();
  }

 private:
  static constexpr char kKernel[] = "spin";

  // A number of no device, also if it is cut to 32 bits.
  std::int64_t no_device() {
    const auto far = static_cast<std::int64_t>(random_.below(1000));
    return random_.percent(50) ? -1 - far : static_cast<std::int64_t>(kBeyond) * (1 + far);
  }
  std::uint64_t from(std::uint64_t first) { return first + random_.bits() % (UINT64_MAX - first); }

  template <Call kCall>
  compat::Answer<kCall> make(const compat::Request<kCall>& request, std::uint64_t bytes = 0) {
    expect(ask<kCall>(slot_, request, bytes) == 0, kCall, "is refused");
    return answer_of<kCall>(slot_);
  }
  void expect(bool right, Call call, const char* what) const {
    if (right) return;
    std::fprintf(stderr, "%s %s: status %d\n",
                 compat::kCallNames[static_cast<std::size_t>(call)].data(), what, slot_.status);
    std::exit(3);
  }

  // The request is served as it is, and refused with `field` as `wrong`.
  template <Call kCall, class Field, class Wrong>
  void spoil(compat::Request<kCall> request, Field compat::Request<kCall>::*field, Wrong wrong,
             std::uint64_t bytes = 0) {
    make<kCall>(request, bytes);
    request.*field = static_cast<Field>(wrong);
    expect(ask<kCall>(slot_, request, bytes) != 0, kCall, "is served");
  }

  void check_slot() {
    put<Call::kMemoryUse>(slot_, {});
    expect(answered(slot_) == 0, Call::kMemoryUse, "is refused");
    put<Call::kMemoryUse>(slot_, {}, compat::kWindow + 1 + random_.below(1000));
    expect(answered(slot_) != 0, Call::kMemoryUse, "is served with more bytes than there are");
    put<Call::kGetDevice>(slot_, {});
    slot_.device = 2 + random_.below(kBeyond);
    expect(answered(slot_) != 0, Call::kGetDevice, "is served for no device");
    put<Call::kMemoryUse>(slot_, {});
    const auto last = static_cast<std::uint32_t>(Call::kCount);
    slot_.call = last + static_cast<std::uint32_t>(random_.below(UINT32_MAX - last));
    expect(answered(slot_) != 0, Call::kEnd, "is no call, and is served");
  }

  void check_memory() {
    spoil<Call::kSetDevice>({0}, &wire::Device::device, no_device());
    spoil<Call::kGetDeviceInfo>({0, 1}, &wire::DeviceAttribute::attribute, from(1000));
    spoil<Call::kPeerAccess>({}, &wire::PeerAccess::request, from(3));
    spoil<Call::kPeerAccess>({}, &wire::PeerAccess::peer, no_device());
    spoil<Call::kGetMemInfo>({kHbm}, &wire::Number::number, from(12));
    spoil<Call::kCopyIn>({memory_, 64, {}}, &wire::WindowCopy::bytes, 65 + random_.below(kPage),
                         64);
    spoil<Call::kCopyBuffered>({memory_, 64, {}}, &wire::WindowCopy::bytes, from(65), 64);
    spoil<Call::kCopyOut>({memory_, 64, {}}, &wire::WindowCopy::bytes, from(2 * kPage + 1));
    spoil<Call::kSetStreamFailureMode>({stream_, 0}, &wire::FailureMode::stops, from(2));
    spoil<Call::kStreamQuery>({stream_}, &wire::Handle::handle, memory_ + 1 + random_.below(1000));
    const auto made = make<Call::kMallocPhysical>({kPage, 0});
    make<Call::kFreePhysical>(made);
    expect(ask<Call::kFreePhysical>(slot_, made) != 0, Call::kFreePhysical, "is served twice");
    expect(ask<Call::kMallocPhysical>(slot_, {kPage, no_device()}) != 0, Call::kMallocPhysical,
           "is served for no device");
    const auto policy = 8 + static_cast<std::uint32_t>(random_.below(kBeyond - 8));
    expect(ask<Call::kMalloc>(slot_, {64, policy}) != 0, Call::kMalloc, "is served as no policy");
  }

  void check_managed() {
    wire::ManagedAdvice advice{heap_, kPage, 2, {1, 0}};
    spoil<Call::kManagedAdvise>(advice, &wire::ManagedAdvice::advice, from(6));
    spoil<Call::kManagedAdvise>(advice, &wire::ManagedAdvice::location, wire::Location{4});
    spoil<Call::kManagedAdvise>(advice, &wire::ManagedAdvice::location,
                                wire::Location{1, kBeyond * (1 + random_.below(1000))});
    spoil<Call::kManagedAttribute>({heap_, kPage, 1}, &wire::ManagedAttribute::attribute, from(9));
    spoil<Call::kMemoryAdvise>({heap_, kPage, 1}, &wire::Advice::advice, from(4));
  }

  void check_kernels() {
    const std::uint64_t clocks = 1;
    std::memcpy(window_of(slot_), &clocks, sizeof clocks);
    const wire::Launch launch{function_, 1, stream_, wire::kAnyCores, sizeof clocks};
    const auto wrong = [&](auto wire::Launch::*field, std::uint64_t value) {
      spoil<Call::kLaunchKernel>(launch, field, value, sizeof clocks);
    };
    wrong(&wire::Launch::function, stream_);
    wrong(&wire::Launch::blocks, from(65536));
    wrong(&wire::Launch::blocks, 0);
    wrong(&wire::Launch::cores, 2 + random_.below(kBeyond));
    wrong(&wire::Launch::bytes, from(sizeof clocks + 1));
    wrong(&wire::Launch::places, from(1));
    make<Call::kSynchronizeStream>({stream_, wire::kForEver});
    const auto binary = make<Call::kBinaryLoad>({1, 0, 1});
    make<Call::kBinaryUnload>(binary);
    expect(ask<Call::kBinaryLoad>(slot_, {1, 0, 2 + random_.below(kBeyond)}) != 0,
           Call::kBinaryLoad, "is served for no cores");
    spoil<Call::kGetResLimit>({}, &wire::CoreLimit::kind, from(2));
    spoil<Call::kGetResLimit>({}, &wire::CoreLimit::of, static_cast<std::uint64_t>(no_device()));
    std::memcpy(window_of(slot_), kKernel, sizeof kKernel);
    expect(ask<Call::kBinaryGetFunction>(slot_, {binary_, from(5)}, 4) != 0,
           Call::kBinaryGetFunction, "is served without its name");
    expect(ask<Call::kShareOpen>(slot_, {from(5)}, 4) != 0, Call::kShareOpen, "of no name");
  }

  void check_management() {
    spoil<Call::kManageMemory>({0}, &wire::Device::device, no_device());
    spoil<Call::kModuleUse>({0}, &wire::Device::device, no_device());
    spoil<Call::kManageToken>({}, &wire::CardToken::card, no_device());
    spoil<Call::kManageGroups>({}, &wire::CardGroups::request, from(3));
    expect(ask<Call::kManageGroups>(slot_, {0, compat::GroupRequest::kRemove, kBeyond}) != 0,
           Call::kManageGroups, "is served for no group");
  }

  // A communicator of one rank: its handle comes where the rank was.
  int join(const wire::CommunicatorJoin& wanted) {
    constexpr std::uint64_t kTexts = 2;
    const wire::JoiningRank rank{0, 0};
    std::memcpy(window_of(slot_), &rank, sizeof rank);
    return ask<Call::kCommunicatorJoin>(slot_, wanted, sizeof rank + kTexts);
  }

  void check_collectives() {
    const wire::CommunicatorJoin one{1, 1, 1, 1, kPage, 1, 1, 0};
    const auto wrong = [&](auto wire::CommunicatorJoin::*field, std::uint64_t value) {
      auto spoilt = one;
      spoilt.*field = value;
      expect(join(spoilt) != 0, Call::kCommunicatorJoin, "is served");
    };
    wrong(&wire::CommunicatorJoin::members, from(2));
    wrong(&wire::CommunicatorJoin::members, 0);
    wrong(&wire::CommunicatorJoin::key_bytes, from(2));
    wrong(&wire::CommunicatorJoin::name_bytes, from(2));
    wrong(&wire::CommunicatorJoin::ranks, from(1025));
    wrong(&wire::CommunicatorJoin::buffer_bytes, from(std::uint64_t{1} << 40));
    wrong(&wire::CommunicatorJoin::algorithms, from(7) | 7);
    wrong(&wire::CommunicatorJoin::ranks, 2);  // the other one does not come
    expect(join(one) == 0, Call::kCommunicatorJoin, "is refused");
    std::uint64_t communicator = 0;
    std::memcpy(&communicator, window_of(slot_), sizeof communicator);
    const wire::CollectiveWork work{communicator, stream_, memory_, memory_ + kPage, 64, 4, 0, 0};
    spoil<Call::kAllReduce>(work, &wire::CollectiveWork::communicator, stream_);
    spoil<Call::kAllReduce>(work, &wire::CollectiveWork::stream, communicator);
    spoil<Call::kAllGather>(work, &wire::CollectiveWork::from, from(memory_ + 2 * kPage));
    spoil<Call::kScatter>(work, &wire::CollectiveWork::to, heap_);
    spoil<Call::kAllToAll>(work, &wire::CollectiveWork::count, from(2 * kPage));
    spoil<Call::kReduceScatter>(work, &wire::CollectiveWork::type, from(12));
    spoil<Call::kReduceToRoot>(work, &wire::CollectiveWork::reduction, from(4));
    spoil<Call::kBroadcast>(work, &wire::CollectiveWork::peer, from(1));
    make<Call::kSynchronizeStream>({stream_, wire::kForEver});
    make<Call::kCommunicatorEnd>({communicator});
    expect(ask<Call::kCommunicatorEnd>(slot_, {communicator}) != 0, Call::kCommunicatorEnd,
           "is served twice");
  }

  Slot& slot_;
  Random& random_;
  std::uint64_t memory_ = 0, heap_ = 0, stream_ = 0, binary_ = 0, function_ = 0;
};

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  npu::fuzz::Random random(std::strtoull(argv[2], nullptr, 10));
  npu::fuzz::Program program(random);
  for (auto left = std::strtoull(argv[1], nullptr, 10); left > 0; --left) program.check_all();
  std::puts("right");
  return 0;
}
