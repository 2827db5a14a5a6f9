// SPDX-License-Identifier: Apache-2.0
// Helpers for kernels. A kernel is C++ source in its own shared object, with an entry point from
// NPU_KERNEL. It issues copies, matrix and vector instructions to the core's pipes and orders them
// with flags (platform/aicore_port.hpp).
#pragma once

#include <array>
#include <cstdint>

#include "npu/abi/handshake.hpp"
#include "npu/abi/kernel_note.hpp"
#include "npu/platform/aicore_port.hpp"

// NPU_KERNEL(function, words): tasks of the kernel have `words` argument words, and a run refuses
// any other number. Without `words` any number is accepted. The kernel's name in messages is that
// of the function, or NPU_PROGRAM_NAME if defined.
#ifdef NPU_PROGRAM_NAME
#define NPU_KERNEL_NAME(function) NPU_PROGRAM_NAME
#else
#define NPU_KERNEL_NAME(function) #function
#endif
#define NPU_KERNEL_OF(function, words, ...)                                       \
  __attribute__((used, section(".note.npusim"),                                   \
                 aligned(4))) static const npu::abi::KernelNote npu_kernel_note = \
      npu::abi::kernel_note(NPU_KERNEL_NAME(function), words);                    \
  extern "C" __attribute__((visibility("default"))) int npu_aicore_main(          \
      npu::platform::AicorePort& port) {                                          \
    return function(port);                                                        \
  }
#define NPU_KERNEL(...) NPU_KERNEL_OF(__VA_ARGS__, npu::abi::kAnyWords, )

namespace npu::aicore {

using platform::AicorePort;
using platform::DataType;
using platform::Local;
using platform::LocalBuffer;
using platform::Pipe;

// The argument words of this block's task. The constructor invalidates their cache lines: the host
// wrote them, and the core's cache is not coherent.
class Arguments {
 public:
  Arguments(AicorePort& port, unsigned words) : port_(port), base_(port.call().arguments) {
    const std::uint64_t first = base_ / abi::kCacheLine * abi::kCacheLine;
    for (std::uint64_t line = first; line < base_ + 8 * words; line += abi::kCacheLine) {
      port_.clean_invalidate(line);
    }
  }
  std::uint64_t word(unsigned i) const { return port_.load(base_ + 8 * i, 8); }
  // `kCount` of them, `first` and behind.
  template <unsigned kCount>
  std::array<std::uint64_t, kCount> words(unsigned first = 0) const {
    std::array<std::uint64_t, kCount> all{};
    for (unsigned i = 0; i < kCount; ++i) all[i] = word(first + i);
    return all;
  }
  AicorePort& port() const { return port_; }
  std::uint32_t number(unsigned i) const { return static_cast<std::uint32_t>(word(i)); }

 private:
  AicorePort& port_;
  std::uint64_t base_;
};

// A flag of an ordered pair of pipes: `From` sets it, and `To` waits for it.
template <Pipe From, Pipe To>
class Flag {
 public:
  Flag(AicorePort& port, unsigned id) : port_(&port), id_(id) {}
  void set() const { port_->set_flag(From, To, id_); }
  void wait() const { port_->wait_flag(From, To, id_); }

 private:
  AicorePort* port_;
  unsigned id_;
};

// The result of a kernel with invalid argument words.
inline constexpr int kBadArguments = 2;

// An enumerator from an argument word. Words that are not below `count` become 0xFF, an invalid
// value.
template <class Enum>
constexpr Enum enumerator(std::uint64_t word, unsigned count) {
  return static_cast<Enum>(word < count ? word : 0xFF);
}
constexpr DataType data_type(std::uint64_t word) {
  return enumerator<DataType>(word, platform::kDataTypes);
}
// More elements than there are addresses. With fewer, bytes times blocks fit into 64 bits.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 44;

template <class T>
constexpr T divide_up(T a, T b) {
  return (a + b - 1) / b;
}
template <class T>
constexpr T round_up(T a, T b) {
  return divide_up(a, b) * b;
}
constexpr std::uint32_t kLocalAlignment = 32;  // bytes

// Bytes of a row of `elements` in a local buffer, with padding.
constexpr std::uint32_t row_bytes(std::uint32_t elements, DataType type) {
  return round_up(elements * static_cast<std::uint32_t>(platform::bytes_of(type)), kLocalAlignment);
}

}  // namespace npu::aicore
