// SPDX-License-Identifier: Apache-2.0
// Every template of a card: a virtual device is made by it, works as a card does, and leaves
// nothing behind.
#include <fmt/format.h>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/divided_card.hpp"

namespace npu::workloads {
namespace programs::vf_templates {
namespace {

using driver::CardPartition;
using driver::VirtualDeviceOptions;

struct Counts {
  std::uint64_t created = 0, refused = 0, restored = 0;
};

constexpr Figure<Counts> kFigures[] = {{"created", "", from<&Counts::created>},
                                       {"refused", "", from<&Counts::refused>},
                                       {"restored", "", from<&Counts::restored>}};

class Templates {
 public:
  Templates(Context& context, DividedCard& card)
      : context_(context), functions_(card.functions()) {}

  Status run() {
    const auto free = functions_.free_partition();
    if (!free) return forward_error(free);
    before_ = *free;
    const auto& templates = functions_.templates();
    for (std::size_t i = 0; i < templates.size(); ++i) {
      context_.step(templates[i].name, i, templates.size());
      if (auto ok = run_one(templates[i]); !ok) return ok;
    }
    for (const auto& each : templates) {
      if (auto ok = fill_card(each); !ok) return ok;
    }
    if (auto ok = refuse_more(); !ok) return ok;
    report();
    return {};
  }

 private:
  Result<driver::VirtualDevice> create(const std::string& name) {
    VirtualDeviceOptions options;
    options.name = name;
    auto made = functions_.create(options);
    if (made) ++counts_.created;
    return made;
  }
  Status destroy(std::uint32_t index) { return functions_.destroy(index); }

  // What there was before there is again.
  Status check_restored(const std::string& name) {
    const auto free = functions_.free_partition();
    if (!free) return forward_error(free);
    if (*free != before_) {
      return fail(ErrorCode::kWrongData, name + " has left less of the card than there was");
    }
    ++counts_.restored;
    return {};
  }

  Status run_one(const driver::VirtualTemplate& each) {
    const auto made = create(each.name);
    if (!made) return forward_error(made);
    Report latency, product;
    if (auto ok = run_on(context_, *made->bdf, "dma_latency",
                         {"sizes=4KiB", "directions=h2d,d2h", "iterations=3"}, latency);
        !ok) {
      return ok;
    }
    if (auto ok = multiply_on(context_, *made, product); !ok) return ok;
    table_rows_.push_back({each.name, std::to_string(each.partition.ai_cores),
                           std::to_string(each.partition.aicpus),
                           std::to_string(each.partition.memory >> 20)});
    if (auto ok = destroy(made->index); !ok) return ok;
    return check_restored(each.name);
  }

  // As many as the card has room for; the next one is refused, and the sums are those of the card.
  Status fill_card(const driver::VirtualTemplate& each) {
    std::uint32_t count = 0;
    for (;;) {
      const auto made = create(each.name);
      if (made) {
        ++count;
        continue;
      }
      const auto code = made.error().code;
      if (code != ErrorCode::kOutOfResources && code != ErrorCode::kOutOfMemory) {
        return forward_error(made);
      }
      ++counts_.refused;
      break;
    }
    if (auto ok = check_sums(each, count); !ok) return ok;
    if (auto ok = functions_.destroy_all(); !ok) return ok;
    return check_restored(each.name);
  }

  Status check_sums(const driver::VirtualTemplate& each, std::uint32_t count) {
    const auto free = functions_.free_partition();
    if (!free) return forward_error(free);
    const auto& all = functions_.totals();
    const auto adds_up = [count](std::uint64_t total, std::uint64_t left, std::uint64_t of_each) {
      return total == left + count * of_each;
    };
    const auto& partition = each.partition;
    const bool kept = adds_up(all.ai_cores, free->ai_cores, partition.ai_cores) &&
                      adds_up(all.aicpus, free->aicpus, partition.aicpus) &&
                      adds_up(all.memory, free->memory, partition.memory) &&
                      adds_up(all.vpc, free->vpc, partition.vpc) &&
                      adds_up(all.jpegd, free->jpegd, partition.jpegd) &&
                      adds_up(all.jpege, free->jpege, partition.jpege) &&
                      adds_up(all.venc, free->venc, partition.venc) &&
                      adds_up(all.vdec, free->vdec, partition.vdec);
    if (kept) return {};
    return fail(ErrorCode::kWrongData,
                fmt::format("{} times {} and what is free are not the card", count, each.name));
  }

  // One core, one AICPU, one page more than the card has.
  Status refuse_more() {
    CardPartition cores{functions_.totals().ai_cores + 1, 1, 1_GiB, 0, 0, 0, 0, 0};
    CardPartition aicpus{1, functions_.totals().aicpus + 1, 1_GiB, 0, 0, 0, 0, 0};
    CardPartition memory{1, 1, functions_.totals().memory + driver::kPageSize, 0, 0, 0, 0, 0};
    for (const auto& partition : {cores, aicpus, memory}) {
      VirtualDeviceOptions options;
      options.partition = partition;
      const auto made = functions_.create(options);
      if (made) return fail(ErrorCode::kWrongData, "more than the card has was given away");
      context_.report.add_note("refused: " + made.error().message());
      ++counts_.refused;
    }
    return {};
  }

  void report() {
    auto& table =
        context_.report.add_table("templates", {"name", "AI Cores", "AICPUs", "memory MiB"});
    for (auto& row : table_rows_) table.rows.push_back(row);
    report_figures(context_, "vf_templates.", kFigures, counts_);
  }

  Context& context_;
  driver::VirtualFunctions& functions_;
  CardPartition before_;
  std::vector<std::vector<std::string>> table_rows_;
  Counts counts_;
};

Status run(Context& context) {
  auto card = DividedCard::open(context);
  if (!card) return forward_error(card);
  if (auto ok = Templates(context, **card).run(); !ok) return ok;
  return (*card)->close();
}

}  // namespace
}  // namespace programs::vf_templates

Workload vf_templates() {
  return {
      "vf_templates",
      "A virtual device by every template: matmul and dma_latency on it, destroyed, nothing lost",
      {card_parameter()},
      programs::vf_templates::run,
      figure_rows(programs::vf_templates::kFigures)};
}

}  // namespace npu::workloads
