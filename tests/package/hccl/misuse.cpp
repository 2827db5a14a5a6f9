// SPDX-License-Identifier: Apache-2.0
// misuse [late]: calls with wrong arguments, of two ranks in one thread; what is suspended,
// destroyed, part of another communicator. "late": ranks that call different operations, or do not
// come, are told after the time-outs of the environment.
#include <string>
#include <thread>

#include "ranks.hpp"

namespace {

constexpr auto kType = HCCL_DATA_TYPE_FP32;
constexpr std::uint64_t kCount = 100, kTooMany = std::uint64_t{1} << 40;

struct Both {
  HcclComm comms[2];
  aclrtStream streams[2];
  void *from[2], *to[2];
};

Both open_both() {
  Both both{};
  std::int32_t devices[] = {0, 1};
  OK(HcclCommInitAll(2, devices, both.comms));
  for (int i = 0; i < 2; ++i) {
    OK(aclrtSetDevice(i));
    OK(aclrtCreateStream(&both.streams[i]));
    OK(aclrtMalloc(&both.from[i], 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&both.to[i], 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  OK(aclrtSetDevice(0));
  return both;
}

void joining() {
  HcclComm comm = nullptr;
  HcclRootInfo info{};
  std::int32_t devices[] = {0, 0, 7};
  EXPECT(HCCL_E_PTR, HcclGetRootInfo(nullptr));
  EXPECT(HCCL_E_PARA, HcclCommInitRootInfo(1, &info, 0, &comm));
  OK(HcclGetRootInfo(&info));
  EXPECT(HCCL_E_RUNTIME, HcclCommInitRootInfo(1, &info, 0, &comm));
  EXPECT(HCCL_E_PARA, HcclCommInitAll(2, devices, &comm));
  EXPECT(HCCL_E_PARA, HcclCommInitAll(1, devices + 2, &comm));
  EXPECT(HCCL_E_PARA, HcclCommInitAll(0, devices, &comm));
  EXPECT(HCCL_E_PTR, HcclCommInitAll(1, nullptr, &comm));
  OK(aclrtSetDevice(0));
  EXPECT(HCCL_E_PTR, HcclCommInitRootInfo(1, nullptr, 0, &comm));
  EXPECT(HCCL_E_PTR, HcclCommInitRootInfo(1, &info, 0, nullptr));
  EXPECT(HCCL_E_PARA, HcclCommInitRootInfo(0, &info, 0, &comm));
  EXPECT(HCCL_E_PARA, HcclCommInitRootInfo(2, &info, 2, &comm));
  HcclCommConfig config{};
  EXPECT(HCCL_E_PARA, HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm));
  HcclCommConfigInit(&config);
  std::strcpy(config.hcclAlgo, "level0:square");
  EXPECT(HCCL_E_PARA, HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm));
  EXPECT(HCCL_E_OPEN_FILE_FAILURE, HcclCommInitClusterInfo("no such file", 0, &comm));
  EXPECT(HCCL_E_PARA, HcclCommInitClusterInfo("/dev/null", 0, &comm));
  config.hcclAlgo[0] = 0;
  config.hcclOpExpansionMode = 8;
  EXPECT(HCCL_E_PARA, HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm));
  config.hcclOpExpansionMode = 3;
  // One rank is a communicator, too.
  std::strcpy(config.hcclAlgo, "allreduce=level0:ring;level1:NHR/others=level0:NA");
  OK(HcclCommInitRootInfoConfig(1, &info, 0, &config, &comm));
  OK(HcclCommDestroy(comm));
  EXPECT(HCCL_E_PARA, HcclCommDestroy(comm));
  EXPECT(HCCL_E_PTR, HcclCommDestroy(nullptr));
}

void arguments(const Both& both) {
  auto* const comm = both.comms[0];
  auto* const stream = both.streams[0];
  auto* const from = both.from[0];
  auto* const to = both.to[0];
  const auto reduce = [&](void* a, void* b, std::uint64_t count, int type, int op, HcclComm c,
                          aclrtStream s) {
    return HcclAllReduce(a, b, count, static_cast<HcclDataType>(type),
                         static_cast<HcclReduceOp>(op), c, s);
  };
  OK(reduce(nullptr, nullptr, 0, kType, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_PTR, reduce(nullptr, to, kCount, kType, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_PTR, reduce(from, nullptr, kCount, kType, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_PTR, reduce(from, to, kCount, kType, HCCL_REDUCE_SUM, nullptr, stream));
  EXPECT(HCCL_E_PTR, reduce(from, to, kCount, kType, HCCL_REDUCE_SUM, comm, nullptr));
  EXPECT(HCCL_E_PARA, reduce(from, to, kTooMany, kType, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_PARA, reduce(from, to, 1040, kType, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_PARA, reduce(from, both.to[1], kCount, kType, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_PARA, reduce(from, to, kCount, 13, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_PARA, reduce(from, to, kCount, kType, 4, comm, stream));
  EXPECT(HCCL_E_NOT_SUPPORT, reduce(from, to, kCount, 15, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_NOT_SUPPORT,
         reduce(from, to, kCount, HCCL_DATA_TYPE_FP64, HCCL_REDUCE_SUM, comm, stream));
  EXPECT(HCCL_E_RUNTIME, reduce(from, to, kCount, kType, HCCL_REDUCE_SUM, comm, both.streams[1]));
  EXPECT(HCCL_E_PARA, reduce(from, to, kCount, kType, HCCL_REDUCE_SUM, from, stream));
  EXPECT(HCCL_E_PARA, HcclBroadcast(from, kCount, kType, 2, comm, stream));
  EXPECT(HCCL_E_PARA, HcclReduce(from, to, kCount, kType, HCCL_REDUCE_SUM, 2, comm, stream));
  EXPECT(HCCL_E_PTR, HcclReduce(from, nullptr, kCount, kType, HCCL_REDUCE_SUM, 0, comm, stream));
  EXPECT(HCCL_E_PTR, HcclScatter(nullptr, to, kCount, kType, 0, comm, stream));
  EXPECT(HCCL_E_PARA, HcclSend(from, kCount, kType, 0, comm, stream));
  EXPECT(HCCL_E_PARA, HcclRecv(to, kCount, kType, 2, comm, stream));
  EXPECT(HCCL_E_PARA, HcclAllGather(from, to, 520, kType, comm, stream));
  EXPECT(HCCL_E_PARA, HcclAlltoAll(from, 10, kType, to, 11, kType, comm, stream));
  EXPECT(HCCL_E_PARA, HcclAlltoAll(from, 10, kType, to, 10, HCCL_DATA_TYPE_INT32, comm, stream));
  EXPECT(HCCL_E_PARA, HcclAlltoAll(from, 10, kType, from, 10, kType, comm, stream));
  const std::uint64_t counts[] = {10, 20}, offsets[] = {0, kTooMany};
  EXPECT(HCCL_E_PARA, HcclAllGatherV(from, 9, to, counts, counts, kType, comm, stream));
  EXPECT(HCCL_E_PARA, HcclAllGatherV(from, 10, to, counts, offsets, kType, comm, stream));
  HcclSendRecvItem item{HCCL_SEND, from, 10, kType, 0};
  EXPECT(HCCL_E_PARA, HcclBatchSendRecv(&item, 1, comm, stream));
  EXPECT(HCCL_E_PARA, HcclBatchSendRecv(&item, 0, comm, stream));
  EXPECT(HCCL_E_PTR, HcclBatchSendRecv(nullptr, 1, comm, stream));
}

// One thread for both ranks, operation by operation.
void reduce_both(const Both& both, const HcclComm comms[2]) {
  for (int i = 0; i < 2; ++i) {
    OK(aclrtSetDevice(i));
    const std::vector<float> own(kCount, static_cast<float>(i + 1));
    OK(aclrtMemcpy(both.from[i], 4096, own.data(), kCount * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(HcclAllReduce(both.from[i], both.to[i], kCount, kType, HCCL_REDUCE_SUM, comms[i],
                     both.streams[i]));
  }
  for (int i = 0; i < 2; ++i) {
    std::vector<float> all(kCount);
    OK(aclrtSetDevice(i));
    OK(aclrtSynchronizeStream(both.streams[i]));
    OK(aclrtMemcpy(all.data(), kCount * 4, both.to[i], kCount * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    for (const auto each : all) REQUIRE(each == 3.0F);
  }
  OK(aclrtSetDevice(0));
}

// Counts that do not fit those of the other rank are refused, and may be put right.
void counts(const Both& both) {
  const std::uint64_t none[] = {0, 0}, behind[] = {0, 20}, to_1[] = {0, 10}, wrong[] = {20, 0},
                      from_0[] = {10, 0}, own[] = {10, 20}, other[] = {11, 20};
  const auto exchange = [&](int rank, const std::uint64_t* sent, const std::uint64_t* received) {
    OK(aclrtSetDevice(rank));
    return HcclAlltoAllV(both.from[rank], sent, behind, kType, both.to[rank], received, behind,
                         kType, both.comms[rank], both.streams[rank]);
  };
  OK(exchange(0, to_1, none));
  EXPECT(HCCL_E_PARA, exchange(1, none, wrong));
  OK(exchange(1, none, from_0));
  const auto gather = [&](int rank, const std::uint64_t* all) {
    OK(aclrtSetDevice(rank));
    return HcclAllGatherV(both.from[rank], all[rank], both.to[rank], all, behind, kType,
                          both.comms[rank], both.streams[rank]);
  };
  OK(gather(0, own));
  EXPECT(HCCL_E_PARA, gather(1, other));
  OK(gather(1, own));
  for (int rank = 0; rank < 2; ++rank) {
    OK(aclrtSetDevice(rank));
    OK(aclrtSynchronizeStream(both.streams[rank]));
  }
  OK(aclrtSetDevice(0));
}

void states(const Both& both) {
  auto* const comm = both.comms[0];
  char name[COMM_NAME_MAX_LENGTH];
  HcclComm found = nullptr;
  HcclCommStatus status = HCCL_COMM_STATUS_RESERVED;
  OK(HcclGetCommName(comm, name));
  OK(HcclCommGetHandleWithName(name, &found));
  REQUIRE(found == comm);
  EXPECT(HCCL_E_NOT_FOUND, HcclCommGetHandleWithName("nobody", &found));
  OK(HcclCommSuspend(comm));
  OK(HcclCommGetStatus(name, &status));
  REQUIRE(status == HCCL_COMM_STATUS_SUSPENDING);
  EXPECT(HCCL_E_SUSPENDING, HcclBarrier(comm, both.streams[0]));
  OK(HcclCommResume(comm));
  reduce_both(both, both.comms);
  // A part of it: one rank alone; and a rank outside.
  std::uint32_t ranks[] = {0};
  HcclComm part = nullptr, none = comm;
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  HcclComm whole = comm;
  EXPECT(HCCL_E_PARA, HcclCreateSubCommConfig(&whole, 1, ranks, 5, 1, &config, &part));
  OK(HcclCreateSubCommConfig(&whole, 1, ranks, 5, 0, &config, &part));
  OK(HcclCreateSubCommConfig(&whole, 1, nullptr, 0xFFFFFFFF, 0, &config, &none));
  REQUIRE(none == nullptr);
  std::uint32_t size = 0;
  OK(HcclGetRankSize(part, &size));
  REQUIRE(size == 1);
  OK(HcclBarrier(part, both.streams[0]));
  OK(aclrtSynchronizeStream(both.streams[0]));
  OK(HcclCommDestroy(part));
  HcclConfigValue value{3};
  EXPECT(HCCL_E_PARA, HcclSetConfig(HCCL_DETERMINISTIC, value));
  value.value = 1;
  OK(HcclSetConfig(HCCL_DETERMINISTIC, value));
  value.value = 0;
  OK(HcclGetConfig(HCCL_DETERMINISTIC, &value));
  REQUIRE(value.value == 1);
  REQUIRE(std::string(HcclGetErrorString(HCCL_E_TIMEOUT)) == "time-out");
  for (const auto one : both.comms) OK(HcclCommDestroy(one));
  EXPECT(HCCL_E_PARA, HcclBarrier(comm, both.streams[0]));
}

// Two ranks of a program on one device: one is refused, and nobody comes to the other.
void on_one_device() {
  HcclRootInfo info{};
  OK(HcclGetRootInfo(&info));
  int results[2];
  const auto join = [&](std::uint32_t rank) {
    HcclComm comm = nullptr;
    OK(aclrtSetDevice(0));
    results[rank] = HcclCommInitRootInfo(2, &info, rank, &comm);
    if (results[rank] == HCCL_E_PARA) std::fprintf(stderr, "told: %s\n", aclGetRecentErrMsg());
  };
  std::thread other(join, 1);
  join(0);
  other.join();
  REQUIRE(results[0] + results[1] == HCCL_E_PARA + HCCL_E_TIMEOUT);
}

void late() {
  HcclComm comm = nullptr;
  HcclRootInfo info{};
  OK(aclrtSetDevice(0));
  OK(HcclGetRootInfo(&info));
  EXPECT(HCCL_E_TIMEOUT, HcclCommInitRootInfo(2, &info, 0, &comm));
  std::fprintf(stderr, "told: %s\n", aclGetRecentErrMsg());
  on_one_device();
  const auto both = open_both();
  // Rank 1 has another operation in mind: it is told at once, and rank 0 when its time is over.
  OK(HcclAllReduce(both.from[0], both.to[0], kCount, kType, HCCL_REDUCE_SUM, both.comms[0],
                   both.streams[0]));
  OK(aclrtSetDevice(1));
  EXPECT(HCCL_E_PARA, HcclAllReduce(both.from[1], both.to[1], kCount, kType, HCCL_REDUCE_MAX,
                                    both.comms[1], both.streams[1]));
  EXPECT(HCCL_E_PARA, HcclBarrier(both.comms[1], both.streams[1]));
  HcclResult failed = HCCL_SUCCESS;
  OK(aclrtSetDevice(0));
  REQUIRE(aclrtSynchronizeStream(both.streams[0]) != ACL_SUCCESS);
  std::fprintf(stderr, "told: %s\n", aclGetRecentErrMsg());
  OK(HcclGetCommAsyncError(both.comms[0], &failed));
  REQUIRE(failed == HCCL_E_REMOTE);
  EXPECT(HCCL_E_REMOTE, HcclBarrier(both.comms[0], both.streams[0]));
  EXPECT(HCCL_E_NOT_SUPPORT, HcclCommResume(both.comms[0]));
  for (const auto one : both.comms) OK(HcclCommDestroy(one));
}

}  // namespace

int main(int count, char**) {
  OK(aclInit(nullptr));
  if (count > 1) {
    late();
  } else {
    joining();
    const auto both = open_both();
    arguments(both);
    counts(both);
    states(both);
  }
  OK(aclFinalize());
  std::puts("right");
  return 0;
}
