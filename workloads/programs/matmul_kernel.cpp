// SPDX-License-Identifier: Apache-2.0
// C = A x B by one kernel that is launched by itself, as kernel libraries launch theirs: no task
// graph and no scheduler firmware.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/device/shipped/matmul.hpp"
#include "npu/aicore/kernel.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/cache_state.hpp"
#include "workloads/programs/support/core_limits.hpp"
#include "workloads/programs/support/kernel_launch.hpp"
#include "workloads/programs/support/matrix_check.hpp"
#include "workloads/programs/support/runtime_session.hpp"

namespace npu::workloads {
namespace programs::matmul_kernel {
namespace {

namespace gemm = kernels::gemm;

constexpr std::uint64_t kFullCheck = std::uint64_t{1} << 27;  // multiplications; else samples
constexpr std::uint64_t kSamples = 4096;

Result<std::uint32_t> cube_cores(Context& context) {
  auto runtime = RuntimeSession::open(context, {});
  if (!runtime) return forward_error(runtime);
  const std::uint32_t clusters = (*runtime)->device().clusters();
  if (auto ok = (*runtime)->close(); !ok) return forward_error(ok);
  // As many as a queue's mask has bits for.
  return std::min(clusters, static_cast<std::uint32_t>(64 * driver::CoreMask{}.size()));
}

struct Multiplied {
  MeasuredTime duration, wall;
  std::uint64_t operations, blocks, compared;

  // Operations per picosecond are 10^12 of them per second.
  Number tflops() const {
    return Number::quotient(operations, static_cast<std::uint64_t>(duration.time.count()), 3);
  }
};

constexpr Figure<Multiplied> kFigures[] = {{"duration_us", "us", from<&Multiplied::duration>},
                                           {"wall_us", "us", from<&Multiplied::wall>},
                                           {"tflops", "TFLOP/s", from<&Multiplied::tflops>},
                                           {"blocks", "", from<&Multiplied::blocks>},
                                           {"elements_compared", "", from<&Multiplied::compared>}};

class MatmulKernel {
 public:
  MatmulKernel(Context& context, QueueSession& session, std::uint32_t cores)
      : context_(context), session_(session), cores_(cores), launch_(context, session) {
    const auto size = [&](const char* name) {
      return static_cast<std::uint32_t>(context.parameters.integer(name));
    };
    p_.m = size("m"), p_.n = size("n"), p_.k = size("k");
    p_.lda = p_.k;
    p_.ldb = p_.ldc = p_.n;
    p_.type = type_of(context.parameters.choice("type"));
    p_.to_type = p_.type == DataType::kInt8 ? DataType::kInt32 : p_.type;
    gemm::choose_tiles(p_, cores, core_limits(context, gemm::kA2));
    const std::uint64_t tiles = kernels::matmul::scheduler_of(p_.m, p_.n, p_.tiling).tiles();
    blocks_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(tiles, cores));
  }

  Status prepare() {
    const auto what = fmt::format("m={} n={} k={}", p_.m, p_.n, p_.k);
    const Bytes kept = context_.functional ? 2 * (a_bytes() + b_bytes() + c_bytes()) : 0;
    if (auto room = require_host_memory(what, kept); !room) return room;
    for (auto [address, size] :
         {std::pair{&p_.a, a_bytes()}, {&p_.b, b_bytes()}, {&p_.c, c_bytes()}}) {
      auto memory = session_.allocate(size);
      if (!memory) return forward_error(memory);
      *address = memory->value;
    }
    if (context_.functional) {
      a_.resize(a_bytes());
      b_.resize(b_bytes());
      fill_exact(p_.type, {a_.data(), a_.size()}, context_.seed);
      fill_exact(p_.type, {b_.data(), b_.size()}, context_.seed + 1);
      if (auto ok = session_.write({p_.a}, {a_.data(), a_.size()}); !ok) return ok;
      if (auto ok = session_.write({p_.b}, {b_.data(), b_.size()}); !ok) return ok;
    }
    if (auto ok = launch_.load("matmul"); !ok) return ok;
    const auto words = gemm::to_words(p_);
    launch_.set_arguments({reinterpret_cast<const std::byte*>(words.data()), sizeof words});
    return {};
  }

  Status launch() {
    driver::CoreMask mask{};
    for (std::uint32_t core = 0; core < cores_; ++core) {
      mask[core / 64] |= std::uint64_t{1} << core % 64;
    }
    return launch_.run(mask, blocks_, time_for(a_bytes() + b_bytes() + c_bytes()),
                       launches_of(context_.parameters, "launches"));
  }

  Status check() {
    if (!context_.functional) return {};
    std::vector<std::byte> c(c_bytes());
    if (auto ok = session_.read({p_.c}, {c.data(), c.size()}); !ok) return ok;
    const MatrixProduct product{p_.m,
                                p_.n,
                                p_.k,
                                p_.type,
                                p_.to_type,
                                {a_.data(), a_.size()},
                                {b_.data(), b_.size()},
                                {c.data(), c.size()}};
    const bool all = std::uint64_t{p_.m} * p_.n * p_.k <= kFullCheck;
    auto error = check_product(product, all ? 0 : kSamples, context_.seed);
    if (!error) return forward_error(error);
    compared_ = error->compared;
    return {};
  }

  void report() {
    auto& out = context_.report;
    report_figures(context_, "matmul_kernel.", kFigures,
                   {launch_.span().measured(), launch_.wall(), operations(),
                    launch_.span().blocks(), compared_});
    launch_.report_limits({"matmul_kernel", "matmul_kernel.duration_us", "matmul", operations()});
    out.add_note(fmt::format(
        "{} x {} x {} {}, launch {}: from the dispatch of the first block to the "
        "report of the last; wall: from the submission until the host has seen the "
        "completion",
        p_.m, p_.n, p_.k, name_of(p_.type), launches_of(context_.parameters, "launches")));
  }

 private:
  std::uint64_t operations() const { return 2 * std::uint64_t{p_.m} * p_.n * p_.k; }
  Bytes a_bytes() const { return Bytes{p_.m} * p_.k * platform::bytes_of(p_.type); }
  Bytes b_bytes() const { return Bytes{p_.k} * p_.n * platform::bytes_of(p_.type); }
  Bytes c_bytes() const { return Bytes{p_.m} * p_.n * platform::bytes_of(p_.to_type); }

  Context& context_;
  QueueSession& session_;
  const std::uint32_t cores_;
  gemm::Problem p_;
  std::uint32_t blocks_ = 0;
  std::vector<std::byte> a_, b_;
  std::uint64_t compared_ = 0;
  KernelLaunch launch_;
};

Status run(Context& context) {
  auto cores = cube_cores(context);
  if (!cores) return forward_error(cores);
  return run_launched<MatmulKernel>(context, *cores);
}

}  // namespace
}  // namespace programs::matmul_kernel

Workload matmul_kernel() {
  constexpr std::uint64_t kLargest = 1 << 20;
  return {"matmul_kernel",
          "Matrix multiplication by one kernel launched by itself, launch included",
          {{"m", ParameterType::kInteger, "", "1024", "rows of A and C", 1, kLargest},
           {"n", ParameterType::kInteger, "", "1024", "columns of B and C", 1, kLargest},
           {"k", ParameterType::kInteger, "", "1024", "columns of A, rows of B", 1, 262'144},
           choice_parameter("type", "fp16", "of A and B; C is alike, int32 for int8",
                            {"fp16", "bf16", "fp32", "int8"}),
           {"launches", ParameterType::kInteger, "", "1",
            "one after another; the last is timed, with what those before left in the L2", 1, 1000},
           cache_state_parameter("launches"),
           card_parameter()},
          programs::matmul_kernel::run,
          figure_rows(programs::matmul_kernel::kFigures)};
}

}  // namespace npu::workloads
