// SPDX-License-Identifier: Apache-2.0
// Threads with streams of their own, in one context.
#include <array>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int kThreads = 8;

void work(aclrtContext context, int number, int rounds, std::mutex& lock, long& total) {
  std::array<char, 4096> there{}, back{};
  there.fill(static_cast<char>(number));
  OK(aclrtSetCurrentContext(context));
  aclrtStream stream = new_stream();
  void* memory = device_memory(there.size());
  for (int i = 0; i < rounds; ++i) {
    OK(aclrtMemcpyAsync(memory, there.size(), there.data(), there.size(), ACL_MEMCPY_HOST_TO_DEVICE,
                        stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(back.data(), back.size(), memory, back.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(back == there);
    const std::lock_guard<std::mutex> held(lock);
    total += number;
  }
  OK(aclrtFree(memory));
  OK(aclrtDestroyStream(stream));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  aclrtContext context = nullptr;
  open_device();
  OK(aclrtGetCurrentContext(&context));
  std::mutex lock;
  long total = 0;
  std::vector<std::thread> threads;
  for (int number = 1; number <= kThreads; ++number) {
    threads.emplace_back([&, number] { work(context, number, rounds, lock, total); });
  }
  for (auto& thread : threads) thread.join();
  REQUIRE(total == static_cast<long>(rounds) * kThreads * (kThreads + 1) / 2);
  end_right();
}
