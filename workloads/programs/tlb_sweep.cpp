// SPDX-License-Identifier: Apache-2.0
// How far the card's TLB reaches: small copies from all over a footprint, by stride and page size.
#include <fmt/format.h>

#include <algorithm>

#include "npu/driver/address_space.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace programs::tlb_sweep {
namespace {

constexpr Bytes kCell = 64;
constexpr std::uint64_t kInFlight = 64;  // commands between two waits

// Memory of one page size: a block whose physical and virtual addresses agree modulo 1 GiB gets
// giant pages, one that is shifted by a page gets none.
class Footprint {
 public:
  static Bytes shift_of(bool giant) { return giant ? 0 : driver::kPageSize; }
  static Result<Footprint> map(driver::AddressSpace& space, Bytes size, bool giant) {
    const Bytes shift = shift_of(giant);
    const auto memory = space.create_memory(size + shift);
    if (!memory) return forward_error(memory);
    const auto begin = space.reserve(size, std::min<Bytes>(size, 1_GiB));
    if (!begin) return forward_error(begin);
    if (auto ok = space.map(*begin, size, *memory, shift); !ok) return forward_error(ok);
    auto ok = space.set_access(*begin, size, driver::Access::kReadWrite);
    if (!ok) return forward_error(ok);
    return Footprint{space, *memory, *begin, size};
  }
  Status unmap() {
    if (auto ok = space.unmap(begin, size); !ok) return ok;
    if (auto ok = space.release(begin); !ok) return ok;
    return space.release_memory(memory);
  }

  driver::AddressSpace& space;
  driver::MemoryHandle memory;
  driver::DeviceAddress begin;
  Bytes size;
};

// From the first data request to the last data written, summed over all commands heard.
class DataTime : public platform::TraceSink {
 public:
  explicit DataTime(bool keeps_spans) : keeps_(keeps_spans) {}
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kEngineStart) begin_ = event.end;
    if (event.activity != platform::Activity::kDataWrite) return;
    sum += event.end - begin_;
    if (keeps_) spans.push_back({begin_, event.end, event.cause});
  }
  Picoseconds sum{};
  std::vector<MeasuredSpan> spans;  // if they are wanted

 private:
  const bool keeps_;
  Instant begin_{};
};

struct Swept {
  MeasuredTime data;
  std::optional<Number> misses_per_access, entries_per_walk;  // of cards with counters
};

constexpr Figure<Swept> kFigures[] = {
    {"data_ns", "ns", from<&Swept::data>, {"data ns"}},
    {"misses_per_access", "", from<&Swept::misses_per_access>, {"misses per access"}, kHardlyMore},
    {"entries_per_walk", "", from<&Swept::entries_per_walk>, {"entries per walk"}, kHardlyMore}};

class Sweep {
 public:
  Sweep(Context& context, driver::Device& device, driver::StreamId stream,
        driver::DeviceAddress scratch)
      : context_(context),
        device_(device),
        stream_(stream),
        scratch_(scratch),
        table_(add_figure_table(context.report, "copies of 64 B from all over a footprint",
                                {"pages", "footprint", "stride"}, kFigures)) {}

  Status measure(const Footprint& footprint, const std::string& pages, Bytes stride) {
    const auto accesses = context_.parameters.integer("accesses");
    const auto warm_up = context_.parameters.integer("warm_up");
    if (auto ok = copy(footprint, stride, 0, warm_up); !ok) return ok;  // what fits is there now
    const auto before = context_.simulator.mmus();
    DataTime time(context_.platform.tracer().enabled());
    {
      const TraceSession session(context_.trace, time);
      if (auto ok = copy(footprint, stride, warm_up, accesses); !ok) return ok;
    }
    report(footprint.size, pages, stride, time, before);
    return {};
  }

 private:
  // Round the footprint from access number `first` on. The commands of one stream run one after
  // another, so their data times do not overlap.
  Status copy(const Footprint& footprint, Bytes stride, std::uint64_t first, std::uint64_t count) {
    const Bytes positions = footprint.size / stride;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto from = footprint.begin + (first + i) % positions * stride;
      const auto ticket =
          device_.submit(stream_, driver::DmaCommand::device_to_device(from, scratch_, kCell));
      if (!ticket) return forward_error(ticket);
      if (i % kInFlight != kInFlight - 1 && i + 1 != count) continue;
      auto done = device_.wait(*ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
      if (!done) return done;
    }
    return {};
  }

  void report(Bytes size, const std::string& pages, Bytes stride, const DataTime& time,
              const std::vector<MmuCounters>& before) {
    const auto card = context_.parameters.integer("card");
    const auto accesses = context_.parameters.integer("accesses");
    const std::string prefix =
        "tlb_sweep." + pages + "." + size_name(size) + ".stride" + size_name(stride) + ".";
    Swept swept;
    swept.data = {mean(time.sum, accesses), time.spans, platform::Statistic::kMean};
    const auto after = context_.simulator.mmus();
    if (card < after.size()) {
      const auto& a = after[card];
      const auto& b = before[card];
      swept.misses_per_access = Number::quotient(a.misses - b.misses, accesses, 4);
      swept.entries_per_walk =
          Number::quotient(a.entries_read - b.entries_read, a.walks - b.walks, 3);
    }
    report_figures(context_, prefix, kFigures, swept, &table_,
                   {pages, size_name(size), size_name(stride)});
  }

  Context& context_;
  driver::Device& device_;
  driver::StreamId stream_;
  driver::DeviceAddress scratch_;
  Table& table_;
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  const auto stream = (*device)->create_stream();
  if (!stream) return forward_error(stream);
  const auto scratch = (*device)->allocate(kCell);
  if (!scratch) return forward_error(scratch);
  Sweep sweep(context, **device, *stream, scratch->address);
  const Bytes most = (*device)->memory_statistics().largest_free_block;
  std::uint64_t done = 0;
  const auto total =
      context.parameters.choices("pages").size() * context.parameters.sizes("footprints").size();
  for (const auto& pages : context.parameters.choices("pages")) {
    for (const Bytes size : context.parameters.sizes("footprints")) {
      context.step(pages + " pages, " + size_name(size), done++, total);
      const bool giant = pages == "giant";
      if (giant && size < 1_GiB) continue;  // there are no giant pages in it
      if (size + Footprint::shift_of(giant) > most) {
        context.report.add_note(
            fmt::format("{} pages: the card has no {} in one piece", pages, size_name(size)));
        continue;
      }
      auto footprint = Footprint::map((*device)->address_space(), size, giant);
      if (!footprint) return forward_error(footprint);
      for (const Bytes stride : context.parameters.sizes("strides")) {
        if (stride > size) continue;
        if (auto ok = sweep.measure(*footprint, pages, stride); !ok) return ok;
      }
      if (auto ok = footprint->unmap(); !ok) return ok;
    }
  }
  if (context.report.metrics().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("nothing to measure: a footprint must be at most the {} that the card "
                            "has in one piece, at least a stride, and 1GiB for giant pages",
                            size_name(most)));
  }
  context.report.add_note(
      "data: from the first data request to the last data written; the first access of a page "
      "walks the tables in device memory unless the TLB still holds its translation");
  return {};
}

}  // namespace
}  // namespace programs::tlb_sweep

Workload tlb_sweep() {
  return {
      "tlb_sweep",
      "Latency of small copies over footprint, stride and page size: what the TLB holds",
      {choices_parameter("pages", "huge,giant", "pages of 2 MiB or 1 GiB", {"huge", "giant"}),
       {"footprints", ParameterType::kSizeList, "B", "64MiB..32GiB", "memory the copies touch",
        2_MiB, 128_GiB},
       {"strides", ParameterType::kSizeList, "B", "64KiB,2MiB", "from one access to the next", 64,
        1_GiB},
       {"warm_up", ParameterType::kInteger, "", "8192", "copies per row before those measured", 0,
        100'000'000},
       {"accesses", ParameterType::kInteger, "", "2048", "measured copies per row", 1, 10'000'000},
       card_parameter()},
      programs::tlb_sweep::run,
      figure_rows(programs::tlb_sweep::kFigures)};
}

}  // namespace npu::workloads
