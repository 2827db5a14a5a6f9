// SPDX-License-Identifier: Apache-2.0
// Allocations of random size and lifetime over the whole device memory: nothing overlaps, nothing
// leaks, and how fragmented the free memory becomes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "npu/base/checked.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace programs::alloc_churn {
namespace {

constexpr Bytes kTag = 64;
constexpr std::uint64_t kSamples = 10;  // rows of the table

struct Counts {
  std::uint64_t allocations = 0;
  std::uint64_t full = 0;        // refused: not that much was free
  std::uint64_t fragmented = 0;  // refused: free, but not in one piece
  std::uint64_t fragmentation_sum = 0;
  std::uint64_t fragmentation_max = 0;  // permille
  Bytes peak = 0;
};

struct Churned {
  Counts counts;
  std::uint64_t steps;
  driver::MemoryStatistics memory;

  Number mean_fragmentation() const {
    return Number::quotient(counts.fragmentation_sum, steps * 10, 3);
  }
  Number most_fragmentation() const { return Number::quotient(counts.fragmentation_max, 10, 3); }
};

constexpr Figure<Churned> kFigures[] = {
    {"allocations", "", from<&Churned::counts, &Counts::allocations>},
    {"refused_full", "", from<&Churned::counts, &Counts::full>},
    {"refused_fragmented", "", from<&Churned::counts, &Counts::fragmented>},
    {"peak_used_bytes", "B", from<&Churned::counts, &Counts::peak>},
    {"fragmentation_mean_percent", "%", from<&Churned::mean_fragmentation>},
    {"fragmentation_max_percent", "%", from<&Churned::most_fragmentation>},
    {"splits", "", from<&Churned::memory, &driver::MemoryStatistics::splits>},
    {"merges", "", from<&Churned::memory, &driver::MemoryStatistics::merges>}};

class Churn {
 public:
  Churn(Context& context, driver::Device& device)
      : context_(context),
        device_(device),
        sizes_(context.random(1)),
        lifetimes_(context.random(2)),
        table_(context.report.add_table("device memory over time",
                                        {"step", "live", "used GiB", "free GiB", "largest GiB",
                                         "fragmentation %", "refused"})) {}

  Status run(platform::DmaMemory* tags, driver::StreamId stream) {
    tags_ = tags;
    stream_ = stream;
    const auto steps = context_.parameters.integer("steps");
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (auto ok = free_expired(step); !ok) return ok;
      if (auto ok = allocate(step); !ok) return ok;
      const auto statistics = device_.memory_statistics();
      const std::uint64_t fragmentation = statistics.fragmentation_permille();
      counts_.fragmentation_sum += fragmentation;
      counts_.fragmentation_max = std::max(counts_.fragmentation_max, fragmentation);
      counts_.peak = std::max(counts_.peak, statistics.used());
      if (statistics.used() != live_bytes_) {
        return fail(ErrorCode::kWrongData, fmt::format("{} bytes are used, {} were given",
                                                       statistics.used(), live_bytes_));
      }
      if ((step + 1) * kSamples / steps != step * kSamples / steps) add_row(step + 1, statistics);
      if (step % 1024 == 0) context_.step("allocating", step, steps);
    }
    if (auto ok = free_expired(UINT64_MAX); !ok) return ok;
    return check_empty();
  }

  void report() const {
    report_figures(context_, "alloc_churn.", kFigures,
                   {counts_, context_.parameters.integer("steps"), device_.memory_statistics()});
    context_.report.add_note(
        "no two live blocks overlapped, and at the end all memory was one free block");
  }

 private:
  struct Block {
    driver::DeviceMemory memory;
    std::uint64_t tag = 0;
  };

  // Every size class is equally likely, and every size within it.
  Bytes draw_size() {
    const Bytes least = context_.parameters.size("min_size");
    const Bytes most = std::max(least, context_.parameters.size("max_size"));
    const auto classes = floor_log2(most / least) + 1;
    const Bytes first = least << sizes_.below(classes);
    return std::min(most, sizes_.between(first, 2 * first - 1));
  }

  Status allocate(std::uint64_t step) {
    const Bytes size = draw_size();
    const auto lifetime = lifetimes_.between(1, context_.parameters.integer("lifetime"));
    auto memory = device_.allocate(size);
    if (!memory) {
      if (memory.error().code != ErrorCode::kOutOfMemory) return forward_error(memory);
      ++(device_.memory_statistics().free >= size ? counts_.fragmented : counts_.full);
      return {};
    }
    ++counts_.allocations;
    live_bytes_ += memory->reserved;
    if (memory->reserved < size || memory->address.value % driver::kPageSize != 0) {
      return fail(ErrorCode::kWrongData, fmt::format("{} bytes at {:#x}: {} reserved", size,
                                                     memory->address.value, memory->reserved));
    }
    const auto next = live_.upper_bound(memory->address.value);
    const bool hits_next =
        next != live_.end() && memory->address.value + memory->reserved > next->first;
    const bool hits_previous =
        next != live_.begin() &&
        std::prev(next)->first + std::prev(next)->second.memory.reserved > memory->address.value;
    if (hits_next || hits_previous) {
      const auto& other = hits_next ? next->second.memory : std::prev(next)->second.memory;
      return fail(
          ErrorCode::kWrongData,
          fmt::format("the new block at {:#x} of {} bytes overlaps the live one at {:#x} of "
                      "{} bytes",
                      memory->address.value, memory->reserved, other.address.value,
                      other.reserved));
    }
    live_[memory->address.value] = {*memory, step};
    expiry_.emplace(step + lifetime, memory->address.value);
    return tags_ ? write_tags(live_[memory->address.value]) : Status{};
  }

  Status free_expired(std::uint64_t step) {
    while (!expiry_.empty() && expiry_.begin()->first <= step) {
      const auto block = live_.find(expiry_.begin()->second);
      if (tags_) {
        if (auto ok = check_tags(block->second); !ok) return ok;
      }
      if (auto ok = device_.free(block->second.memory.address); !ok) return ok;
      live_bytes_ -= block->second.memory.reserved;
      live_.erase(block);
      expiry_.erase(expiry_.begin());
    }
    return {};
  }

  // A tag at the first and one at the last bytes of a block; a stray write would change them.
  Status write_tags(const Block& block) {
    fill_pattern(tags_->cpu().subspan(0, kTag), block.tag);
    for (const Bytes at : {Bytes{0}, block.memory.size - kTag}) {
      auto ok = device_.copy(
          stream_,
          driver::DmaCommand::host_to_device(tags_->bus(), block.memory.address + at, kTag),
          driver::WaitPolicy::kPolling, deadline_of(context_));
      if (!ok) return ok;
    }
    return {};
  }

  Status check_tags(const Block& block) {
    fill_pattern(tags_->cpu().subspan(0, kTag), block.tag);
    for (const Bytes at : {Bytes{0}, block.memory.size - kTag}) {
      auto ok = device_.copy(
          stream_,
          driver::DmaCommand::device_to_host(block.memory.address + at, tags_->bus() + kTag, kTag),
          driver::WaitPolicy::kPolling, deadline_of(context_));
      if (!ok) return ok;
      ok = check_equal(
          tags_->cpu().subspan(0, kTag), tags_->cpu().subspan(kTag, kTag),
          fmt::format("tag at byte {} of the block at {:#x}", at, block.memory.address.value));
      if (!ok) return ok;
    }
    return {};
  }

  void add_row(std::uint64_t step, const driver::MemoryStatistics& statistics) {
    const auto gib = [](Bytes bytes) { return Number::quotient(bytes, 1_GiB, 3).text(); };
    table_.rows.push_back({std::to_string(step), std::to_string(statistics.allocations),
                           gib(statistics.used()), gib(statistics.free),
                           gib(statistics.largest_free_block),
                           Number::quotient(statistics.fragmentation_permille(), 10, 1).text(),
                           std::to_string(counts_.full + counts_.fragmented)});
  }

  Status check_empty() const {
    const auto statistics = device_.memory_statistics();
    if (statistics.free == statistics.total && statistics.largest_free_block == statistics.total) {
      return {};
    }
    return fail(ErrorCode::kWrongData,
                "after freeing everything " + std::to_string(statistics.free) + " of " +
                    std::to_string(statistics.total) + " bytes are free, the largest block has " +
                    std::to_string(statistics.largest_free_block));
  }

  Context& context_;
  driver::Device& device_;
  Random sizes_;
  Random lifetimes_;
  Table& table_;
  platform::DmaMemory* tags_ = nullptr;
  driver::StreamId stream_;
  Counts counts_;
  std::map<std::uint64_t, Block> live_;                 // by address
  Bytes live_bytes_ = 0;                                // of them, reserved
  std::multimap<std::uint64_t, std::uint64_t> expiry_;  // step -> address
};

Status run(Context& context) {
  driver::DeviceOptions options;
  options.compact_on_demand = context.parameters.flag("compaction");
  auto device = open_card(context, options);
  if (!device) return forward_error(device);
  auto stream = (*device)->create_stream();
  if (!stream) return forward_error(stream);
  auto tags = (*device)->allocate_host(2 * kTag);
  if (!tags) return forward_error(tags);
  Churn churn(context, **device);
  const bool memory = context.parameters.flag("memory");
  if (memory) {
    // A page of this machine at each end of a block, wherever blocks come to lie.
    constexpr Bytes kPage = 4_KiB;
    const auto steps = context.parameters.integer("steps");
    const Bytes touched = std::min(2 * kPage * steps, (*device)->memory_statistics().total);
    const auto what = fmt::format("memory=on steps={}", steps);
    if (auto ok = require_host_memory(what, touched); !ok) return ok;
  }
  if (auto ok = churn.run(memory ? tags->get() : nullptr, *stream); !ok) return ok;
  churn.report();
  tags->reset();
  if (auto ok = (*device)->destroy_stream(*stream, deadline_of(context)); !ok) return ok;
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::alloc_churn

Workload alloc_churn() {
  return {"alloc_churn",
          "Random sizes and lifetimes over all device memory; fragmentation over time",
          {{"steps", ParameterType::kInteger, "", "20000", "allocations tried", 1, 10'000'000},
           {"min_size", ParameterType::kSize, "B", "2MiB", "smallest request", 64, 16_GiB},
           {"max_size", ParameterType::kSize, "B", "4GiB", "largest request", 64, 128_GiB},
           {"lifetime", ParameterType::kInteger, "steps", "200", "longest life of a block", 1,
            1'000'000},
           {"memory", ParameterType::kFlag, "", "off",
            "tag both ends of every block and check the tags before it is freed", 0, 1},
           {"compaction", ParameterType::kFlag, "", "off",
            "move blocks when a request is refused although enough is free", 0, 1},
           card_parameter()},
          programs::alloc_churn::run,
          figure_rows(programs::alloc_churn::kFigures)};
}

}  // namespace npu::workloads
