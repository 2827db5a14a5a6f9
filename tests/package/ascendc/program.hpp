// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder have in common.
#pragma once

#include <acl/acl.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

inline void expect(aclError wanted, aclError got, const char* what, int line) {
  if (wanted == got) return;
  std::fprintf(stderr, "line %d: %s: %d, expected %d: %s\n", line, what, got, wanted,
               aclGetRecentErrMsg());
  std::exit(1);
}
#define OK(call) expect(ACL_SUCCESS, call, #call, __LINE__)
#define EXPECT(code, call) expect(code, call, #call, __LINE__)
#define REQUIRE(what)                                                 \
  do {                                                                \
    if (!(what)) {                                                    \
      std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what); \
      std::exit(1);                                                   \
    }                                                                 \
  } while (0)

inline aclrtFuncHandle function_of(const char* file, const char* name) {
  aclrtBinHandle binary = nullptr;
  aclrtFuncHandle function = nullptr;
  OK(aclrtBinaryLoadFromFile(file, nullptr, &binary));
  OK(aclrtBinaryGetFunction(binary, name, &function));
  return function;
}

// A vector on the card.
template <class T>
class OnCard {
 public:
  explicit OnCard(const std::vector<T>& values) : size_(values.size()) {
    OK(aclrtMalloc(&address_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(address_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  ~OnCard() { OK(aclrtFree(address_)); }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  void* address() const { return address_; }
  std::vector<T> values() const {
    std::vector<T> all(size_);
    OK(aclrtMemcpy(all.data(), bytes(), address_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    return all;
  }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::size_t size_;
  void* address_ = nullptr;
};

// Multiples of 1/8 from -8 to 8 in fp16, which sums and products of few are exact in.
inline std::uint16_t half_of(float value) {
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // 0.5 .. 1
  const auto bits = static_cast<std::uint32_t>(std::ldexp(fraction, 11)) & 0x3FFU;
  return static_cast<std::uint16_t>((value < 0 ? 0x8000U : 0U) |
                                    static_cast<std::uint32_t>(exponent + 14) << 10 | bits);
}
