// SPDX-License-Identifier: Apache-2.0
// Helpers for kernels: C++ source built into a shared object of its own, whose entry point is made
// by NPU_KERNEL. A kernel issues copies, matrix and vector instructions to the core's pipes and
// orders them by flags; platform/aicore_port.hpp says what each does and costs.
#pragma once

#include <cstdint>

#include "npu/abi/handshake.hpp"
#include "npu/abi/kernel_note.hpp"
#include "npu/platform/aicore_port.hpp"

// NPU_KERNEL(function, words): a task of the kernel has so many argument words; whoever adds one
// with more or fewer is told. Without `words` any number will do. The kernel's name in messages is
// the function's, or NPU_PROGRAM_NAME if that is defined.
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

// The words of the task that this block belongs to. The lines they lie in are fetched anew: the
// host wrote them, and the core's cache is not coherent.
class Arguments {
 public:
  Arguments(AicorePort& port, unsigned words) : port_(port), base_(port.call().arguments) {
    const std::uint64_t first = base_ / abi::kCacheLine * abi::kCacheLine;
    for (std::uint64_t line = first; line < base_ + 8 * words; line += abi::kCacheLine) {
      port_.clean_invalidate(line);
    }
  }
  std::uint64_t word(unsigned i) const { return port_.load(base_ + 8 * i, 8); }
  std::uint32_t number(unsigned i) const { return static_cast<std::uint32_t>(word(i)); }

 private:
  AicorePort& port_;
  std::uint64_t base_;
};

// One event of an ordered pair of pipes: `From` says that it is done, `To` waits for it.
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

// What a kernel returns whose argument words cannot be.
inline constexpr int kBadArguments = 2;

// An enumerator from an argument word; what is none of the `count` from 0 on becomes the last value
// of all, which is none either.
template <class Enum>
constexpr Enum enumerator(std::uint64_t word, unsigned count) {
  return static_cast<Enum>(word < count ? word : 0xFF);
}
constexpr DataType data_type(std::uint64_t word) {
  return enumerator<DataType>(word, platform::kDataTypes);
}
// Elements beyond all addresses; fewer keep sizes in bytes, times the blocks, within 64 bits.
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

// Bytes of a row of `elements` in a local buffer.
constexpr std::uint32_t row_bytes(std::uint32_t elements, DataType type) {
  return round_up(elements * static_cast<std::uint32_t>(platform::bytes_of(type)), kLocalAlignment);
}

}  // namespace npu::aicore
