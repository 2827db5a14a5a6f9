// SPDX-License-Identifier: Apache-2.0
// heaps SEED THREADS ROUNDS: threads allocate and free at random; every allocation keeps its bytes,
// and at the end there is as much as before.
#include <acl/acl.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {

void check(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "heaps: %s: %s\n", what, aclGetRecentErrMsg());
  std::_Exit(1);
}

std::size_t left() {
  std::size_t free = 0, total = 0;
  check(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) == ACL_SUCCESS, "memory information");
  return free;
}

struct Block {
  char* at;
  std::size_t size;
  std::uint64_t word;
};

// In the first and the last 8 bytes.
void write(const Block& block) {
  for (auto* const end : {block.at, block.at + block.size - 8}) {
    check(aclrtMemcpy(end, 8, &block.word, 8, ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS, "write");
  }
}

void expect(const Block& block) {
  for (const auto* const end : {block.at, block.at + block.size - 8}) {
    std::uint64_t word = 0;
    check(aclrtMemcpy(&word, 8, end, 8, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS, "read");
    check(word == block.word, "an allocation has another's bytes");
  }
}

void run(unsigned seed, int rounds) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  check(aclrtSetDevice(0) == ACL_SUCCESS, "device");
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream) == ACL_SUCCESS, "stream");
  const auto drop = [&](std::size_t index) {
    std::swap(blocks[index], blocks.back());
    expect(blocks.back());
    // Freed under work: it is nobody else's before that has ended.
    if (random() % 3 == 0) aclrtMemsetAsync(blocks.back().at, 8, 0xEE, 8, stream);
    check(aclrtFree(blocks.back().at) == ACL_SUCCESS, "free");
    blocks.pop_back();
  };
  for (int i = 0; i < rounds; ++i) {
    if (!blocks.empty() && random() % 5 < 2) drop(random() % blocks.size());
    const std::size_t most = random() % 10 == 0 ? 3 << 20 : random() % 3 == 0 ? 100'000 : 500;
    Block block{nullptr, 16 + random() % most, (std::uint64_t{seed} << 32) + unsigned(i)};
    const auto policy = static_cast<aclrtMemMallocPolicy>(random() % 8 == 0 ? random() % 3 : 0);
    void* memory = nullptr;
    const auto got = aclrtMalloc(&memory, block.size, policy);
    if (got == ACL_ERROR_RT_MEMORY_ALLOCATION) continue;
    check(got == ACL_SUCCESS, "allocate");
    block.at = static_cast<char*>(memory);
    write(block);
    blocks.push_back(block);
  }
  while (!blocks.empty()) drop(random() % blocks.size());
  check(aclrtSynchronizeStream(stream) == ACL_SUCCESS, "synchronize");
  check(aclrtDestroyStream(stream) == ACL_SUCCESS, "stream");
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 4, "SEED THREADS ROUNDS");
  check(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS, "begin");
  const auto before = left();
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    threads.emplace_back(run, static_cast<unsigned>(100 * std::atoi(argv[1]) + i),
                         std::atoi(argv[3]));
  }
  for (auto& thread : threads) thread.join();
  check(left() == before, "memory is missing");
  check(aclFinalize() == ACL_SUCCESS, "end");
  std::puts("right");
  return 0;
}
