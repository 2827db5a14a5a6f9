// SPDX-License-Identifier: Apache-2.0
// exec_calls SEED ROUNDS: a program that calls functions of the runtime, of the HAL and operators
// of the ACL at random: with what earlier calls gave, with what was given back, with null, with
// numbers that stand for nothing, with sizes at their ends. Each must return, with a code that
// there is; then memory that was never misused holds its bytes.
#include <acl/acl.h>
#include <acl/npusim_kernels.h>
#include <ascend_hal.h>
#include <runtime/rt.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

namespace npu::fuzz {
namespace {

constexpr std::size_t kRoom = std::size_t{64} << 10, kGuard = std::size_t{4} << 30;
constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

// Host memory with nothing behind it: what is too long ends there.
void* make_room() {
  void* const all =
      ::mmap(nullptr, kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED || ::mprotect(all, kRoom, PROT_READ | PROT_WRITE) != 0) std::abort();
  return all;
}

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {
    for (auto*& room : rooms_) room = make_room();
    things_ = {nullptr,
               rooms_[0],
               reinterpret_cast<void*>(1),
               reinterpret_cast<void*>(0xDEAD0000),
               reinterpret_cast<void*>(~std::uintptr_t{0}),
               reinterpret_cast<void*>(std::uintptr_t{0x90000000000})};
  }

  std::uint64_t number() { return random_(); }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  // Of what there was and is, and some that never was.
  void* thing() {
    void* const found = things_[below(things_.size())];
    if (below(6) != 0 || found == nullptr) return found;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(found) + below(1 << 12));
  }
  void keep(void* thing) {
    if (things_.size() < 200) things_.push_back(thing);
    things_[6 + below(things_.size() - 6)] = thing;
  }
  void* room(std::size_t i) { return rooms_[i]; }
  // Apart: nobody may write where they are.
  Mbuf* message() { return messages_[below(messages_.size())]; }
  void keep(Mbuf* message) { messages_[below(messages_.size())] = message; }
  std::uint64_t size() {
    static constexpr std::uint64_t kSizes[] = {
        0, 1, 8, 63, 4096, kRoom, kRoom + 1, kPage, 3 * kPage, 1ULL << 50, ~0ULL, ~0ULL - 31};
    return kSizes[below(std::size(kSizes))];
  }
  // Of host memory, which no other memory may lie right behind that somebody writes from inside.
  std::uint64_t host_size() { return (size() % kGuard | 0x1FFF) + 1; }
  int device() { return static_cast<int>(below(4)) - 1; }

 private:
  std::mt19937_64 random_;
  void* rooms_[3] = {};  // of copies; registered by the runtime; by the HAL
  std::vector<void*> things_;
  std::vector<Mbuf*> messages_ = std::vector<Mbuf*>(20);
};

// Calls by what they are about; each says its code.
using Calls = std::vector<std::function<int(Chance&)>>;

// One that gives something.
template <class Call>
int made(Chance& chance, Call call) {
  void* thing = nullptr;
  const int status = call(chance.below(20) == 0 ? nullptr : &thing);
  if (status == 0 && thing != nullptr) chance.keep(thing);
  return status;
}

// Nothing comes to where host memory was: things that are used after their end must not be what
// libraries have for themselves.
int freed(int status, void* thing) {
  constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (status == 0) static_cast<void>(::mmap(thing, 3 * kPage, PROT_NONE, kNothing, -1, 0));
  return status;
}
template <class End>
int end(Chance& chance, End end_it) {
  void* const thing = chance.thing();
  return freed(end_it(thing), thing);
}

Calls memory_calls() {
  using C = Chance&;
  return {
      [](C c) {
        const auto type = static_cast<rtMemType_t>(c.below(3) == 0 ? c.number() : RT_MEMORY_HBM);
        return made(c, [&](void** to) { return rtMalloc(to, c.size(), type, 7); });
      },
      [](C c) { return made(c, [&](void** to) { return rtMallocHost(to, c.host_size(), 7); }); },
      [](C c) {
        const auto flag = static_cast<std::uint32_t>(c.below(3));
        return made(c, [&](void** to) { return rtMemAllocManaged(to, c.size(), flag, 7); });
      },
      [](C c) { return end(c, rtFree); },
      [](C c) { return end(c, rtFreeHost); },
      [](C c) {
        const auto kind = static_cast<rtMemcpyKind_t>(c.below(10));
        return rtMemcpy(c.thing(), c.size(), c.thing(), c.size(), kind);
      },
      [](C c) {
        const auto kind = static_cast<rtMemcpyKind_t>(c.below(10));
        return rtMemcpyAsync(c.thing(), c.size(), c.thing(), c.size(), kind, c.thing());
      },
      [](C c) { return rtMemset(c.thing(), c.size(), 3, c.size()); },
      [](C c) { return rtMemsetAsync(c.thing(), c.size(), 3, c.size(), c.thing()); },
      [](C c) {
        rtPointerAttributes_t is;
        return rtPointerGetAttributes(&is, c.thing());
      },
      [](C c) {
        size_t size = 0;
        return made(c, [&](void** to) { return rtMemGetAddressRange(c.thing(), to, &size); });
      },
      [](C c) { return rtMemPrefetchToDevice(c.thing(), c.size() % (1 << 24), c.device()); },
      [](C c) { return rtMemAdvise(c.thing(), c.size(), static_cast<uint32_t>(c.below(6))); },
      [](C c) {
        rtMemUsageInfo_t info[3];
        size_t count = 0;
        return rtGetMemUsageInfo(static_cast<uint32_t>(c.device()), info, c.below(4), &count);
      },
      [](C c) {
        return made(c, [&](void** to) { return rtReserveMemAddress(to, c.size(), 0, nullptr, 0); });
      },
      [](C c) { return rtReleaseMemAddress(c.thing()); },
      [](C c) {
        rtDrvMemProp_t on = {
            static_cast<uint32_t>(c.below(3)), static_cast<uint32_t>(c.device()), 1, 0, 0, 0};
        return made(c, [&](void** to) { return rtMallocPhysical(to, c.size(), &on, 0); });
      },
      [](C c) { return rtMapMem(c.thing(), c.size(), c.size(), c.thing(), 0); },
      [](C c) { return rtUnmapMem(c.thing()); },
      [](C c) { return rtFreePhysical(c.thing()); },
      [](C c) {
        void* mapped = nullptr;
        return rtHostRegister(c.room(1), c.size(), RT_HOST_REGISTER_MAPPED, &mapped);
      },
      [](C c) { return rtHostUnregister(c.below(2) == 0 ? c.room(1) : c.thing()); },
  };
}

Calls order_calls() {
  using C = Chance&;
  return {
      [](C c) {
        return made(c, [&](void** to) { return rtStreamCreate(to, static_cast<int>(c.below(9))); });
      },
      [](C c) { return rtStreamDestroy(c.thing()); },
      [](C c) { return rtStreamQuery(c.thing()); },
      [](C c) {
        return rtStreamSynchronizeWithTimeout(c.thing(), static_cast<int>(c.below(3)) - 1);
      },
      [](C c) { return rtStreamSetMode(c.thing(), c.below(3)); },
      [](C c) { return made(c, [&](void** to) { return rtEventCreate(to); }); },
      [](C c) { return rtEventDestroy(c.thing()); },
      [](C c) { return rtEventRecord(c.thing(), c.thing()); },
      [](C c) { return rtEventSynchronize(c.thing()); },
      [](C c) { return rtStreamWaitEvent(c.thing(), c.thing()); },
      [](C c) {
        float took = 0;
        return rtEventElapsedTime(&took, c.thing(), c.thing());
      },
      [](C c) { return made(c, [&](void** to) { return rtCtxCreateEx(to, 0, c.device()); }); },
      [](C c) { return rtCtxDestroyEx(c.thing()); },
      [](C c) {
        return rtSetDeviceResLimit(0, static_cast<rtDevResLimitType_t>(c.below(3)),
                                   static_cast<uint32_t>(c.below(30)));
      },
  };
}

Calls launch_calls() {
  using C = Chance&;
  return {
      [](C c) {
        const rtDevBinary_t binary = {c.below(2) == 0 ? NPUSIM_RT_MAGIC_BUILT_IN : 7U, 0, c.room(0),
                                      c.size()};
        return made(c, [&](void** to) { return rtDevBinaryRegister(&binary, to); });
      },
      [](C c) {
        return made(c, [&](void** to) { return rtsFuncGetByName(c.thing(), "spin", to); });
      },
      [](C c) { return rtFunctionRegister(c.thing(), c.thing(), "spin", nullptr, 0); },
      [](C c) { return rtDevBinaryUnRegister(c.thing()); },
      [](C c) {
        npusim_spin_args spin[2] = {{c.below(1000)}, {0}};
        rtArgsEx_t args = {};
        args.args = spin;
        args.argsSize = static_cast<uint32_t>(c.below(12));
        args.hasTiling = static_cast<uint8_t>(c.below(2));
        args.tilingAddrOffset = static_cast<uint32_t>(c.size());
        const auto blocks = static_cast<uint32_t>(c.below(70000));
        return rtKernelLaunchWithHandleV2(c.thing(), 0, blocks, &args, nullptr, c.thing(), nullptr);
      },
      [](C c) { return rtKernelLaunch(c.thing(), 1, nullptr, 0, nullptr, c.thing()); },
      [](C c) {
        static const char* const kNames[] = {"Add", "Relu", "MatMul", "Nothing"};
        const std::int64_t sizes[2] = {static_cast<std::int64_t>(c.below(70)),
                                       static_cast<std::int64_t>(c.below(70))};
        aclTensorDesc* is =
            aclCreateTensorDesc(static_cast<aclDataType>(c.below(4)), 2, sizes, ACL_FORMAT_ND);
        aclDataBuffer* data = aclCreateDataBuffer(c.thing(), c.size());
        aclTensorDesc* all[2] = {is, is};
        aclDataBuffer* both[2] = {data, c.below(9) == 0 ? nullptr : data};
        const int status = aclopExecuteV2(kNames[c.below(4)], static_cast<int>(c.below(4)) % 3, all,
                                          both, 1, all, both, nullptr, c.thing());
        aclDestroyTensorDesc(is);
        aclDestroyDataBuffer(data);
        return status;
      },
  };
}

Calls hal_calls() {
  using C = Chance&;
  return {
      [](C c) {
        return halMemAgentOpen(static_cast<uint32_t>(c.device()),
                               static_cast<uint32_t>(c.below(3)));
      },
      [](C c) {
        return halMemAgentClose(static_cast<uint32_t>(c.device()),
                                static_cast<uint32_t>(c.below(3)));
      },
      [](C c) {
        static constexpr unsigned long long kKinds[] = {
            MEM_DEV, MEM_HOST, MEM_SVM, MEM_UVM, MEM_HOST_UVA, 9ULL << MEM_VIRT_BIT};
        const auto flag = kKinds[c.below(6)] | (c.below(8) == 0 ? c.number() << 14 : 0);
        return made(c, [&](void** to) { return halMemAlloc(to, c.host_size(), flag); });
      },
      [](C c) { return end(c, halMemFree); },
      [](C c) {
        const auto to = reinterpret_cast<DVdeviceptr>(c.thing()),
                   from = reinterpret_cast<DVdeviceptr>(c.thing());
        return c.below(2) == 0 ? halSdmaCopy(to, c.size(), from, c.size())
                               : drvMemcpy(to, c.size(), from, c.size());
      },
      [](C c) {
        return halMemAdvise(reinterpret_cast<DVdeviceptr>(c.thing()), c.size(),
                            static_cast<unsigned>(c.below(6)), static_cast<uint32_t>(c.device()));
      },
      [](C c) {
        DVdeviceptr begin = 0;
        size_t size = 0;
        return halMemGetAddressRange(reinterpret_cast<DVdeviceptr>(c.thing()), &begin, &size);
      },
      [](C c) {
        void* mapped = nullptr;
        return halHostRegister(c.below(4) == 0 ? c.thing() : c.room(2), c.size(),
                               static_cast<uint32_t>(c.below(6)), static_cast<uint32_t>(c.device()),
                               &mapped);
      },
      [](C c) {
        return halHostUnregister(c.below(4) == 0 ? c.thing() : c.room(2),
                                 static_cast<uint32_t>(c.device()));
      },
      [](C c) {
        mem_module_usage usage[3];
        size_t count = 0;
        return halGetMemUsageInfo(static_cast<uint32_t>(c.device()), usage, c.below(4), &count);
      },
      [](C c) {
        const auto align = c.below(4) == 0 ? static_cast<unsigned>(c.number()) : 1U << c.below(22);
        const unsigned long flag = c.below(4) == 0 ? c.number() : c.below(2) * BUFF_SP_SVM;
        return made(
            c, [&](void** to) { return halBuffAllocAlignEx(c.host_size(), align, flag, 0, to); });
      },
      [](C c) { return end(c, halBuffFree); },
  };
}

Calls message_calls() {
  using C = Chance&;
  return {
      [](C c) {
        Mbuf* message = nullptr;
        const int status = halMbufAlloc(c.size() % (1 << 20), &message);
        if (status == 0) c.keep(message);
        return status;
      },
      [](C c) { return halMbufFree(c.message()); },
      [](C c) {
        Mbuf* copy = nullptr;
        const int status = halMbufCopyRef(c.message(), &copy);
        if (status == 0) c.keep(copy);
        return status;
      },
      [](C c) { return halMbufChainAppend(c.message(), c.message()); },
      [](C c) { return halMbufSetDataLen(c.message(), c.size()); },
      [](C c) {
        void* buffer = nullptr;
        std::uint64_t length = 0;
        return halMbufUnBuild(c.message(), &buffer, &length);
      },
  };
}

bool is_code(int status) {
  return status == 0 || (status >= 1 && status <= 16) || status == DRV_ERROR_NOT_SUPPORT ||
         (status >= 100000 && status < 108000) || (status >= 207000 && status < 208000) ||
         (status >= 507000 && status < 508000);
}

int run(std::uint64_t seed, unsigned rounds) {
  constexpr std::size_t kKept = 4096;
  Chance chance(seed);
  void *kept = nullptr, *managed = nullptr;
  std::vector<unsigned char> bytes(kKept, 0x5A), back(kKept);
  if (rtSetDevice(0) != 0 || drvDeviceOpen(nullptr, 0) != 0) return 1;
  // What libraries map for themselves must not come where pinned memory was.
  if (rtMemAllocManaged(&managed, kPage, 1, 7) != 0) return 1;
  if (halMemAlloc(&managed, kPage, MEM_SVM) != 0) return 1;
  if (rtMalloc(&kept, kKept, RT_MEMORY_HBM, 33) != 0) return 1;
  if (rtMemcpy(kept, kKept, bytes.data(), kKept, RT_MEMCPY_HOST_TO_DEVICE) != 0) return 1;
  const Calls all[] = {memory_calls(), order_calls(), launch_calls(), hal_calls(), message_calls()};
  unsigned failed = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const auto& calls = all[chance.below(5)];
    const auto which = chance.below(calls.size());
    const int status = calls[which](chance);
    failed += status != 0;
    if (!is_code(status))
      return std::printf("call %zu: %d\n", static_cast<std::size_t>(which), status), 1;
  }
  // The thread may have no context any more, for it may have destroyed its own.
  if (rtSetDevice(0) != 0) return 1;
  if (rtMemcpy(back.data(), kKept, kept, kKept, RT_MEMCPY_DEVICE_TO_HOST) != 0) return 1;
  if (back != bytes) return std::puts("memory that nobody had named is another one"), 1;
  if (failed == rounds || failed == 0) return std::puts("all alike"), 1;
  std::puts("right");
  return 0;
}

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return npu::fuzz::run(std::strtoull(argv[1], nullptr, 10),
                        static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
}
