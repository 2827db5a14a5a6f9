// SPDX-License-Identifier: Apache-2.0
// The latency of one entry at a time of a compute queue, by kind of entry, and where each
// nanosecond of it went; and what a submission costs the driver.
#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "kernels/device/shipped/elementwise.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/queue_milestones.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/queue_session.hpp"
#include "workloads/programs/support/typical_sample.hpp"

namespace npu::workloads {
namespace programs::queue_latency {
namespace {

constexpr Bytes kCopied = 4_KiB;
constexpr Bytes kWord = sizeof(std::uint32_t);

template <auto kMember>
FigureValue per_entry(const driver::QueueCounters& counters) {
  return Number::quotient(counters.*kMember, counters.entries, 3);
}

constexpr Figure<driver::QueueCounters> kCost[] = {
    {"doorbells_per_entry", "", per_entry<&driver::QueueCounters::doorbells>, {}, kNoMore},
    {"entry_writes_per_entry", "", per_entry<&driver::QueueCounters::entry_writes>, {}, kNoMore},
    {"mmio_reads_per_entry", "", per_entry<&driver::QueueCounters::mmio_reads>, {}, kNoMore}};
constexpr Figure<Number> kCalls[] = {{"manager_calls_per_queue", "", itself, {}, kNoMore}};

class Bench {
 public:
  Bench(Context& context, driver::Device& device, QueueSession& session)
      : context_(context), device_(device), session_(session) {}

  Status prepare() {
    auto memory = session_.allocate(2 * kCopied);
    if (!memory) return forward_error(memory);
    memory_ = *memory;
    auto host = session_.allocate_host(2 * kCopied);
    if (!host) return forward_error(host);
    host_ = *host;
    policy_ = wait_policy(context_.parameters.choice("policy"));
    options_.ring.memory = queue_memory(context_.parameters);
    options_.interrupt = policy_ != driver::WaitPolicy::kPolling;
    return {};
  }

  // All iterations of one kind on a queue of its own, which the first entry brings into a slot.
  Status run(const std::string& kind) {
    auto options = options_;
    if (kind == "kernel") {
      const auto cores = vector_cores(context_, device_);
      if (!cores) return forward_error(cores);
      options.core_mask = *cores;
    }
    auto queue = session_.create_queue(options);
    if (!queue) return forward_error(queue);
    std::vector<LatencySample> first, loaded;
    const auto iterations = context_.parameters.integer("iterations");
    for (std::uint64_t i = 0; i <= iterations; ++i) {
      auto entry = make(kind);
      if (!entry) return forward_error(entry);
      const std::uint64_t seed = context_.seed ^ i;
      fill_pattern(source(), seed);
      if (auto ok = session_.write(memory_, source()); !ok) return ok;
      auto sample = measure(**queue, *entry);
      if (!sample) return forward_error(sample);
      if (auto ok = check(kind); !ok) return ok;
      (i == 0 ? first : loaded).push_back(std::move(*sample));
    }
    const std::string where = context_.parameters.choice("queue_memory");
    const std::string group = fmt::format(
        "latency of one entry in ns, ring in {} memory, waiting "
        "by {}",
        where, context_.parameters.choice("policy"));
    const std::string prefix = "queue." + kind;
    report_latencies(context_, prefix + ".first", group, kind + ", first", first);
    report_latencies(context_, prefix, group, kind, loaded);
    report_cost(prefix, **queue);
    const auto end = session_.process().destroy(**queue, deadline_of(context_));
    if (!end) return forward_error(end);
    if (*end == driver::QueueEnd::kDrained) return {};
    return fail(ErrorCode::kBadDevice, "the queue had to be reset to end");
  }

 private:
  ByteSpan source() const { return host_->cpu().subspan(0, kCopied); }
  ByteSpan target() const { return host_->cpu().subspan(kCopied, kCopied); }
  driver::DeviceAddress destination() const { return memory_ + kCopied; }

  // Each works on what run() has put at the first half of the memory.
  Result<abi::QueueEntry> make(const std::string& kind) {
    namespace entries = driver::entries;
    if (kind == "nop") return entries::nop();
    if (kind == "timestamp") return entries::timestamp(destination());
    if (kind == "fill") return entries::fill(destination(), kCopied, kPattern);
    if (kind == "d2d") return entries::copy_on_device(memory_, destination(), kCopied);
    if (kind == "h2d") return entries::copy_to_device(host_->bus(), destination(), kCopied);
    if (kind == "d2h") return entries::copy_to_host(memory_, host_->bus() + kCopied, kCopied);
    kernels::vector::Elementwise copy;
    copy.op = platform::VectorOp::kCopy;
    copy.to = destination().value;
    copy.a = memory_.value;
    copy.count = kCopied / kWord;
    if (!session_.has_room_for_launch()) session_.forget_launches();  // all have been waited for
    return session_.launch("elementwise", 1, kernels::vector::to_words(copy));
  }

  Result<LatencySample> measure(driver::Queue& queue, const abi::QueueEntry& entry) {
    QueueMilestones milestones;
    const TraceSession listening(context_.trace, milestones);
    auto& clock = context_.platform.clock();
    const Instant begin = clock.now();
    driver::QueueEntryOptions options;
    options.interrupt = options_.interrupt;
    auto ticket = queue.submit(entry, deadline_of(context_), options);
    if (!ticket) return forward_error(ticket);
    const bool has_parts = context_.trace.has_events();
    const Instant submitted = has_parts ? begin : clock.now();
    if (auto ok = queue.wait(*ticket, policy_, deadline_of(context_)); !ok)
      return forward_error(ok);
    const auto cause =
        platform::queue_cause(device_.info().device_index, queue.id().value, ticket->index);
    if (!has_parts) {
      return LatencySample{{{"submit", submitted - begin}}, clock.now() - submitted, begin, cause};
    }
    auto breakdown = milestones.parts(cause, {begin, clock.now()});
    if (!breakdown) return forward_error(breakdown);
    return LatencySample{std::move(breakdown->parts), *breakdown->wait, begin, cause};
  }

  Status check(const std::string& kind) {
    if (kind == "nop") return {};
    if (kind == "d2h") return check_equal(source(), target(), kind);
    std::vector<std::byte> found(kCopied);
    if (auto ok = session_.read(destination(), {found.data(), found.size()}); !ok) return ok;
    if (kind == "timestamp") {
      std::uint64_t time = 0;
      std::memcpy(&time, found.data(), sizeof time);
      if (time > std::exchange(time_, time)) return {};
      return fail(ErrorCode::kBadDevice, fmt::format("a timestamp of {} ns", time));
    }
    if (kind != "fill") return check_equal(source(), ByteSpan{found.data(), found.size()}, kind);
    std::vector<std::uint32_t> expected(kCopied / kWord, kPattern);
    return check_equal({reinterpret_cast<const std::byte*>(expected.data()), kCopied},
                       ByteSpan{found.data(), found.size()}, kind);
  }

  void report_cost(const std::string& prefix, const driver::Queue& queue) {
    report_figures(context_, prefix + ".", kCost, queue.counters());
  }

  static constexpr std::uint32_t kPattern = 0x5EED'F00D;
  Context& context_;
  driver::Device& device_;
  QueueSession& session_;
  driver::DeviceAddress memory_;
  platform::DmaMemory* host_ = nullptr;
  driver::WaitPolicy policy_ = driver::WaitPolicy::kPolling;
  driver::QueueOptions options_;
  std::uint64_t time_ = 0;  // the card's, by the latest timestamp
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  Bench bench(context, **device, **session);
  if (auto ok = bench.prepare(); !ok) return ok;
  const auto& kinds = context.parameters.choices("kinds");
  const auto calls = driver::queue_statistics(**device).calls;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    context.step(kinds[i], i, kinds.size());
    if (auto ok = bench.run(kinds[i]); !ok) return ok;
  }
  // Making and destroying each kind's queue; submissions add nothing.
  const auto manager_calls = driver::queue_statistics(**device).calls - calls;
  report_figures(context, "queue.", kCalls, Number::quotient(manager_calls, kinds.size(), 3));
  context.report.add_note(
      !context.trace.has_events()
          ? "no parts: this machine has no events"
          : "first: the entry that brings the queue into a hardware slot. Parts: submit, the call; "
            "doorbell, its flight to the card; doorbell_decode; map, loading the queue; fetch, "
            "reading "
            "the entry; decode; dispatch, until an engine or core has it; work; completion, until "
            "the "
            "completion entry is visible; wait, until wait() returns.");
  if (auto ok = (*session)->close(); !ok) return ok;
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::queue_latency

Workload queue_latency() {
  return with_latencies(
      {"queue_latency",
       "Latency of single entries of a compute queue, broken down; data compared byte for byte",
       {choices_parameter("kinds", "nop,fill,d2d,h2d,d2h,kernel",
                          "kinds of entries; all but nop and timestamp work on 4 KiB",
                          {"nop", "fill", "d2d", "h2d", "d2h", "kernel", "timestamp"}),
        {"iterations", ParameterType::kInteger, "", "5", "entries per kind", 1, 100'000},
        policy_parameter(),
        queue_memory_parameter(),
        card_parameter()},
       programs::queue_latency::run,
       figure_rows(programs::queue_latency::kCost, programs::queue_latency::kCalls)},
      "queue");
}

}  // namespace npu::workloads
