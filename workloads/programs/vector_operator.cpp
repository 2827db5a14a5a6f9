// SPDX-License-Identifier: Apache-2.0
// One operator of a kernel library over a whole tensor, launched by itself as such kernels are: a
// compute queue starts one block on every vector core.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/device/shipped/operators.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/cache_state.hpp"
#include "workloads/programs/support/elements.hpp"
#include "workloads/programs/support/kernel_launch.hpp"

namespace npu::workloads {
namespace programs::vector_operator {
namespace {

using kernels::vector::Operator;
using kernels::vector::OperatorWork;

constexpr Bytes kSmallestBlock = 512;
constexpr Bytes kHostPiece = 4_MiB;                     // of a tensor that the host holds at a time
constexpr std::uint64_t kStepOfA = 37, kStepOfB = 101;  // from element to element of an operand
constexpr const char* kNames[] = {"sigmoid", "gelu", "mish", "exp", "maximum"};
static_assert(std::size(kNames) == kernels::vector::kOperators);

double expected(Operator op, double a, double b, double scale) {
  switch (op) {
    case Operator::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case Operator::kGelu:
      return a / (1 + std::exp(-std::sqrt(8 / M_PI) * (a + 0.044715 * a * a * a)));
    case Operator::kMish:
      return a * std::tanh(std::log1p(std::exp(a)));
    case Operator::kExp:
      return std::exp(scale * a);
    case Operator::kMaximum:
      return std::max(a, b);
  }
  return 0;
}

struct Operated {
  MeasuredTime duration, wall, start;
  Bytes moved;
  unsigned blocks;

  Number rate() const { return Number::gb_per_s(moved, duration.time); }
};

constexpr Figure<Operated> kFigures[] = {{"duration_us", "us", from<&Operated::duration>},
                                         {"wall_us", "us", from<&Operated::wall>},
                                         {"start_us", "us", from<&Operated::start>},
                                         {"bandwidth_gb_per_s", "GB/s", from<&Operated::rate>},
                                         {"blocks", "", from<&Operated::blocks>}};

class VectorOperator {
 public:
  VectorOperator(Context& context, QueueSession& session, const CoresOfKind& cores)
      : context_(context), session_(session), cores_(cores), launch_(context, session) {
    const auto& name = context.parameters.choice("op");
    const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
    work_.op = static_cast<Operator>(found - std::begin(kNames));
    work_.type = type_of(context.parameters.choice("type"));
    work_.count = context.parameters.integer("elements");
    work_.scale = 0.5F;
    work_.tiling = tiling_of(context.parameters);
    bytes_ = work_.count * platform::bytes_of(work_.type);
    blocks_ = static_cast<std::uint32_t>(
        std::clamp<Bytes>((bytes_ + kSmallestBlock - 1) / kSmallestBlock, 1, cores.count));
  }

  Status prepare() {
    if (!kernels::vector::knows(work_.op, work_.type)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("op={}: not for type={}", context_.parameters.choice("op"),
                              name_of(work_.type)));
    }
    for (auto* at : {&work_.a, &work_.b, &work_.to}) {
      if (at == &work_.b && !has_second(work_.op)) continue;
      auto memory = session_.allocate(bytes_);
      if (!memory) return forward_error(memory);
      *at = memory->value;
    }
    const Bytes kept = context_.functional ? (has_second(work_.op) ? 3 : 2) * bytes_ : 0;
    const auto what = fmt::format("elements={}", work_.count);
    if (auto ok = require_host_memory(what, kept); !ok) return ok;
    if (auto ok = launch_.load("operators"); !ok) return ok;
    if (work_.tiling == platform::Tiling::kRunTime) {
      const std::vector<std::byte> structure(kernels::vector::kTilingBytes);
      auto at = session_.allocate(structure.size());
      if (!at) return forward_error(at);
      if (auto ok = session_.write(*at, {structure.data(), structure.size()}); !ok) return ok;
      work_.structure = at->value;
    }
    const auto words = to_words(work_);
    const ConstByteSpan arguments{reinterpret_cast<const std::byte*>(words.data()), sizeof words};
    launch_.set_arguments(arguments);
    return context_.functional ? put_operands() : Status{};
  }

  Status launch() {
    return launch_.run(cores_.mask, blocks_, time_for(bytes_),
                       launches_of(context_.parameters, "launches"));
  }

  // Within four roundings of the type, or of an exponential in fp32 whose argument is below 2^6.
  Status check() {
    if (!context_.functional) return {};
    const double tolerance = std::max(4 * rounding_error(work_.type), 4e-6);
    std::vector<std::byte> piece(std::min(bytes_, kHostPiece));
    for (Bytes done = 0; done < bytes_; done += kHostPiece) {
      const Bytes length = std::min(bytes_ - done, kHostPiece);
      const driver::DeviceAddress from{work_.to + done};
      if (auto ok = session_.read(from, {piece.data(), length}); !ok) return ok;
      for (std::uint64_t i = 0; i < length / element(); ++i) {
        const std::uint64_t at = done / element() + i;
        const double found = load_element(work_.type, piece.data(), i);
        const double b = has_second(work_.op) ? operand(kStepOfB, at) : 0;
        const double wanted = expected(work_.op, operand(kStepOfA, at), b, work_.scale);
        const double error = distance_of(found, wanted);
        if (error <= tolerance * std::max(finite_size(wanted), 1e-3)) continue;
        return fail(ErrorCode::kWrongData, fmt::format("element {} of {} is {}, expected {}", at,
                                                       work_.count, found, wanted));
      }
    }
    return {};
  }

  void report() {
    auto& out = context_.report;
    const BlockSpan& span = launch_.span();
    const Bytes moved = bytes_ * (has_second(work_.op) ? 3 : 2);
    report_figures(context_, "operator.", kFigures,
                   {span.measured(), launch_.wall(), span.measured_start(), moved, span.blocks()});
    launch_.report_limits({"operator", "operator.duration_us", context_.parameters.choice("op")});
    out.add_note(fmt::format(
        "{} of {} {}: from the dispatch of the first block to the report of "
        "the last; wall: from the submission until the host has seen the completion; {}",
        context_.parameters.choice("op"), work_.count, name_of(work_.type),
        context_.functional ? "every element compared" : "not compared"));
  }

 private:
  Bytes element() const { return platform::bytes_of(work_.type); }

  // Sixteenths from -8 to 8, which every type of reals holds, in two different orders.
  void put_element(std::uint64_t step, std::uint64_t i, std::byte* to, std::uint64_t place) const {
    const auto number = static_cast<double>((i + context_.seed) * step % 257) - 128;
    store_element(work_.type, to, place, number / 16);
  }
  double operand(std::uint64_t step, std::uint64_t i) const {
    std::array<std::byte, sizeof(std::uint64_t)> bytes{};
    put_element(step, i, bytes.data(), 0);
    return load_element(work_.type, bytes.data(), 0);
  }
  Status put_operand(std::uint64_t address, std::uint64_t step) {
    std::vector<std::byte> piece(std::min(bytes_, kHostPiece));
    for (Bytes done = 0; done < bytes_; done += kHostPiece) {
      const Bytes length = std::min(bytes_ - done, kHostPiece);
      for (std::uint64_t i = 0; i < length / element(); ++i) {
        put_element(step, done / element() + i, piece.data(), i);
      }
      const driver::DeviceAddress to{address + done};
      if (auto ok = session_.write(to, {piece.data(), length}); !ok) return ok;
    }
    return {};
  }
  Status put_operands() {
    if (auto ok = put_operand(work_.a, kStepOfA); !ok) return ok;
    return has_second(work_.op) ? put_operand(work_.b, kStepOfB) : Status{};
  }

  Context& context_;
  QueueSession& session_;
  const CoresOfKind cores_;
  OperatorWork work_;
  Bytes bytes_ = 0;
  std::uint32_t blocks_ = 0;
  KernelLaunch launch_;
};

Status run(Context& context) {
  const auto cores = cores_of(context, driver::LaunchCores::kVector);
  if (!cores) return forward_error(cores);
  return run_launched<VectorOperator>(context, *cores);
}

}  // namespace
}  // namespace programs::vector_operator

Workload vector_operator() {
  return {
      "vector_operator",
      "An operator of a kernel library on the vector units",
      {choice_parameter("op", "gelu",
                        "sigmoid, gelu (tanh), mish, exp (of half of x) or maximum of two tensors",
                        {std::begin(programs::vector_operator::kNames),
                         std::end(programs::vector_operator::kNames)}),
       choice_parameter("type", "fp16", "of all tensors; integers have a maximum only",
                        {"fp16", "bf16", "fp32", "int32", "int64"}),
       tiling_parameter(
           "what the kernel makes ready: nothing; what is generated for its arguments; pipes, "
           "queues and buffers with constant sizes, or with those of a structure in device memory"),
       {"elements", ParameterType::kInteger, "", "1048576", "of each tensor", 1, 1ULL << 30},
       {"launches", ParameterType::kInteger, "", "1", "one after another; the last is reported", 1,
        1'000'000},
       cache_state_parameter("launches"),
       card_parameter()},
      programs::vector_operator::run,
      figure_rows(programs::vector_operator::kFigures)};
}

}  // namespace npu::workloads
