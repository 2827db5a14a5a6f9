// SPDX-License-Identifier: Apache-2.0
// Random numbers by the scalar unit of vector cores: Philox 4x32-10 (Salmon et al., SC'11), a
// generator without a state, of the seed and of a counter that the number's index is added to.
// Blocks write whole cache lines of their own.
#include "kernels/device/shipped/random.hpp"

#include <algorithm>
#include <cstring>

namespace npu::kernels::random {
namespace {

using Group = std::array<std::uint32_t, 4>;
using aicore::AicorePort;

__extension__ using Wide = unsigned __int128;

constexpr float kTwoPowMinus24 = 1.0F / 16777216.0F;
constexpr float kHalfPi = 1.57079632679F, kLn2 = 0.69314718056F;
constexpr float kLimit = 2.0F;           // of truncated numbers, in standard deviations
constexpr std::uint32_t kAttempts = 64;  // 0.0455^64: never

Group philox(Group counter, std::uint64_t seed) {
  constexpr std::uint64_t kFirst = 0xD251'1F53, kSecond = 0xCD9E'8D57;
  auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
  for (unsigned round = 0; round < 10; ++round) {
    const std::uint64_t a = kFirst * counter[0], b = kSecond * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ low, static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ high, static_cast<std::uint32_t>(a)};
    low += 0x9E37'79B9;
    high += 0xBB67'AE85;
  }
  return counter;
}

std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
float float_of(std::uint64_t word) {
  const auto bits = static_cast<std::uint32_t>(word);
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

float unit(std::uint32_t word) {  // [0, 1)
  return static_cast<float>(word >> 8U) * kTwoPowMinus24;
}

float log_of(float x) {
  const std::uint32_t bits = bits_of(x);
  auto exponent = static_cast<int>(bits >> 23U) - 127;
  float m = float_of((bits & 0x7F'FFFFU) | 0x3F80'0000U);
  if (m > 1.5F) {
    m *= 0.5F;
    ++exponent;
  }
  const float s = (m - 1) / (m + 1), q = s * s;
  const float series = 1 + q * (1.0F / 3 + q * (1.0F / 5 + q * (1.0F / 7 + q * (1.0F / 9))));
  return static_cast<float>(exponent) * kLn2 + 2 * s * series;
}

float root_of(float x) {
  if (x <= 0) return 0;
  float y = float_of(0x5F37'59DFU - (bits_of(x) >> 1U));
  for (int i = 0; i < 4; ++i) y *= 1.5F - 0.5F * x * y * y;
  return x * y;
}

// Cosine and sine of 2 pi u.
void turn(float u, float* cosine, float* sine) {
  const auto quarter = static_cast<unsigned>(u * 4) & 3U;
  const float t = (u * 4 - static_cast<float>(quarter)) * kHalfPi, q = t * t;
  const float c =
      1 - q / 2 * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90 * (1 - q / 132)))));
  const float s = t * (1 - q / 6 * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110)))));
  const float all[4] = {c, -s, -c, s};
  *cosine = all[quarter];
  *sine = all[(quarter + 3U) & 3U];
}

std::uint64_t to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  return (bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U;
}

std::uint64_t to_fp16(float x) {
  const std::uint32_t bits = bits_of(x), sign = bits >> 16U & 0x8000U;
  const std::uint32_t size = bits & 0x7FFF'FFFFU;
  if (size >= 0x4780'0000U) return sign | 0x7C00U;  // 65536 and more
  if (size < 0x3880'0000U) {                        // below the least normal number, 2^-14
    return sign | (bits_of(float_of(size) + 0.5F) - bits_of(0.5F));
  }
  return sign | ((size - 0x3800'0000U + 0xFFFU + (size >> 13U & 1U)) >> 13U);
}

class Generator {
 public:
  Generator(AicorePort& port, const Request& request) : port_(port), request_(request) {
    for (unsigned i = 0; i < 2; ++i) {
      const auto at = request.counter + 8 * i;
      port.clean_invalidate(at / abi::kCacheLine * abi::kCacheLine);
      base_[i] = port.load(at, 8);
    }
    a_ = float_of(request.a);
    b_ = float_of(request.b);
  }

  // Elements of one line of the result, or of what of it there is.
  void line(std::uint64_t address, std::uint64_t first, std::uint64_t end) {
    if (request_.distribution == Distribution::kBits) {
      bits(address, first, end);
    } else {
      numbers(address, first, end);
    }
    port_.clean_invalidate(address / abi::kCacheLine * abi::kCacheLine);
  }

 private:
  Group group(std::uint64_t index, std::uint32_t attempt) const {
    const std::uint64_t low = base_[0] + index;
    const std::uint64_t high = base_[1] + (low < index ? 1 : 0);
    return philox(
        {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32U),
         static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32U) + attempt},
        request_.seed);
  }

  void bits(std::uint64_t address, std::uint64_t first, std::uint64_t end) {
    const auto limit = static_cast<std::uint64_t>(static_cast<double>(a_) * 4294967296.0);
    std::uint64_t byte = 0;
    for (std::uint64_t i = first; i < end; ++i) {
      const auto words = group(i / 4, 0);
      if (words[i % 4] < limit) byte |= std::uint64_t{1} << i % 8;
      if (i % 8 != 7 && i + 1 != end) continue;
      port_.store(address++, 1, byte);
      byte = 0;
    }
  }

  void numbers(std::uint64_t address, std::uint64_t first, std::uint64_t end) {
    const unsigned bytes = bytes_of(request_.type);
    const std::uint64_t each = bytes == 8 ? 2 : 4;  // of a group
    Group words{};
    std::array<float, 4> normal{};
    std::uint64_t known = UINT64_MAX;
    for (std::uint64_t i = first; i < end; ++i, address += bytes) {
      if (i / each != known) {
        known = i / each;
        words = group(known, 0);
        if (request_.distribution != Distribution::kUniform) normal = normals(known, words);
      }
      const auto place = static_cast<unsigned>(i % each);
      port_.store(address, bytes, number(words, normal, place));
    }
  }

  std::array<float, 4> normals(std::uint64_t index, Group words) const {
    std::array<float, 4> result{};
    std::array<bool, 4> has{};
    for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
      if (attempt != 0) words = group(index, attempt);
      std::array<float, 4> drawn{};
      for (unsigned pair = 0; pair < 4; pair += 2) {
        const float radius = root_of(-2 * log_of(1 - unit(words[pair])));
        turn(unit(words[pair + 1]), &drawn[pair], &drawn[pair + 1]);
        drawn[pair] *= radius;
        drawn[pair + 1] *= radius;
      }
      bool all = true;
      for (unsigned i = 0; i < 4; ++i) {
        const bool taken = request_.distribution == Distribution::kNormal ||
                           (drawn[i] >= -kLimit && drawn[i] <= kLimit);
        if (!has[i] && taken) result[i] = drawn[i];
        has[i] = has[i] || taken;
        all = all && has[i];
      }
      if (all) break;
    }
    return result;
  }

  std::uint64_t number(const Group& words, const std::array<float, 4>& normal,
                       unsigned place) const {
    if (!is_float(request_.type)) return integer(words, place);
    const bool uniform = request_.distribution == Distribution::kUniform;
    float x = uniform ? a_ + unit(words[place]) * (b_ - a_) : a_ + normal[place] * b_;
    if (request_.type == Number::kFp32) return bits_of(x);
    return request_.type == Number::kBf16 ? to_bf16(x) : to_fp16(x);
  }

  std::uint64_t integer(const Group& words, unsigned place) const {
    if (bytes_of(request_.type) == 8) {
      const std::uint64_t word =
          static_cast<std::uint64_t>(words[2 * place + 1]) << 32U | words[2 * place];
      return request_.a + static_cast<std::uint64_t>(Wide{word} * (request_.b - request_.a) >> 64U);
    }
    const auto range = static_cast<std::uint32_t>(request_.b - request_.a);
    return static_cast<std::uint32_t>(request_.a +
                                      (static_cast<std::uint64_t>(words[place]) * range >> 32U));
  }

  AicorePort& port_;
  const Request request_;
  std::array<std::uint64_t, 2> base_{};
  float a_ = 0, b_ = 0;
};

int generate(AicorePort& port) {
  const Request request = from_words(aicore::Arguments(port, kWords).words<kWords>());
  if (!valid(request)) return aicore::kBadArguments;
  const bool is_bits = request.distribution == Distribution::kBits;
  const std::uint64_t line =
      is_bits ? abi::kCacheLine * 8 : abi::kCacheLine / bytes_of(request.type);
  const bool whole = request.to % abi::kCacheLine == 0;  // else lines of blocks would overlap
  const std::uint64_t blocks = whole ? port.call().blocks : 1, block = port.call().block;
  if (block >= blocks) return 0;
  const std::uint64_t lines = aicore::divide_up(request.count, line);
  Generator generator(port, request);
  for (std::uint64_t i = lines * block / blocks; i < lines * (block + 1) / blocks; ++i) {
    const std::uint64_t end = std::min((i + 1) * line, request.count);
    generator.line(request.to + i * abi::kCacheLine, i * line, end);
  }
  port.clean_invalidate_all();
  return 0;
}

}  // namespace
}  // namespace npu::kernels::random

NPU_KERNEL(npu::kernels::random::generate, npu::kernels::random::kWords)
