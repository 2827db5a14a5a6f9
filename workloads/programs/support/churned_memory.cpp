// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/churned_memory.hpp"
#include "workloads/framework/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "npu/base/checked.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/support/block_contents.hpp"
#include "workloads/programs/support/compaction_stages.hpp"

namespace npu::workloads {
namespace {

struct ChurnFigures {
  std::uint64_t allocations, refused;
  Bytes peak;
  driver::CompactionStatistics compactions;
  std::vector<MeasuredSpan> pauses;

  MeasuredTime pause() const { return {compactions.pause, pauses}; }
};

constexpr Figure<ChurnFigures> kOfChurn[] = {
    {"allocations", "", from<&ChurnFigures::allocations>},
    {"refused", "", from<&ChurnFigures::refused>},
    {"peak_used_bytes", "B", from<&ChurnFigures::peak>},
    {"runs", "", from<&ChurnFigures::compactions, &driver::CompactionStatistics::runs>},
    {"failures",
     "",
     from<&ChurnFigures::compactions, &driver::CompactionStatistics::failures>,
     {},
     kNoMore},
    {"moved_bytes", "B", from<&ChurnFigures::compactions, &driver::CompactionStatistics::moved>},
    {"pause_ms", "ms", from<&ChurnFigures::pause>}};

class ChurnedMemory {
 public:
  ChurnedMemory(Context& context, driver::Device& device, BlockContents& contents)
      : context_(context),
        device_(device),
        contents_(contents),
        random_(context.random(1)),
        stages_(context) {}

  Status run() {
    const auto rounds = context_.parameters.integer("rounds");
    const Bytes total = device_.memory_statistics().total;
    const Bytes wanted = total / 100 * context_.parameters.integer("occupancy");
    for (std::uint64_t round = 0; round < rounds; ++round) {
      context_.step("churning", round, rounds);
      const Bytes size = draw_size();
      auto ok = used_ + size <= wanted ? allocate(size, round) : free_one();
      if (!ok) return ok;
      if (auto sum = check_sum(total); !sum) return sum;
    }
    while (!live_.empty()) {
      if (auto ok = free_one(); !ok) return ok;
    }
    const auto memory = device_.memory_statistics();
    if (memory.largest_free_block == total) return {};
    return fail(ErrorCode::kWrongData,
                fmt::format("after everything was freed the largest free block has {} bytes, "
                            "expected all {}",
                            memory.largest_free_block, total));
  }

  void report() const {
    report_figures(
        context_, "compaction.random.", kOfChurn,
        {allocations_, refused_, peak_, device_.compaction_statistics(), stages_.pauses()});
    context_.report.add_note(
        "after every round free and used memory were the card, every block's contents "
        "were intact when it was freed, and at the end all memory was one free block");
  }

 private:
  struct Block {
    driver::DeviceMemory memory;
    std::uint64_t tag;
  };

  Bytes draw_size() {
    const Bytes most = context_.parameters.size("max_size");
    const auto classes = floor_log2(most / driver::kPageSize) + 1;
    const Bytes first = driver::kPageSize << random_.below(classes);
    const Bytes drawn = std::min(most, random_.between(first, 2 * first - 1));
    return align_down(drawn, driver::kPageSize);
  }

  // The occupancy is below what is free, so only an immovable layout may be refused.
  Status allocate(Bytes size, std::uint64_t tag) {
    const auto memory = device_.allocate(size);
    if (!memory) {
      if (memory.error().code != ErrorCode::kOutOfMemory) return forward_error(memory);
      ++refused_;
      return free_one();
    }
    ++allocations_;
    used_ += memory->reserved;
    peak_ = std::max(peak_, used_);
    live_.push_back({*memory, tag});
    return contents_.write(memory->address, size, tag);
  }

  Status free_one() {
    if (live_.empty()) return {};
    std::swap(live_[random_.below(live_.size())], live_.back());
    const Block block = live_.back();
    live_.pop_back();
    auto intact = contents_.check(block.memory.address, block.memory.size, block.tag);
    if (!intact) return intact;
    used_ -= block.memory.reserved;
    return device_.free(block.memory.address);
  }

  Status check_sum(Bytes total) const {
    const Bytes free = device_.memory_statistics().free;
    if (free + used_ == total) return {};
    return fail(ErrorCode::kWrongData,
                fmt::format("{} bytes free and {} in live blocks are not the card's {}", free,
                            used_, total));
  }

  Context& context_;
  driver::Device& device_;
  BlockContents& contents_;
  Random random_;
  CompactionStages stages_;
  std::vector<Block> live_;
  Bytes used_ = 0, peak_ = 0;
  std::uint64_t allocations_ = 0, refused_ = 0;
};

}  // namespace

Status churn_with_compaction(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  const auto stream = (*device)->create_stream();
  if (!stream) return forward_error(stream);
  auto contents =
      BlockContents::make(context, **device, *stream, context.parameters.size("window"));
  if (!contents) return forward_error(contents);
  const Bytes all = (*device)->memory_statistics().total;
  const Bytes windows = all / 100 * context.parameters.integer("occupancy") / driver::kPageSize *
                        std::max(context.parameters.size("window"), 4_KiB);
  const auto what = "window=" + size_name(context.parameters.size("window"));
  if (auto ok = require_host_memory(what, windows); !ok) return ok;
  ChurnedMemory memory(context, **device, *contents);
  if (auto ok = memory.run(); !ok) return ok;
  memory.report();
  return {};
}

std::vector<FigureRow> churn_figures() {
  return figure_rows(kOfChurn);
}

}  // namespace npu::workloads
