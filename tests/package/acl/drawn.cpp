// SPDX-License-Identifier: Apache-2.0
// Random numbers beside a generator of their own here, and their mean and spread.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

constexpr std::uint64_t kSeed = 0x0123'4567'89AB'CDEF;

// Philox 4x32-10, as its authors give it: D. E. Shaw Research, Random123, known answers
// kat_vectors.
struct Philox {
  std::uint32_t counter[4], key[2];

  void run() {
    for (int round = 0; round < 10; ++round) {
      const auto a = std::uint64_t{0xD2511F53} * counter[0];
      const auto b = std::uint64_t{0xCD9E8D57} * counter[2];
      const std::uint32_t next[4] = {std::uint32_t(b >> 32) ^ counter[1] ^ key[0], std::uint32_t(b),
                                     std::uint32_t(a >> 32) ^ counter[3] ^ key[1],
                                     std::uint32_t(a)};
      std::memcpy(counter, next, sizeof counter);
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
  }
};

std::uint32_t word(std::uint64_t counter, std::uint64_t i) {
  const std::uint64_t low = counter + i / 4;
  Philox one = {{std::uint32_t(low), std::uint32_t(low >> 32), low < counter ? 1U : 0U, 0},
                {std::uint32_t(kSeed), std::uint32_t(kSeed >> 32)}};
  one.run();
  return one.counter[i % 4];
}

struct Device {
  aclrtStream stream;
  char* numbers;
  std::uint64_t* counter;
};

template <class T>
aclrtRandomParaInfo value(T from) {
  aclrtRandomParaInfo info = {};
  std::memcpy(info.valueOrAddr, &from, sizeof from);
  info.size = sizeof from;
  return info;
}

aclrtRandomNumTaskInfo task(const Device& device, aclDataType type, aclrtRandomNumFuncType function,
                            std::uint64_t count) {
  aclrtRandomNumTaskInfo info = {};
  info.dataType = type;
  info.randomNumFuncParaInfo.funcType = function;
  info.randomResultAddr = device.numbers;
  info.randomCounterAddr = device.counter;
  info.randomSeed = value(kSeed);
  info.randomNum = value(count);
  return info;
}

template <class T>
std::vector<T> drawn(const Device& device, const aclrtRandomNumTaskInfo& info, std::size_t count) {
  std::vector<T> numbers(count + 1);
  auto* const at = static_cast<char*>(info.randomResultAddr);
  OK(aclrtMemset(at, (count + 1) * sizeof(T), 0x5A, (count + 1) * sizeof(T)));
  OK(aclrtRandomNumAsync(&info, device.stream, nullptr));
  OK(aclrtSynchronizeStream(device.stream));
  OK(aclrtMemcpy(numbers.data(), (count + 1) * sizeof(T), at, (count + 1) * sizeof(T),
                 ACL_MEMCPY_DEVICE_TO_HOST));
  T behind;
  std::memset(&behind, 0x5A, sizeof behind);
  REQUIRE(std::memcmp(&numbers.back(), &behind, sizeof behind) == 0);
  numbers.pop_back();
  return numbers;
}

constexpr auto kUniform = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;

template <class T>
void integers(const Device& device, aclDataType type, std::uint64_t counter, T low, T high,
              std::size_t count) {
  auto info = task(device, type, kUniform, count);
  info.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {value(low), value(high)};
  const auto numbers = drawn<T>(device, info, count);
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t place = sizeof(T) == 8 ? 2 * i : i;
    std::uint64_t add = 0;
    if (sizeof(T) == 8) {
      const auto whole = std::uint64_t{word(counter, place + 1)} << 32 | word(counter, place);
      const std::uint64_t a = whole >> 32, b = whole & UINT32_MAX, c = range >> 32,
                          d = range & UINT32_MAX;
      const std::uint64_t middle = (b * d >> 32) + (a * d & UINT32_MAX) + (b * c & UINT32_MAX);
      add = a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
    } else {
      add = std::uint64_t{word(counter, place)} * std::uint32_t(range) >> 32;
    }
    REQUIRE(numbers[i] == static_cast<T>(static_cast<std::uint64_t>(low) + add));
  }
}

double float_of(std::uint16_t bits, aclDataType type) {
  if (type == ACL_FLOAT16) return aclFloat16ToFloat(bits);
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float number;
  std::memcpy(&number, &wide, sizeof number);
  return number;
}

struct Moments {
  double mean = 0, deviation = 0, least = 1e9, most = -1e9;
};
Moments moments_of(const std::vector<double>& numbers) {
  Moments all;
  double squares = 0;
  for (const double x : numbers) {
    all.mean += x / double(numbers.size());
    squares += x * x / double(numbers.size());
    all.least = std::min(all.least, x);
    all.most = std::max(all.most, x);
  }
  all.deviation = std::sqrt(squares - all.mean * all.mean);
  return all;
}

void is_near(double is, double should, double by) {
  if (std::fabs(is - should) <= by) return;
  std::fprintf(stderr, "%g, should be %g within %g\n", is, should, by);
  std::exit(1);
}

// Of 16384 numbers; five deviations of a mean.
void distribution(const Device& device, aclDataType type, aclrtRandomNumFuncType function, float a,
                  float b) {
  constexpr std::size_t kCount = 16384;
  auto info = task(device, type, function, kCount);
  auto& all = info.randomNumFuncParaInfo.paramInfo.normalDisInfo;
  std::vector<double> numbers;
  if (type == ACL_FLOAT) {
    all = {value(a), value(b)};
    for (const float x : drawn<float>(device, info, kCount)) numbers.push_back(x);
  } else {
    const auto bits = [type](float x) {
      std::uint32_t wide;
      std::memcpy(&wide, &x, sizeof wide);
      return type == ACL_FLOAT16 ? aclFloatToFloat16(x) : std::uint16_t(wide >> 16);
    };
    all = {value(bits(a)), value(bits(b))};
    for (const auto x : drawn<std::uint16_t>(device, info, kCount)) {
      numbers.push_back(float_of(x, type));
    }
  }
  const auto found = moments_of(numbers);
  const bool cut = function == ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
  // Of a normal distribution that is cut at two deviations: 0.8796.
  const double deviation = function == kUniform ? (b - a) / std::sqrt(12.0) : cut ? 0.8796 * b : b;
  is_near(found.mean, function == kUniform ? (a + b) / 2 : a, 5 * deviation / 128);
  is_near(found.deviation, deviation, 0.03 * deviation);
  if (function == kUniform) REQUIRE(found.least >= a && found.most <= b);
  if (cut) REQUIRE(found.least >= a - 2.01 * b && found.most <= a + 2.01 * b);
  if (!cut && function != kUniform) REQUIRE(found.most > a + 3 * b && found.least < a - 3 * b);
}

void floats(const Device& device, std::uint64_t counter) {
  constexpr std::size_t kCount = 1000;
  auto info = task(device, ACL_FLOAT, kUniform, kCount);
  info.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {value(-1.0F), value(1.0F)};
  const auto numbers = drawn<float>(device, info, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE(numbers[i] == -1.0F + float(word(counter, i) >> 8) / 16777216.0F * 2.0F);
  }
  info.randomResultAddr = device.numbers + 4;  // not at a line's beginning
  REQUIRE(drawn<float>(device, info, kCount) == numbers);
}

void bits(const Device& device, std::uint64_t counter) {
  constexpr std::size_t kCount = 4096;
  auto info = task(device, ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK, kCount);
  info.randomNumFuncParaInfo.paramInfo.dropoutBitmaskInfo.dropoutRation = value(0.25F);
  const auto mask = drawn<std::uint8_t>(device, info, kCount / 8);
  for (std::size_t i = 0; i < kCount; ++i) {
    REQUIRE((mask[i / 8] >> i % 8 & 1) == (word(counter, i) < 0xC0000000U));
  }
}

void misuse(const Device& device) {
  auto info = task(device, ACL_INT32, kUniform, 16);
  auto& range = info.randomNumFuncParaInfo.paramInfo.uniformDisInfo;
  range = {value(5), value(5)};
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtRandomNumAsync(nullptr, device.stream, nullptr));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtRandomNumAsync(&info, device.stream, nullptr));
  range.max = value(6);
  OK(aclrtRandomNumAsync(&info, device.stream, nullptr));
  range.max.isAddr = 1;
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtRandomNumAsync(&info, device.stream, nullptr));
  range.max.isAddr = 0;
  info.randomNum = value(std::uint64_t{0});
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtRandomNumAsync(&info, device.stream, nullptr));
  info.randomNum = value(UINT64_MAX);
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtRandomNumAsync(&info, device.stream, nullptr));
  info.randomNum = value(std::uint64_t{16});
  info.dataType = ACL_DOUBLE;
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtRandomNumAsync(&info, device.stream, nullptr));
  info.dataType = ACL_INT32;
  info.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS;
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtRandomNumAsync(&info, device.stream, nullptr));
  info.dataType = ACL_FLOAT;
  info.randomNumFuncParaInfo.paramInfo.normalDisInfo = {value(0.0F), value(-1.0F)};
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtRandomNumAsync(&info, device.stream, nullptr));
  OK(aclrtSynchronizeStream(device.stream));
}

}  // namespace

int main() {
  // The second of the authors' known answers.
  Philox known = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}};
  known.run();
  REQUIRE(known.counter[0] == 0x408f276d && known.counter[1] == 0x41c83b0e &&
          known.counter[2] == 0xa20bc7c6 && known.counter[3] == 0x6d5451fd);
  open_device();
  const Device device = {new_stream(), static_cast<char*>(device_memory(256 << 10)),
                         static_cast<std::uint64_t*>(device_memory(16))};
  for (const std::uint64_t counter : {std::uint64_t{0}, UINT64_MAX - 3}) {
    const std::uint64_t words[2] = {counter, 0};
    OK(aclrtMemcpy(device.counter, 16, words, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    floats(device, counter);
    integers<std::int32_t>(device, ACL_INT32, counter, -7, 100, 777);
    integers<std::uint32_t>(device, ACL_UINT32, counter, 1, UINT32_MAX, 64);
    integers<std::int64_t>(device, ACL_INT64, counter, INT64_MIN, INT64_MAX, 333);
    integers<std::uint64_t>(device, ACL_UINT64, counter, 10, 20, 100);
    bits(device, counter);
  }
  for (const auto type : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
    distribution(device, type, kUniform, 1, 2);
    distribution(device, type, ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, 3, 2);
    distribution(device, type, ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS, 1, 2);
  }
  misuse(device);
  return end_right();
}
