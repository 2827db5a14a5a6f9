// SPDX-License-Identifier: Apache-2.0
// The kernels of totals.cpp, against what is computed here.
#include "program.hpp"

namespace {

constexpr std::uint32_t kCount = 512, kBlocks = 24;
enum How : std::uint32_t { kSum, kMost, kLeast };

aclrtStream stream;

template <class T>
T reduced(std::uint32_t how, T a, T b) {
  if (how == kMost) return a > b ? a : b;
  if (how == kLeast) return a < b ? a : b;
  return static_cast<T>(a + b);  // wraps
}

template <class T>
void total(const char* name, std::uint32_t how) {
  std::vector<T> from(kBlocks * kCount), wanted(kCount, T{3}), zeros(kCount);
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<T>(static_cast<int>(i * 37 % 251 % 101) - 50);
  const OnCard<T> in(from), to(wanted), last(zeros);
  for (std::size_t i = 0; i < from.size(); ++i) {
    wanted[i % kCount] = reduced(how, wanted[i % kCount], from[i]);
  }
  struct {
    void *from, *to, *last;
    std::uint32_t how;
  } arguments{in.address(), to.address(), last.address(), how};
  OK(aclrtLaunchKernel(function_of("totals.o", name), kBlocks, &arguments, sizeof arguments,
                       stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(to.values() == wanted);
  from.resize(kCount);
  REQUIRE(last.values() == from);
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  OK(aclrtCreateStream(&stream));
  for (const std::uint32_t how : {kSum, kMost, kLeast}) {
    total<float>("total_float", how);
    total<std::int32_t>("total_int32", how);
    total<std::int16_t>("total_int16", how);
    total<std::int8_t>("total_int8", how);
  }
  {
    const OnCard<float> words(std::vector<float>(kCount, 0));
    struct {
      void *from, *to;
    } arguments{words.address(), words.address()};
    OK(aclrtLaunchKernel(function_of("totals.o", "left_on"), kBlocks, &arguments, sizeof arguments,
                         stream));
    total<float>("total_float", kMost);
    OK(aclrtLaunchKernel(function_of("totals.o", "odd"), 1, &arguments, sizeof arguments, stream));
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
  }
  OK(aclrtDestroyStream(stream));
  OK(aclFinalize());
  std::puts("right");
}
