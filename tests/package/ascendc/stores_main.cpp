// SPDX-License-Identifier: Apache-2.0
// The kernel of stores.cpp, for gdb.
#include "program.hpp"

int main() {
  constexpr std::uint32_t kBlocks = 8, kLine = 16;
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  std::vector<std::uint32_t> words(kBlocks * kLine);
  {
    OnCard<std::uint32_t> there(words);
    void* argument = there.address();
    OK(aclrtLaunchKernel(function_of("stores.o", "store"), kBlocks, &argument, sizeof argument,
                         stream));
    OK(aclrtSynchronizeStream(stream));
    words = there.values();
  }
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    REQUIRE(words[block * kLine] == 100 + block);
  }
  return aclFinalize();
}
