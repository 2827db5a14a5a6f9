// SPDX-License-Identifier: Apache-2.0
// exec_pools SEED ROUNDS: a program that makes calls of pools, notifies of several programs, waits
// with limits, copies through addresses, snapshots, profiles and binaries at random: with what
// earlier calls gave, what was given back, null, and numbers that stand for nothing. Each call must
// return, with a code that there is; then the device can be given back, and works again.
#include <acl/acl.h>
#include <acl/acl_dump.h>
#include <acl/acl_prof.h>
#include <acl/acl_rt_memory_soma.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/fuzz/random.hpp"

namespace npu::fuzz {
namespace {

constexpr int kCodes[] = {0,      100000, 100004, 100042, 100043, 107000, 107001, 107002,
                          107003, 107017, 107019, 107020, 207000, 207001, 207005, 207007,
                          207008, 207009, 207014, 500000, 507000, 507035, 507046, 507047,
                          507899, 507906, 507907, 507908, 507909, 507912, 507913};
constexpr std::size_t kKept = 24, kBytes = 4096;

uint32_t called(int32_t, void*) {
  return 0;
}

class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    check("aclrtMalloc", aclrtMalloc(&memory_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    check("aclrtMemset", aclrtMemset(memory_, kBytes, 0, kBytes));
    things_ = {nullptr, memory_, reinterpret_cast<void*>(std::uintptr_t{0x4143'4C00'1000})};
    for (int i = 0; i < 4; ++i) stream();
  }

  void round() {
    const std::vector<std::function<void()>> all = {
        [&] { stream(); },   [&] { pool(); },     [&] { pool(); },     [&] { pooled(); },
        [&] { pooled(); },   [&] { freed(); },    [&] { freed(); },    [&] { attribute(); },
        [&] { notify(); },   [&] { notified(); }, [&] { notified(); }, [&] { shared(); },
        [&] { event(); },    [&] { event(); },    [&] { through(); },  [&] { described(); },
        [&] { snapshot(); }, [&] { profile(); },  [&] { mark(); },     [&] { binary(); },
        [&] { dumped(); },   [&] { waited(); },   [&] { waited(); },   [&] { who(); }};
    all[random_.below(all.size())]();
  }

  void end() {
    static_cast<void>(aclrtSnapShotProcessUnlock());
    static_cast<void>(aclprofFinalize());
  }

 private:
  // That there is such a code.
  aclError check(const char* call, aclError code) {
    for (const int known : kCodes) {
      if (code == known) return code;
    }
    std::fprintf(stderr, "exec_pools: %s: %d: %s\n", call, code, aclGetRecentErrMsg());
    std::_Exit(1);
  }
  void* keep(void* thing) {
    if (things_.size() < kKept) things_.push_back(thing);
    things_[3 + random_.below(things_.size() - 3)] = thing;
    return thing;
  }
  void* thing() { return random_.in(things_); }
  void* place() { return static_cast<char*>(memory_) + 8 * random_.below(64); }
  void* one(std::vector<void*>& all) {
    return random_.percent(85) && !all.empty() ? random_.in(all) : thing();
  }

  void stream() {
    void* made = nullptr;
    if (streams_.size() > 8) {
      check("destroy", aclrtDestroyStreamForce(one(streams_)));
      return;
    }
    if (check("create", aclrtCreateStream(&made)) == 0) streams_.push_back(keep(made));
  }
  void pool() {
    void* made = nullptr;
    aclrtMemPoolProps props = {};
    props.location = {
        static_cast<std::uint32_t>(random_.below(20) == 0),
        random_.percent(95) ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST};
    props.maxSize = random_.of<std::size_t>({0, 1 << 20, 16 << 20, SIZE_MAX});
    if (pools_.size() > 3) {
      check("destroy", aclrtMemPoolDestroy(one(pools_)));
      if (random_.percent(30)) pools_.pop_back();
    } else if (check("pool", aclrtMemPoolCreate(&made, &props)) == 0) {
      pools_.push_back(keep(made));
    }
  }
  void pooled() {
    void* made = nullptr;
    const auto size = random_.of<std::size_t>({0, 1, 4096, 1 << 20, SIZE_MAX, SIZE_MAX - 70000});
    const auto got = aclrtMemPoolMallocAsync(&made, size, one(pools_), one(streams_));
    if (check("malloc", got) != 0) return;
    blocks_.push_back(keep(made));
    if (size >= 4096) {
      check("fill", aclrtMemsetAsync(made, 4096, 7, 4096, one(streams_)));
    }
  }
  void freed() {
    check("free", aclrtMemPoolFreeAsync(one(blocks_), one(streams_)));
    if (blocks_.size() > 12) blocks_.erase(blocks_.begin());
    check("trim", aclrtMemPoolTrimTo(one(pools_), random_.of<std::size_t>({0, 1 << 20, SIZE_MAX})));
  }
  void attribute() {
    std::uint64_t value = random_.of<std::uint64_t>({0, 1, 2, 1 << 20, UINT64_MAX});
    const auto which = static_cast<aclrtMemPoolAttr>(random_.below(10));
    check("set", aclrtMemPoolSetAttr(one(pools_), which, random_.percent(95) ? &value : nullptr));
    check("get", aclrtMemPoolGetAttr(one(pools_), which, &value));
  }
  void notify() {
    void* made = nullptr;
    if (notifies_.size() > 6) {
      check("destroy", aclrtDestroyNotify(one(notifies_)));
    } else if (check("notify", aclrtCreateNotify(&made, random_.below(3))) == 0) {
      notifies_.push_back(keep(made));
    }
  }
  void notified() {
    void* const all[] = {one(notifies_)};
    if (random_.percent(60)) check("record", aclrtRecordNotify(all[0], one(streams_)));
    if (random_.percent(60)) check("wait", aclrtWaitAndResetNotify(all[0], one(streams_), 1));
    void* some[] = {one(notifies_), one(notifies_)};
    if (random_.percent(30)) check("reset", aclrtNotifyBatchReset(some, random_.below(3)));
  }
  void shared() {
    char key[65] = "npusim-shared-1";
    std::int32_t pids[] = {0, 1};
    void* made = nullptr;
    const auto flags = random_.of<std::uint64_t>({0, 2, 2, 1});
    const std::size_t length = random_.percent(90) ? sizeof key : random_.below(65);
    check("export", aclrtNotifyGetExportKey(one(notifies_), key, length, flags));
    check("admit", aclrtNotifySetImportPid(one(notifies_), pids, random_.below(3)));
    if (check("import", aclrtNotifyImportByKey(&made, key, flags)) == 0) {
      notifies_.push_back(keep(made));
    }
    check("memory", aclrtIpcMemImportByKey(&made, key, 0));
    if (random_.percent(10)) check("close", aclrtIpcMemClose(key));
  }
  void event() {
    void* made = nullptr;
    aclrtEventWaitStatus status = ACL_EVENT_WAIT_STATUS_RESERVED;
    if (events_.size() < 8 && check("event", aclrtCreateEvent(&made)) == 0) {
      events_.push_back(keep(made));
    }
    if (random_.percent(70)) check("record", aclrtRecordEvent(one(events_), one(streams_)));
    const auto limit = static_cast<std::int32_t>(random_.below(3)) - 1;
    check("wait", aclrtStreamWaitEventWithTimeout(one(streams_), one(events_), limit));
    check("status", aclrtQueryEventWaitStatus(one(events_), &status));
    if (random_.percent(20)) check("destroy", aclrtDestroyEvent(one(events_)));
    if (random_.percent(10)) {
      check("limit", aclrtSetOpWaitTimeout(static_cast<uint32_t>(random_.below(2))));
    }
  }
  void through() {
    void* at = random_.percent(90) ? memory_ : thing();
    check("put", aclrtMemcpy(place(), 8, &at, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    const auto count = random_.of<std::size_t>({0, 8, 64, SIZE_MAX});
    check("through", aclrtMemcpyAsyncWithOffset(
                         static_cast<void**>(random_.percent(90) ? place() : thing()), count,
                         random_.below(4096), static_cast<const void**>(place()), count,
                         random_.of<std::size_t>({0, 64, SIZE_MAX}),
                         static_cast<aclrtMemcpyKind>(5 + random_.below(3)), one(streams_)));
  }
  void described() {
    void* const description = random_.percent(90) ? place() : thing();
    if (random_.percent(70)) {
      check("describe",
            aclrtSetMemcpyDesc(description, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, thing(), thing(),
                               random_.of<std::size_t>({0, 8, 1 << 30}), nullptr));
    }
    check("described",
          aclrtMemcpyAsyncWithDesc(description, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, one(streams_)));
  }
  void snapshot() {
    const auto stage = static_cast<aclrtSnapShotStage>(random_.below(7));
    switch (random_.below(6)) {
      case 0:
        check("lock", aclrtSnapShotProcessLock());
        break;
      case 1:
        check("backup", aclrtSnapShotProcessBackup());
        break;
      case 2:
        check("restore", aclrtSnapShotProcessRestore());
        break;
      case 3:
        check("register", aclrtSnapShotCallbackRegister(stage, called, nullptr));
        break;
      case 4:
        check("unregister", aclrtSnapShotCallbackUnregister(stage, called));
        break;
      default:
        check("unlock", aclrtSnapShotProcessUnlock());
    }
  }
  void profile() {
    std::uint32_t devices[] = {static_cast<std::uint32_t>(random_.below(10) == 0)};
    auto* const config = aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, nullptr, random_.bits());
    switch (random_.below(4)) {
      case 0:
        check("init", aclprofInit("profiles", random_.below(9)));
        break;
      case 1:
        check("start", aclprofStart(config));
        break;
      case 2:
        check("stop", aclprofStop(config));
        break;
      default:
        check("finalize", aclprofFinalize());
    }
    check("destroy", aclprofDestroyConfig(config));
  }
  void mark() {
    void* const stamp = aclprofCreateStamp();
    std::uint32_t number = 0;
    const char text[128] = "a mark";
    check("text",
          aclprofSetStampTraceMessage(stamp, text, static_cast<std::uint32_t>(random_.below(140))));
    check("mark", aclprofMark(stamp));
    check("push", aclprofPush(stamp));
    for (int i = 0; i < 2; ++i) check("pop", aclprofPop());
    check("start", aclprofRangeStart(stamp, &number));
    check("stop", aclprofRangeStop(random_.percent(80) ? number : 77));
    aclprofDestroyStamp(stamp);
  }
  void binary() {
    std::uint32_t count = 0;
    void *functions[2] = {}, *cube = nullptr, *vector = nullptr;
    char name[8];
    check("count", aclrtBinaryGetFunctionCount(thing(), &count));
    check("list", aclrtBinaryEnumerateFunctions(thing(), functions,
                                                static_cast<std::uint32_t>(random_.below(3))));
    check("name", aclrtGetFunctionName(thing(), sizeof name, name));
    check("address", aclrtGetFunctionAddr(thing(), &cube, &vector));
    check("launch", aclrtLaunchKernelV2(thing(), 1, random_.percent(90) ? place() : nullptr, 8,
                                        nullptr, one(streams_)));
  }
  void dumped() {
    acldumpTensorInfo info = {};
    info.tensorAddr = static_cast<std::int64_t*>(thing());
    info.tensorSize = random_.below(64);
    info.addrType = static_cast<acldumpTensorAddressType>(random_.below(3));
    info.shapeNum = static_cast<std::uint32_t>(random_.below(30));
    check("save", acldumpSaveExceptionInfo("x", nullptr, &info, 1));
    check("stop", aclopStopDumpArgs(static_cast<std::uint32_t>(random_.below(3))));
  }
  void waited() {
    check("wait", aclrtSynchronizeStreamWithTimeout(one(streams_), 1));
    if (random_.percent(20)) check("device", aclrtSynchronizeDeviceWithTimeout(1));
  }
  void who() {
    std::int32_t number = 0;
    char text[13] = {};
    aclrtUuid uuid = {};
    const auto device = static_cast<std::int32_t>(random_.below(4)) - 1;
    check("user", aclrtGetUserDevIdByPhyDevId(device, &number));
    check("physical", aclrtGetPhyDevIdByUserDevId(device, &number));
    check("place", aclrtDeviceGetPCIBusId(device, text, sizeof text));
    check("by place", aclrtDeviceGetByPCIBusId(text, &number));
    check("uuid", aclrtDeviceGetUuid(device, &uuid));
    std::uint32_t left = 0;
    check("left", aclrtGetStreamAvailableNum(&left));
  }

  Random random_;
  void* memory_ = nullptr;
  std::vector<void*> things_, streams_, pools_, blocks_, notifies_, events_;
};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
  {
    Program program(std::strtoull(argv[1], nullptr, 10));
    const auto rounds = std::strtoull(argv[2], nullptr, 10);
    for (std::uint64_t i = 0; i < rounds; ++i) program.round();
    program.end();
  }
  void* memory = nullptr;
  if (aclrtResetDeviceForce(0) != 0 || aclrtSetDevice(0) != 0) return 1;
  if (aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0 || aclFinalize() != 0) return 1;
  std::puts("right");
  return 0;
}

}  // namespace
}  // namespace npu::fuzz

int main(int argc, char** argv) {
  return npu::fuzz::main(argc, argv);
}
