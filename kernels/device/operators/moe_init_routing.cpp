// SPDX-License-Identifier: Apache-2.0
// Rows of tokens brought into the order of the experts that they go to, as a product of groups
// wants them: where each goes, and where the rows of each expert end. NPU_JIT_ELEMENT_A and
// NPU_JIT_ELEMENT_C: one type, any; TensorParams.
//
// The scalar unit sorts by counting: choices of each expert in a piece of all choices, then places,
// which begin behind those of the pieces before. Of a single piece each core counts all of it. A
// core has whole cache lines of places, since caches are not coherent.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/numbers.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;

static_assert(kTypeA == vector::kTypeC,
              "what is moved keeps its type: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

constexpr std::uint32_t kMostExperts = 1024;
constexpr std::uint32_t kPiece = 1024;  // choices
constexpr std::uint32_t kInt = 4, kOfLine = abi::kCacheLine / kInt;
constexpr auto kSize = static_cast<std::uint32_t>(platform::bytes_of(kTypeA));
enum class Phase : std::uint32_t { kMove, kCount, kMoveCounted };

struct Work {
  std::uint64_t rows = 0, choices = 0;         // of tokens; experts of each
  std::uint64_t to = 0, places = 0, ends = 0;  // results
  std::uint64_t counts = 0;                    // workspace
  std::uint32_t all = 0, columns = 0;          // choices; elements of a row
  std::uint32_t k = 1, experts = 0;            // of a token; all there are
  std::uint32_t first = 0, count = 0;          // experts that are this card's

  std::uint32_t pieces() const { return aicore::divide_up(all, kPiece); }
  std::uint32_t pitch() const { return aicore::round_up(count, kOfLine); }
  std::uint32_t skipped() const {  // numbers of the first line that are not of `places`
    return static_cast<std::uint32_t>(places % abi::kCacheLine / kInt);
  }
  std::uint32_t lines() const { return aicore::divide_up(skipped() + all, kOfLine); }
};

class Routing {
 public:
  Routing(AicorePort& port, const Work& work) : port_(port), work_(work), numbers_(port) {}

  // A piece of choices after the other. False: there is no such expert.
  bool count() {
    const auto& call = port_.call();
    for (std::uint32_t piece = call.block; piece < work_.pieces(); piece += call.blocks) {
      for (std::uint32_t i = 0; i < work_.count; ++i) next_[i] = 0;
      const std::uint32_t begin = piece * kPiece;
      if (!add(begin, std::min(begin + kPiece, work_.all))) return false;
      const std::uint64_t to = work_.counts + std::uint64_t{piece} * work_.pitch() * kInt;
      for (std::uint32_t i = 0; i < work_.count; ++i) store(to, i, next_[i]);
      end_lines(to, to + std::uint64_t{work_.count} * kInt);
    }
    return true;
  }

  bool move(bool counted) {
    const auto& call = port_.call();
    const std::uint32_t lines = work_.lines();
    const auto border = [&](std::uint64_t block) {
      const std::uint64_t at = lines * block / call.blocks * kOfLine;
      return static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(at, work_.skipped(),
                                    work_.skipped() + std::uint64_t{work_.all}) -
          work_.skipped());
    };
    const std::uint32_t begin = border(call.block), end = border(std::uint64_t{call.block} + 1);
    if (!(counted ? begin_counted(begin) : begin_alone(begin))) return false;
    if (call.block == 0) store_ends();
    const Rows rows(port_, work_);
    return rows.run(begin, end, [&](std::uint32_t choice) { return place(choice); });
  }

 private:
  // Through UB, a part of the columns after the other.
  class Rows {
   public:
    Rows(AicorePort& port, const Work& work) : port_(port), work_(work) {
      const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
      space_ = ub / kSets / aicore::kLocalAlignment * aicore::kLocalAlignment;
    }
    // place(choice): where it goes; negative: nowhere, or below that: it cannot be.
    template <class Place>
    bool run(std::uint32_t begin, std::uint32_t end, Place place) const {
      Passing sets(port_);
      for (std::uint32_t i = begin; i < end;) {
        const std::uint32_t token = i / work_.k;
        const std::uint32_t last = std::min(end, (token + 1) * work_.k);
        std::uint32_t at[kMostExperts], count = 0;
        for (; i < last; ++i) {
          const std::int64_t to = place(i);
          if (to < kNowhere) return false;
          if (to != kNowhere) at[count++] = static_cast<std::uint32_t>(to);
        }
        if (count != 0) one(sets, token, at, count);
      }
      return true;
    }

   private:
    void one(Passing& sets, std::uint32_t token, const std::uint32_t* to,
             std::uint32_t count) const {
      const std::uint32_t most = space_ / kSize;
      for (std::uint64_t column = 0; column < work_.columns; column += most) {
        const auto columns =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(most, work_.columns - column));
        const unsigned i = sets.begin();
        platform::CopyIn in;
        in.to = {LocalBuffer::kUb, i * space_};
        in.from = address(work_.rows, token, column);
        in.row_bytes = columns * kSize;
        port_.issue(in);
        sets.loaded(i);
        for (std::uint32_t k = 0; k < count; ++k) {
          platform::CopyOut out;
          out.to = address(work_.to, to[k], column);
          out.from = {LocalBuffer::kUb, i * space_};
          out.row_bytes = columns * kSize;
          port_.issue(out);
        }
        sets.stored(i);
      }
    }
    std::uint64_t address(std::uint64_t rows, std::uint64_t row, std::uint64_t column) const {
      return rows + (row * work_.columns + column) * kSize;
    }

    AicorePort& port_;
    const Work& work_;
    std::uint32_t space_ = 0;
  };
  static constexpr std::int64_t kNowhere = -1, kWrong = -2;

  // Its number among this card's; kNowhere, kWrong.
  std::int64_t expert_of(std::uint32_t choice) {
    const std::uint32_t expert = numbers_.read(work_.choices + std::uint64_t{choice} * kInt);
    if (expert >= work_.experts) return kWrong;
    const std::uint32_t own = expert - work_.first;
    return own < work_.count ? std::int64_t{own} : kNowhere;
  }
  bool add(std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::int64_t expert = expert_of(i);
      if (expert == kWrong) return false;
      if (expert != kNowhere) ++next_[expert];
    }
    return true;
  }
  // Counts become places: those of the experts before, and what next_ has of their own.
  void begin_places(const std::uint32_t* all) {
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < work_.count; ++i) {
      next_[i] += end;
      end += all[i];
      ends_[i] = end;
    }
  }
  bool begin_alone(std::uint32_t begin) {
    std::uint32_t all[kMostExperts];
    for (std::uint32_t i = 0; i < work_.count; ++i) next_[i] = 0;
    if (!add(0, work_.all)) return false;
    for (std::uint32_t i = 0; i < work_.count; ++i) all[i] = next_[i], next_[i] = 0;
    if (!add(0, begin)) return false;
    begin_places(all);
    return true;
  }
  bool begin_counted(std::uint32_t begin) {
    std::uint32_t all[kMostExperts];
    for (std::uint32_t i = 0; i < work_.count; ++i) all[i] = next_[i] = 0;
    const std::uint32_t own = begin / kPiece;
    for (std::uint32_t piece = 0; piece < work_.pieces(); ++piece) {
      const std::uint64_t from = work_.counts + std::uint64_t{piece} * work_.pitch() * kInt;
      for (std::uint32_t i = 0; i < work_.count; ++i) {
        const std::uint32_t count = numbers_.read(from + std::uint64_t{i} * kInt);
        all[i] += count;
        if (piece < own) next_[i] += count;
      }
    }
    if (!add(own * kPiece, begin)) return false;
    begin_places(all);
    return true;
  }

  std::int64_t place(std::uint32_t choice) {
    const std::int64_t expert = expert_of(choice);
    if (expert == kWrong) return kWrong;
    const std::int64_t to = expert == kNowhere ? kNowhere : std::int64_t{next_[expert]++};
    store(work_.places, choice, static_cast<std::uint32_t>(to));
    const std::uint64_t at = work_.places + std::uint64_t{choice} * kInt;
    // The line is full, or there are no more.
    if ((at + kInt) % abi::kCacheLine == 0 || choice + 1 == work_.all) port_.clean_invalidate(at);
    return to;
  }
  void store_ends() const {
    for (std::uint32_t i = 0; i < work_.count; ++i) {
      port_.store(work_.ends + std::uint64_t{i} * 8, 8, ends_[i]);
    }
    end_lines(work_.ends, work_.ends + std::uint64_t{work_.count} * 8);
  }
  void store(std::uint64_t to, std::uint32_t i, std::uint32_t value) const {
    port_.store(to + std::uint64_t{i} * kInt, kInt, value);
  }
  void end_lines(std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t at = begin / abi::kCacheLine * abi::kCacheLine; at < end;
         at += abi::kCacheLine) {
      port_.clean_invalidate(at);
    }
  }

  AicorePort& port_;
  const Work work_;
  Numbers numbers_;
  std::uint32_t next_[kMostExperts] = {}, ends_[kMostExperts] = {};
};

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  Routing routing(port, work);
  const auto phase = static_cast<Phase>(arguments.word(0));
  const bool good =
      phase == Phase::kCount ? routing.count() : routing.move(phase == Phase::kMoveCounted);
  port.memory_barrier();
  port.pipe_barrier(Pipe::kAll);
  return good ? 0 : aicore::kBadArguments;
}

// A reason if it cannot be done.
const char* check(const TensorParams& params, const CoreLimits& limits) {
  const auto* const side = params.sides;  // tokens, columns, k, experts, first, count
  if (side[0] > kMostSide || side[1] > kMostSide || side[2] > kMostExperts ||
      side[0] * side[2] > kMostSide || side[3] > kMostExperts) {
    return "columns and all choices must be below 2^31, experts at most 1024";
  }
  if (side[4] > side[3] || side[5] > side[3] - side[4]) return "there are fewer experts than that";
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.inputs[1], DataType::kInt32) ||
      !aligned(params.results[0], kTypeA) || !aligned(params.results[1], DataType::kInt32) ||
      !aligned(params.results[2], DataType::kInt64)) {
    return "addresses must be multiples of the elements' sizes";
  }
  return limits.ub < 8 * 1024 ? "UB is smaller than 8 KiB" : nullptr;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const auto* const side = params.sides;
  if (side[0] * side[2] == 0 && side[5] == 0) return;
  if (const char* const reason = check(params, stream.limits())) return stream.refuse(reason);
  Work work;
  work.rows = params.inputs[0], work.choices = params.inputs[1];
  work.to = params.results[0], work.places = params.results[1], work.ends = params.results[2];
  work.all = static_cast<std::uint32_t>(side[0] * side[2]);
  work.columns = static_cast<std::uint32_t>(side[1]);
  work.k = static_cast<std::uint32_t>(side[2]), work.experts = static_cast<std::uint32_t>(side[3]);
  work.first = static_cast<std::uint32_t>(side[4]),
  work.count = static_cast<std::uint32_t>(side[5]);
  Launches launches(stream, CoreKind::kVector, block_num);
  if (work.pieces() <= 1) {  // of no tokens ends are still zeros
    return launches.launch(CoreKind::kVector, Phase::kMove, work, std::max(work.lines(), 1U));
  }
  const std::uint64_t bytes = std::uint64_t{work.pieces()} * work.pitch() * kInt;
  const std::uint64_t space = stream.workspace(bytes + abi::kCacheLine);
  if (space == 0) return;
  work.counts = aicore::round_up<std::uint64_t>(space, abi::kCacheLine);
  launches.launch(CoreKind::kVector, Phase::kCount, work, work.pieces());
  launches.launch(CoreKind::kVector, Phase::kMoveCounted, work, work.lines());
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
