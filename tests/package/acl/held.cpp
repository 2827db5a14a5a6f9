// SPDX-License-Identifier: Apache-2.0
// Launches behind a kernel that holds their stream up keep their arguments, however many others are
// launched meanwhile; other streams do not wait for them.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "spin.h"

namespace {

constexpr int kHeld = 100;  // fewer than a stream holds: the next launch would wait
constexpr int kOthers = 500;
constexpr std::size_t kElements = 64;

struct Vectors {
  float *a = nullptr, *b = nullptr, *sum = nullptr;
};

float* allocate(std::size_t elements) {
  void* memory = device_memory(elements * sizeof(float));
  return static_cast<float*>(memory);
}

std::uint64_t address(const float* at) {
  return reinterpret_cast<std::uintptr_t>(at);
}

// sum[place] = a[place] + b[place], each place of its own.
void add(aclrtFuncHandle function, aclrtStream stream, const Vectors& all, std::size_t place) {
  const npusim_elementwise_args args = {address(all.sum + place * kElements),
                                        address(all.a + place * kElements),
                                        address(all.b + place * kElements), kElements, ACL_FLOAT};
  OK(aclrtLaunchKernel(function, 1, &args, sizeof args, stream));
}

}  // namespace

int main() {
  open_device();
  aclrtStream held = new_stream();
  aclrtStream other = new_stream();
  const auto spins = built_in("spin"), adds = built_in("add");
  const std::size_t count = (kHeld + kOthers) * kElements;
  Vectors all{allocate(count), allocate(count), allocate(count)};
  std::vector<float> a(count), b(count), sum(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<float>(i % 1009);
    b[i] = static_cast<float>(i / kElements);
  }
  const auto bytes = count * sizeof(float);
  OK(aclrtMemcpy(all.a, bytes, a.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemcpy(all.b, bytes, b.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  OK(aclrtMemset(all.sum, bytes, 0xFF, bytes));
  spin(spins, held, 20000);
  for (std::size_t i = 0; i < kHeld; ++i) add(adds, held, all, i);
  for (std::size_t i = 0; i < kOthers; ++i) add(adds, other, all, kHeld + i);
  OK(aclrtSynchronizeStream(other));
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  OK(aclrtStreamQuery(held, &status));
  REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
  OK(aclrtSynchronizeStream(held));
  OK(aclrtMemcpy(sum.data(), bytes, all.sum, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (std::size_t i = 0; i < count; ++i) REQUIRE(sum[i] == a[i] + b[i]);
  end_right();
}
