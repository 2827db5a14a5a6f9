// SPDX-License-Identifier: Apache-2.0
// A program with kernels of its own, launched by <<<>>>: mixed.cpp is linked to it.
#include "mixed.hpp"

#include "program.hpp"

int main() {
  constexpr std::uint16_t kSide = 32;
  constexpr std::uint32_t kBlocks = 5, kElements = kSide * kSide;
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  std::vector<std::uint16_t> a(kElements), b(kBlocks * kElements);
  std::vector<float> a_values(a.size()), b_values(b.size()), c(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a_values[i] = static_cast<float>(static_cast<int>(i * 7 % 19) - 9) / 8;
    a[i] = half_of(a_values[i]);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    b_values[i] = static_cast<float>(static_cast<int>(i * 5 % 23) - 11) / 8;
    b[i] = half_of(b_values[i]);
  }
  {
    OnCard<std::uint16_t> da(a), db(b);
    OnCard<float> dc(c);
    OK(multiply(kBlocks, stream, da.address(), db.address(), dc.address(), kSide));
    OK(aclrtSynchronizeStream(stream));
    c = dc.values();
  }
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t block = i / kElements, row = i % kElements / kSide, column = i % kSide;
    float sum = 0;
    for (std::size_t k = 0; k < kSide; ++k) {
      sum += a_values[row * kSide + k] * b_values[block * kElements + k * kSide + column];
    }
    REQUIRE(c[i] == std::fmax(sum, 0.0F));
  }
  for (const int first : {-5, 12}) {
    std::vector<std::int32_t> numbers(100, -1000);
    OnCard<std::int32_t> on_card(numbers);
    OK(number(stream, static_cast<std::int32_t*>(on_card.address()), first, 99));
    OK(aclrtSynchronizeStream(stream));
    numbers = on_card.values();
    for (int i = 0; i < 99; ++i) REQUIRE(numbers[i] == first + i * (first < 0 ? 7 : -3));
    REQUIRE(numbers[99] == -1000);
  }
  OK(aclrtDestroyStream(stream));
  OK(aclFinalize());
  std::puts("right");
}
