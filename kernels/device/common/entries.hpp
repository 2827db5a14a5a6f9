// SPDX-License-Identifier: Apache-2.0
// The two entries of an operator's object, and how the host's one tells the kernel what to do: a
// structure, word by word behind the number of the launch's phase.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/device/common/macros.hpp"
#include "npu/aicore/kernel.hpp"
#include "npu/operators/operator_stream.hpp"
#include "npu/operators/params.hpp"

namespace npu::kernels {

using namespace operators;  // what the host's entry is told, and tells

template <class Work>
inline constexpr std::uint32_t kWorkWords = 1 + sizeof(Work) / 8;

// What a kernel makes ready that is told such a work: that of a library's kernel with a structure
// of tilings, which the work is, unless it says something else in kSetUp.
template <class Work, class = void>
inline constexpr platform::SetUp kSetUpOf{platform::Tiling::kRunTime, true, false};
template <class Work>
inline constexpr platform::SetUp kSetUpOf<Work, std::void_t<decltype(Work::kSetUp)>> = Work::kSetUp;
// What the user said is all it is told.
template <>
inline constexpr platform::SetUp kSetUpOf<VectorParams>{platform::Tiling::kArguments, false, false};
template <>
inline constexpr platform::SetUp kSetUpOf<AdamWParams>{platform::Tiling::kArguments, false, false};

// Phases behind the first are parts of what a library does in one launch: all is ready.
template <class Work>
Work work_from(const aicore::Arguments& arguments) {
  static_assert(std::is_trivially_copyable_v<Work> && sizeof(Work) % 8 == 0);
  constexpr bool kMakesReady = kSetUpOf<Work>.tiling != platform::Tiling::kNone;
  if (kMakesReady && arguments.word(0) == 0) arguments.port().set_up(kSetUpOf<Work>);
  const auto words = arguments.words<sizeof(Work) / 8>(1);
  Work work;
  std::memcpy(static_cast<void*>(&work), words.data(), sizeof work);
  return work;
}

// The launches of one run.
class Launches {
 public:
  // `own`: the operator's own kind, of which the caller has chosen `block_num` cores; 0: all.
  Launches(OperatorStream& stream, CoreKind own, std::uint32_t block_num)
      : stream_(stream), own_(own), block_num_(block_num) {}

  std::uint32_t cores(CoreKind kind) const {
    const std::uint32_t all = std::max(stream_.cores(kind), 1U);
    return kind == own_ && block_num_ != 0 ? std::min(block_num_, all) : all;
  }
  std::uint32_t own_cores() const { return cores(own_); }
  // On as many cores as there are pieces of work; none: no launch.
  template <class Phase, class Work>
  void launch(CoreKind kind, Phase phase, const Work& work, std::uint64_t pieces) {
    static_assert(std::is_trivially_copyable_v<Work> && sizeof(Work) % 8 == 0);
    if (pieces == 0) return;
    std::uint64_t words[kWorkWords<Work>] = {static_cast<std::uint64_t>(phase)};
    std::memcpy(words + 1, &work, sizeof work);
    const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(pieces, cores(kind)));
    stream_.launch(kind, blocks, words, kWorkWords<Work>);
  }

 private:
  OperatorStream& stream_;
  const CoreKind own_;
  const std::uint32_t block_num_;
};

inline constexpr std::uint32_t kMostSide = (std::uint32_t{1} << 31) - 1;

constexpr bool aligned(std::uint64_t address, DataType type) {
  return address % platform::bytes_of(type) == 0;
}

}  // namespace npu::kernels

#undef NPU_KERNEL_NAME
#define NPU_KERNEL_NAME(function) NPU_JIT_TEXT(NPU_JIT_KERNEL_NAME)

// `function`: void(const Params&, const double* const* inputs, double* const* results): what the
// operator has to give, for who tests it. It runs on the host, and takes no simulated time.
#define NPU_REFERENCE(function, Params)                                          \
  extern "C" __attribute__((visibility("default"))) void reference(              \
      const void* params, const double* const* inputs, double* const* results) { \
    function(*static_cast<const Params*>(params), inputs, results);              \
  }

// `kernel`: int(AicorePort&); `Work`: what launches say behind the phase; `host`: void(block_num,
// OperatorStream&, const Params&).
#define NPU_OPERATOR(kernel, Work, host, Params)                                                 \
  NPU_KERNEL(kernel, ::npu::kernels::kWorkWords<Work>)                                           \
  extern "C" __attribute__((visibility("default"))) void run(std::uint32_t block_num,            \
                                                             void* stream, const void* params) { \
    host(block_num, *static_cast<::npu::operators::OperatorStream*>(stream),                     \
         *static_cast<const Params*>(params));                                                   \
  }
