// SPDX-License-Identifier: Apache-2.0
// The kernels of products.cpp, against what is computed here. Operands are small multiples of 1/8:
// sums in fp32 are exact.
#include "program.hpp"

namespace {

void multiply(const char* name, std::uint32_t m, std::uint32_t k, std::uint32_t n,
              aclrtStream stream) {
  std::vector<std::uint16_t> a(m * k), b(k * n);
  std::vector<float> a_values(a.size()), b_values(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a_values[i] = static_cast<float>(static_cast<int>(i * 7 % 19) - 9) / 8;
    a[i] = half_of(a_values[i]);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    b_values[i] = static_cast<float>(static_cast<int>(i * 5 % 23) - 11) / 8;
    b[i] = half_of(b_values[i]);
  }
  const bool half = std::string(name) == "product_half";
  std::vector<char> c(m * n * (half ? 2 : 4));
  OnCard<std::uint16_t> da(a), db(b);
  OnCard<char> dc(c);
  struct {
    void *a, *b, *c;
    std::uint32_t m, k, n;
  } arguments{da.address(), db.address(), dc.address(), m, k, n};
  OK(aclrtLaunchKernel(function_of("products.o", name), 5, &arguments, sizeof arguments, stream));
  OK(aclrtSynchronizeStream(stream));
  c = dc.values();
  for (std::uint32_t row = 0; row < m; ++row) {
    for (std::uint32_t column = 0; column < n; ++column) {
      float wanted = 0;
      for (std::uint32_t i = 0; i < k; ++i)
        wanted += a_values[row * k + i] * b_values[i * n + column];
      const std::size_t at = row * n + column;
      float got = 0;
      if (!half) std::memcpy(&got, &c[at * 4], 4);
      std::uint16_t bits = 0;
      if (half) std::memcpy(&bits, &c[at * 2], 2);
      // A real of two bytes has 11 bits: compared as what a half is, within half of its last one.
      if (half) {
        const int exponent = (bits >> 10 & 31) - 15;
        got = std::ldexp(static_cast<float>((bits & 1023) + 1024), exponent - 10);
        if ((bits & 0x7FFF) == 0) got = 0;
        if ((bits & 0x8000) != 0) got = -got;
      }
      REQUIRE(std::fabs(got - wanted) <= (half ? std::fabs(wanted) / 2048 : 0));
    }
  }
}

}  // namespace

int main() {
  OK(aclInit(nullptr));
  OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  OK(aclrtCreateStream(&stream));
  multiply("product_float", 48, 64, 80, stream);
  multiply("product_float", 144, 320, 240, stream);  // 3 x 3 tiles of 5 parts
  multiply("product_float", 16, 16, 16, stream);
  multiply("product_float", 100, 150, 90, stream);  // no whole fractals
  multiply("product_float", 1, 7, 3, stream);
  multiply("product_parts", 144, 320, 240, stream);  // of five blocks each one part
  multiply("product_parts", 50, 700, 90, stream);
  multiply("product_half", 112, 192, 176, stream);
  OK(aclrtDestroyStream(stream));
  OK(aclFinalize());
  std::puts("right");
}
