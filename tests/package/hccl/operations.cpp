// SPDX-License-Identifier: Apache-2.0
// operations [few]: every operation with every type, or with three: a thread for each rank, results
// compared by value.
#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>

#include "ranks.hpp"

namespace {

constexpr std::size_t kCount = 37;  // of no ranks a multiple

// Of the rank's element: small enough for sums of 16 ranks in 8 bits, and never negative.
int value_of(unsigned rank, std::size_t at) {
  return static_cast<int>((rank * 5 + at * 3) % 8);
}

Elements part(HcclDataType type, unsigned rank, std::size_t count, std::size_t first = 0) {
  Elements all(type, count);
  for (std::size_t i = 0; i < count; ++i) all.set(i, value_of(rank, first + i));
  return all;
}

Elements reduced(const Rank& rank, HcclDataType type, HcclReduceOp op, std::size_t first) {
  Elements all(type, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    int result = value_of(0, first + i);
    for (unsigned other = 1; other < rank.ranks; ++other) {
      const int value = value_of(other, first + i);
      result = op == HCCL_REDUCE_SUM   ? result + value
               : op == HCCL_REDUCE_MAX ? std::max(result, value)
                                       : std::min(result, value);
    }
    all.set(i, result);
  }
  return all;
}

void reductions(const Rank& rank, HcclDataType type, HcclReduceOp op) {
  const auto own = part(type, rank.number, kCount);
  const unsigned root = rank.ranks - 1;
  rank.send(own);
  OK(HcclAllReduce(rank.from, rank.to, kCount, type, op, rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, reduced(rank, type, op, 0)));
  rank.send(own);
  OK(HcclReduce(rank.from, rank.to, kCount, type, op, root, rank.comm, rank.stream));
  REQUIRE(rank.number != root || rank.got(rank.to, reduced(rank, type, op, 0)));
  rank.send(part(type, rank.number, kCount * rank.ranks));
  OK(HcclReduceScatter(rank.from, rank.to, kCount, type, op, rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, reduced(rank, type, op, kCount * rank.number)));
  const std::vector<std::uint64_t> counts(rank.ranks, kCount);
  std::vector<std::uint64_t> offsets(rank.ranks);
  for (unsigned i = 0; i < rank.ranks; ++i) offsets[i] = kCount * i;
  OK(HcclReduceScatterV(rank.from, counts.data(), offsets.data(), rank.to, kCount, type, op,
                        rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, reduced(rank, type, op, kCount * rank.number)));
}

// What every rank has of all: of each its `count` elements from the first one on.
Elements gathered(const Rank& rank, HcclDataType type, std::size_t first) {
  Elements all(type, kCount * rank.ranks);
  for (unsigned other = 0; other < rank.ranks; ++other) {
    for (std::size_t i = 0; i < kCount; ++i)
      all.set(other * kCount + i, value_of(other, first + i));
  }
  return all;
}

void movements(const Rank& rank, HcclDataType type) {
  const auto own = part(type, rank.number, kCount * rank.ranks);
  rank.send(own);
  OK(HcclAllGather(rank.from, rank.to, kCount, type, rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, gathered(rank, type, 0)));
  rank.send(own);
  OK(HcclAlltoAll(rank.from, kCount, type, rank.to, kCount, type, rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, gathered(rank, type, kCount * rank.number)));
  rank.send(own);
  OK(HcclScatter(rank.number == 0 ? rank.from : nullptr, rank.to, kCount, type, 0, rank.comm,
                 rank.stream));
  REQUIRE(rank.got(rank.to, part(type, 0, kCount, kCount * rank.number)));
  rank.send(own);
  OK(HcclBroadcast(rank.from, kCount, type, rank.ranks - 1, rank.comm, rank.stream));
  REQUIRE(rank.got(rank.from, part(type, rank.ranks - 1, kCount)));
  // Pairs: even ranks send first.
  rank.send(own);
  const unsigned other = rank.number ^ 1U;
  for (unsigned turn = 0; other < rank.ranks && turn < 2; ++turn) {
    if (rank.number % 2 == turn) {
      OK(HcclSend(rank.from, kCount, type, other, rank.comm, rank.stream));
    } else {
      OK(HcclRecv(rank.to, kCount, type, other, rank.comm, rank.stream));
    }
  }
  REQUIRE(other >= rank.ranks || rank.got(rank.to, part(type, other, kCount)));
}

// Rank i sends i + j + 1 elements to rank j, behind a gap.
void counted(const Rank& rank, HcclDataType type) {
  const auto n = rank.ranks;
  std::vector<std::uint64_t> matrix(n * n), sent(n), received(n), sent_at(n), received_at(n);
  for (unsigned i = 0; i < n * n; ++i) matrix[i] = i / n + i % n + 1;
  for (unsigned i = 0; i < n; ++i) {
    sent[i] = matrix[rank.number * n + i];
    received[i] = matrix[i * n + rank.number];
    if (i == 0) continue;
    sent_at[i] = sent_at[i - 1] + sent[i - 1];
    received_at[i] = received_at[i - 1] + received[i - 1];
  }
  Elements wanted(type, received_at[n - 1] + received[n - 1]);
  for (unsigned i = 0; i < n; ++i) {
    std::size_t first = 0;
    for (unsigned j = 0; j < rank.number; ++j) first += matrix[i * n + j];
    for (std::size_t k = 0; k < received[i]; ++k) {
      wanted.set(received_at[i] + k, value_of(i, first + k));
    }
  }
  const auto own = part(type, rank.number, sent_at[n - 1] + sent[n - 1]);
  rank.send(own);
  OK(HcclAlltoAllV(rank.from, sent.data(), sent_at.data(), type, rank.to, received.data(),
                   received_at.data(), type, rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, wanted));
  rank.send(own);
  OK(HcclAlltoAllVC(rank.from, matrix.data(), type, rank.to, type, rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, wanted));
  // Of rank i there are i + 1 elements, in the opposite order.
  std::vector<std::uint64_t> counts(n), offsets(n);
  std::iota(counts.begin(), counts.end(), 1);
  for (unsigned i = n - 1; i-- > 0;) offsets[i] = offsets[i + 1] + counts[i + 1];
  Elements all(type, offsets[0] + counts[0]);
  for (unsigned i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < counts[i]; ++k) all.set(offsets[i] + k, value_of(i, k));
  }
  rank.send(own);
  OK(HcclAllGatherV(rank.from, rank.number + 1, rank.to, counts.data(), offsets.data(), type,
                    rank.comm, rank.stream));
  REQUIRE(rank.got(rank.to, all));
}

// To both neighbours and itself at once, in whatever order.
void ring(const Rank& rank) {
  const unsigned next = (rank.number + 1) % rank.ranks;
  const unsigned last = (rank.number + rank.ranks - 1) % rank.ranks;
  const auto type = HCCL_DATA_TYPE_FP32;
  auto* const to = static_cast<char*>(rank.to);
  const std::size_t bytes = kCount * sizeof(float);
  rank.send(part(type, rank.number, kCount));
  HcclSendRecvItem items[] = {{HCCL_RECV, to, kCount, type, last},
                              {HCCL_SEND, rank.from, kCount, type, next},
                              {HCCL_SEND, rank.from, kCount, type, rank.number},
                              {HCCL_RECV, to + bytes, kCount, type, rank.number}};
  OK(HcclBatchSendRecv(items, 4, rank.comm, rank.stream));
  REQUIRE(rank.got(to, part(type, last, kCount)));
  REQUIRE(rank.got(to + bytes, part(type, rank.number, kCount)));
}

void each_rank(HcclComm comm, unsigned device, bool few) {
  Rank rank(comm, device);
  for (int number = HCCL_DATA_TYPE_INT8; number <= HCCL_DATA_TYPE_BFP16; ++number) {
    const auto type = static_cast<HcclDataType>(number);
    const bool chosen =
        type == HCCL_DATA_TYPE_INT8 || type == HCCL_DATA_TYPE_FP32 || type == HCCL_DATA_TYPE_BFP16;
    if (few && !chosen) continue;
    movements(rank, type);
    counted(rank, type);
    for (const auto op : {HCCL_REDUCE_SUM, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN}) {
      if (can_reduce(type)) reductions(rank, type, op);
    }
    EXPECT(HCCL_E_NOT_SUPPORT, HcclAllReduce(rank.from, rank.to, kCount, type, HCCL_REDUCE_PROD,
                                             rank.comm, rank.stream));
  }
  ring(rank);
  OK(HcclBarrier(rank.comm, rank.stream));
  OK(aclrtSynchronizeStream(rank.stream));
  HcclResult failed = HCCL_E_INTERNAL;
  OK(HcclGetCommAsyncError(rank.comm, &failed));
  REQUIRE(failed == HCCL_SUCCESS);
  rank.end();
}

}  // namespace

int main(int words, char**) {
  std::uint32_t count = 0;
  OK(aclInit(nullptr));
  OK(aclrtGetDeviceCount(&count));
  std::vector<std::int32_t> devices(count);
  std::iota(devices.begin(), devices.end(), 0);
  std::vector<HcclComm> comms(count);
  OK(HcclCommInitAll(count, devices.data(), comms.data()));
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(each_rank, comms[i], i, words > 1);
  for (auto& thread : threads) thread.join();
  for (const auto comm : comms) OK(HcclCommDestroy(comm));
  OK(aclFinalize());
  std::puts("right");
  return 0;
}
