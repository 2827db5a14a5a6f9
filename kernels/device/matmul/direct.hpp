// SPDX-License-Identifier: Apache-2.0
// Products that FixPipe writes to C itself: one, or those of a batch. Block i of n computes tiles
// i, i + n, ... of all of them.
#pragma once

#include "kernels/device/common/zeros.hpp"
#include "kernels/device/matmul/converted.hpp"
#include "kernels/device/matmul/host.hpp"
#include "kernels/device/matmul/products.hpp"

namespace npu::kernels::matmul {

static_assert(kConvertedByFixpipe,
              "a product of int8 is int32, float or half: NPU_JIT_ELEMENT_C is none");
static_assert(kBiasOfCube,
              "a bias of reals is float or half, of int8 int32: NPU_JIT_ELEMENT_BIAS is none");

struct DirectWork {
  static constexpr platform::SetUp kSetUp = Work::kSetUp;
  Work product;
  std::uint64_t a_fractals = 0, b_fractals = 0;  // where vector cores bring A, B; 0: they do not
};

inline Stored stored_a(const Work& work) {
  constexpr bool kTurned = transposed(kLayoutA);
  return {work.a, kTurned ? work.k : work.m, kTurned ? work.m : work.k, work.lda, kTypeA};
}
inline Stored stored_b(const Work& work) {
  constexpr bool kTurned = transposed(kLayoutB);
  return {work.b, kTurned ? work.n : work.k, kTurned ? work.k : work.n, work.ldb, kTypeB};
}

inline void products(AicorePort& port, const Work& work) {
  for_products<Fixed<kTypeC>, Tables::kBias>(port, work, work.batch, [&](std::uint64_t matrix) {
    return product_of_batch(work, matrix,
                            work.c + matrix * work.stride_c * platform::bytes_of(kTypeC), work.ldc);
  });
}

// One product, of which A or B or both are in fractals by then.
template <bool kA, bool kB>
void converted_product(AicorePort& port, const DirectWork& work) {
  using A = Operand<kA ? kInFractals<kLayoutA> : kLayoutA, Fixed<kTypeA>>;
  using B = Operand<kB ? kInFractals<kLayoutB> : kLayoutB, Fixed<kTypeB>>;
  const Work& p = work.product;
  for_products<Fixed<kTypeC>, Tables::kBias>(port, p, 1, [&](std::uint64_t) {
    Product<A, B> product{{kA ? work.a_fractals : p.a, p.m, p.k, p.lda},
                          {kB ? work.b_fractals : p.b, p.k, p.n, p.ldb},
                          p.c,
                          p.ldc,
                          p.m,
                          p.n,
                          0,
                          p.k};
    product.bias = p.bias;
    return product;
  });
}

inline constexpr bool kCanConvert = (kTypeA == DataType::kFp16 || kTypeA == DataType::kBf16) &&
                                    !(fractal(kLayoutA) && fractal(kLayoutB));

inline void convert_and_multiply(AicorePort& port, const DirectWork& work) {
  if constexpr (kCanConvert) {
    port.set_up({platform::Tiling::kNone, false, true});
    const auto convert = [&](ToFractals& to, std::uint32_t core, std::uint32_t cores) {
      if (work.a_fractals != 0) to.run(stored_a(work.product), work.a_fractals, core, cores);
      if (work.b_fractals != 0) to.run(stored_b(work.product), work.b_fractals, core, cores);
    };
    after_conversion(port, convert, [&] {
      if (work.b_fractals == 0) return converted_product<true, false>(port, work);
      if (work.a_fractals == 0) return converted_product<false, true>(port, work);
      converted_product<true, true>(port, work);
    });
  }
}

inline void zeros(AicorePort& port, const Work& work) {
  const Zeros zeros(port, kTypeC, work.n);
  for (std::uint32_t matrix = 0; matrix < work.batch; ++matrix) {
    const std::uint64_t at = work.c + matrix * work.stride_c * platform::bytes_of(kTypeC);
    zeros.fill({at, work.ldc}, work.m, work.n);
  }
}

inline int direct_kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<DirectWork>);
  const auto work = work_from<DirectWork>(arguments);
  if (arguments.word(0) == static_cast<std::uint64_t>(Phase::kZeros)) {
    zeros(port, work.product);
  } else if (work.a_fractals != 0 || work.b_fractals != 0) {
    convert_and_multiply(port, work);
  } else {
    products(port, work.product);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// With A or B or both in fractals.
inline void launch_converted(std::uint32_t block_num, OperatorStream& stream, DirectWork& work,
                             bool a, bool b) {
  if constexpr (kCanConvert) {
    Launches launches(stream, CoreKind::kMixed, block_num);
    Work& p = work.product;
    const ProductShape shape{1, p.m, p.n, p.k};
    const auto choose = [&](auto a_in_fractals, auto b_in_fractals) {
      using A = Operand<a_in_fractals ? kInFractals<kLayoutA> : kLayoutA, Fixed<kTypeA>>;
      using B = Operand<b_in_fractals ? kInFractals<kLayoutB> : kLayoutB, Fixed<kTypeB>>;
      return choose_tiling<A, B>(p.tiling, kTypeA, shape.pieces, p.m, p.n, p.k,
                                 launches.own_cores(), stream.limits(), p.bias != 0 ? 2 : 0);
    };
    const std::true_type yes;
    const std::false_type no;
    if (!(a && b ? choose(yes, yes) : a ? choose(yes, no) : choose(no, yes))) {
      return stream.refuse(kNoTiling);
    }
    const std::uint64_t a_bytes =
        a ? aicore::round_up<std::uint64_t>(stored_a(p).fractal_bytes(), 512) : 0;
    const std::uint64_t b_bytes = b ? stored_b(p).fractal_bytes() : 0;
    const std::uint64_t workspace = stream.workspace(a_bytes + b_bytes);
    if (workspace == 0) return;
    if (a) work.a_fractals = workspace;
    if (b) work.b_fractals = workspace + a_bytes;
    launches.launch(CoreKind::kMixed, Phase::kProduct, work, launches.own_cores());
  }
}

inline void run_direct(std::uint32_t block_num, OperatorStream& stream,
                       const MatmulParams& params) {
  if (params.m == 0 || params.n == 0 || params.batch == 0) return;
  DirectWork work;
  Work& p = work.product;
  if (const char* const reason = to_work(params, p)) return stream.refuse(reason);
  Launches launches(stream, CoreKind::kCube, block_num);
  if (p.k == 0) return launches.launch(CoreKind::kVector, Phase::kZeros, work, p.m);
  const bool a = p.batch == 1 && converted<kLayoutA>(stored_a(p), stream.limits());
  const bool b = p.batch == 1 && converted<kLayoutB>(stored_b(p), stream.limits());
  if (a || b) return launch_converted(block_num, stream, work, a, b);
  if (!choose(stream, launches, p, p.batch, params.bias != 0 ? 2 : 0)) return;
  launches.launch(CoreKind::kCube, Phase::kProduct, work, tiles_of(p) * p.batch);
}

}  // namespace npu::kernels::matmul
