// SPDX-License-Identifier: Apache-2.0
// processes RANK RANKS root FILE|table FILE|dies FILE: one rank of several programs. They meet by a
// root info that rank 0 leaves in the file, or by a rank table. "dies": the last rank ends in the
// midst of it, and the others are told.
#include <unistd.h>

#include <fstream>
#include <string>

#include "ranks.hpp"

namespace {

constexpr std::uint64_t kCount = 1000;

HcclRootInfo root_info(unsigned rank, const std::string& file) {
  HcclRootInfo info;
  if (rank == 0) {
    OK(HcclGetRootInfo(&info));
    std::ofstream(file + ".new", std::ios::binary).write(info.internal, sizeof info.internal);
    REQUIRE(std::rename((file + ".new").c_str(), file.c_str()) == 0);
    return info;
  }
  std::ifstream there;
  while (there.open(file, std::ios::binary), !there.is_open()) usleep(1000);
  REQUIRE(there.read(info.internal, sizeof info.internal).good());
  return info;
}

HcclComm join(unsigned rank, unsigned ranks, const std::string& way, const std::string& file) {
  HcclComm comm = nullptr;
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  config.hcclBufferSize = 2;
  std::strcpy(config.hcclCommName, "of_processes");
  if (way == "table") {
    EXPECT(HCCL_E_PARA, HcclCommInitClusterInfo(file.c_str(), (rank + 1) % ranks, &comm));
    OK(HcclCommInitClusterInfoConfig(file.c_str(), rank, &config, &comm));
    return comm;
  }
  const auto info = root_info(rank, file);
  OK(HcclCommInitRootInfoConfig(ranks, &info, rank, &config, &comm));
  return comm;
}

void all_reduce(const Rank& rank) {
  Elements own(HCCL_DATA_TYPE_INT32, kCount), wanted(HCCL_DATA_TYPE_INT32, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    own.set(i, static_cast<int>(i * (rank.number + 1)));
    wanted.set(i, static_cast<int>(i * rank.ranks * (rank.ranks + 1) / 2));
  }
  rank.send(own);
  OK(HcclAllReduce(rank.from, rank.to, kCount, own.type(), HCCL_REDUCE_SUM, rank.comm,
                   rank.stream));
  REQUIRE(rank.got(rank.to, wanted));
}

// The peers' work ends with an error, and so does what they begin later.
void lose_one(const Rank& rank) {
  if (rank.number + 1 == rank.ranks) _exit(3);
  OK(HcclAllReduce(rank.from, rank.to, kCount, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, rank.comm,
                   rank.stream));
  REQUIRE(aclrtSynchronizeStream(rank.stream) != ACL_SUCCESS);
  std::fprintf(stderr, "told: %s\n", aclGetRecentErrMsg());
  HcclResult failed = HCCL_SUCCESS;
  OK(HcclGetCommAsyncError(rank.comm, &failed));
  REQUIRE(failed == HCCL_E_REMOTE);
  EXPECT(HCCL_E_REMOTE, HcclBarrier(rank.comm, rank.stream));
}

}  // namespace

int main(int, char** words) {
  const auto number = static_cast<unsigned>(std::atoi(words[1]));
  const auto ranks = static_cast<unsigned>(std::atoi(words[2]));
  const std::string way = words[3];
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(static_cast<int32_t>(number)));
  const auto comm = join(number, ranks, way, words[4]);
  char name[COMM_NAME_MAX_LENGTH];
  OK(HcclGetCommName(comm, name));
  REQUIRE(std::string(name) == "of_processes");
  Rank rank(comm, number);
  REQUIRE(rank.number == number && rank.ranks == ranks);
  all_reduce(rank);
  if (way == "dies") lose_one(rank);
  OK(HcclCommDestroy(comm));
  rank.end();
  OK(aclFinalize());
  std::puts("right");
  return 0;
}
