// SPDX-License-Identifier: Apache-2.0
// Tokens to their experts and back: one launch of a kernel for vector cores each.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "driver/collectives/communicator_impl.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/abi/expert_exchange.hpp"

namespace npu::driver {
namespace {

using abi::ExpertExchange;
using Kind = abi::VectorCollectiveKind;

constexpr Bytes kLine = 64, kHiddenUnit = 32;

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::kInvalidArgument, what);
}

Status check_shape(const ExpertShape& shape, unsigned ranks, abi::ElementType type) {
  if (type != CollectiveType::kFp16 && type != CollectiveType::kBf16 &&
      type != CollectiveType::kFp32) {
    return fail(ErrorCode::kUnsupported, "tokens are fp16, bf16 or fp32");
  }
  if (shape.most_tokens == 0 || shape.most_tokens > ExpertExchange::kMostTokens) {
    return wrong(fmt::format("{} tokens of a rank at most: 1 to {}", shape.most_tokens,
                             ExpertExchange::kMostTokens));
  }
  if (shape.tokens > shape.most_tokens) {
    return wrong(
        fmt::format("{} tokens, where a rank has at most {}", shape.tokens, shape.most_tokens));
  }
  if (shape.hidden == 0 || shape.hidden > ExpertExchange::kMostHidden ||
      shape.hidden % kHiddenUnit != 0) {
    return wrong(fmt::format("tokens of {} elements: multiples of 32 up to {}", shape.hidden,
                             ExpertExchange::kMostHidden));
  }
  if (shape.experts == 0 || shape.experts > ExpertExchange::kMostExperts ||
      shape.experts % ranks != 0) {
    return wrong(fmt::format("{} experts on {} ranks: multiples of these up to {}", shape.experts,
                             ranks, ExpertExchange::kMostExperts));
  }
  if (shape.chosen != 0 && shape.chosen <= std::min(ExpertExchange::kMostChosen, shape.experts)) {
    return {};
  }
  return wrong(fmt::format("{} experts of a token: 1 to {}", shape.chosen,
                           std::min(ExpertExchange::kMostChosen, shape.experts)));
}

Status check_aligned(std::initializer_list<DeviceAddress> all, Bytes to) {
  for (const auto at : all) {
    if (at.value % to != 0)
      return wrong(fmt::format("address {:#x} is not a multiple of {}", at.value, to));
  }
  return {};
}

ExpertExchange work_of(Kind kind, const ExpertShape& shape, abi::ElementType type) {
  ExpertExchange work;
  work.kind = kind;
  work.type = type;
  work.quantised = shape.quantised;
  work.chosen = static_cast<std::uint8_t>(shape.chosen);
  work.tokens = shape.tokens, work.most_tokens = shape.most_tokens;
  work.hidden = shape.hidden, work.experts = shape.experts;
  return work;
}

}  // namespace

Bytes expert_window(const ExpertShape& shape, Bytes element) {
  const auto type = element == 2 ? abi::ElementType::kFp16 : abi::ElementType::kFp32;
  return std::max(work_of(Kind::kDispatch, shape, type).window_bytes(),
                  work_of(Kind::kCombine, shape, type).window_bytes());
}

Result<StreamMark> Communicator::Impl::exchange(unsigned rank, const CollectiveCall& call,
                                                const ExpertShape& shape,
                                                abi::ExpertExchange work) {
  const Bytes needed = expert_window(shape, abi::element_size(call.type));
  if (needed > options.vector.half) {
    return wrong(fmt::format("a window of 2 x {} bytes: these tokens need 2 x {}",
                             options.vector.half, needed));
  }
  work.rank = static_cast<std::uint8_t>(rank), work.ranks = static_cast<std::uint8_t>(ranks());
  work.half = options.vector.half;
  const MutexHolder holder(members[rank]->lock());
  if (auto ready = begin_launches(rank, call); !ready) return forward_error(ready);
  const auto& vector = options.vector;
  const auto words = [&](std::uint64_t number, std::uint64_t timeout) {
    work.number = number, work.timeout = timeout;
    const auto all = work.words();
    return std::vector<std::uint64_t>(all.begin(), all.end());
  };
  return launch(rank, call, vector.expert_blocks == 0 ? vector.blocks : vector.expert_blocks,
                words);
}

Status Communicator::Impl::check_exchange(unsigned rank, const CollectiveCall& call,
                                          const ExpertShape& shape) const {
  if (auto ok = check(rank, call, {}); !ok) return ok;
  if (auto can = check_vector_cores(); !can) return can;
  if (auto ok = check_shape(shape, ranks(), call.type); !ok) return ok;
  if (!unlinked) return {};
  return fail(ErrorCode::kUnsupported,
              fmt::format("experts: no link between the cards of ranks {} and {}", unlinked->first,
                          unlinked->second));
}

Result<StreamMark> Communicator::Impl::dispatch(unsigned rank, const CollectiveCall& call,
                                                const ExpertShape& shape,
                                                const DispatchTensors& tensors) {
  if (auto ok = check_exchange(rank, call, shape); !ok) return forward_error(ok);
  const Bytes size = abi::element_size(call.type);
  const Bytes of_row = shape.quantised ? 1 : size;
  for (const auto& ok :
       {check_aligned({tensors.tokens}, size), check_aligned({tensors.rows}, of_row),
        check_aligned({tensors.choices, tensors.scales}, 4),
        check_aligned({tensors.ends, tensors.groups, tensors.places}, kLine)}) {
    if (!ok) return forward_error(ok);
  }
  auto work = work_of(Kind::kDispatch, shape, call.type);
  work.tensors = {tensors.tokens.value, tensors.choices.value, tensors.rows.value,
                  tensors.scales.value, tensors.ends.value,    tensors.groups.value,
                  tensors.places.value};
  return exchange(rank, call, shape, work);
}

Result<StreamMark> Communicator::Impl::combine(unsigned rank, const CollectiveCall& call,
                                               const ExpertShape& shape,
                                               const CombineTensors& tensors) {
  if (auto ok = check_exchange(rank, call, shape); !ok) return forward_error(ok);
  const Bytes size = abi::element_size(call.type);
  for (const auto& ok : {check_aligned({tensors.rows, tensors.addend, tensors.result}, size),
                         check_aligned({tensors.weights}, 4),
                         check_aligned({tensors.groups, tensors.places}, kLine)}) {
    if (!ok) return forward_error(ok);
  }
  auto work = work_of(Kind::kCombine, shape, call.type);
  work.tensors = {tensors.rows.value,    tensors.groups.value, tensors.places.value,
                  tensors.weights.value, tensors.addend.value, tensors.result.value};
  return exchange(rank, call, shape, work);
}

}  // namespace npu::driver
