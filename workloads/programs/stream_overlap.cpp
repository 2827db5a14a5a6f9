// SPDX-License-Identifier: Apache-2.0
// Copies and kernels at the same time, on queues of their own: how much of the shorter one hides
// behind the longer.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/device/shipped/elementwise.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {
namespace programs::stream_overlap {
namespace {

constexpr Bytes kWord = sizeof(std::uint32_t);

struct Overlapped {
  MeasuredSpan copies, kernels, both;  // each alone; together

  Number hidden_percent() const {
    const Picoseconds a = copies.end - copies.begin, b = kernels.end - kernels.begin;
    const Picoseconds shorter = std::min(a, b);
    const auto hidden = std::clamp(a + b - (both.end - both.begin), Picoseconds(0), shorter);
    return Number::percent(static_cast<std::uint64_t>(hidden.count()),
                           static_cast<std::uint64_t>(shorter.count()));
  }
};

constexpr Figure<Overlapped> kFigures[] = {
    {"copies_us", "us", from<&Overlapped::copies>},
    {"kernels_us", "us", from<&Overlapped::kernels>},
    {"both_us", "us", from<&Overlapped::both>},
    {"hidden_percent", "%", from<&Overlapped::hidden_percent>, {}, kHardlyLess}};

class Overlap {
 public:
  Overlap(Context& context, driver::Device& device, QueueSession& session)
      : context_(context),
        device_(device),
        session_(session),
        rounds_(context.parameters.integer("rounds")),
        size_(context.parameters.size("size")) {}

  Status prepare() {
    if (size_ % kWord != 0)
      return fail(ErrorCode::kInvalidArgument, "size=" + size_name(size_) + ": no multiple of 4 B");
    // Where it comes from, the source and both results, and one result read back.
    if (auto ok = require_host_memory("size=" + size_name(size_), 5 * size_); !ok) {
      return ok;
    }
    auto host = session_.allocate_host(size_);
    if (!host) return forward_error(host);
    host_ = *host;
    fill_pattern(host_->cpu(), context_.seed);
    auto memory = session_.allocate(4 * size_);
    if (!memory) return forward_error(memory);
    memory_ = *memory;
    const ConstByteSpan data = host_->cpu();
    if (auto ok = session_.write(memory_ + size_, data); !ok) return ok;
    kernels::vector::Elementwise copy;
    copy.op = platform::VectorOp::kCopy;
    copy.to = (memory_ + 2 * size_).value;
    copy.a = (memory_ + size_).value;
    copy.count = size_ / kWord;
    const auto blocks = static_cast<std::uint32_t>(context_.parameters.integer("blocks"));
    auto kernel = session_.launch("elementwise", blocks, kernels::vector::to_words(copy));
    if (!kernel) return forward_error(kernel);
    kernel_ = *kernel;
    copy_ = driver::entries::copy_to_device(host_->bus(), memory_, size_);
    driver::QueueOptions options;
    options.interrupt = false;
    options.in_order = true;
    const auto cores = vector_cores(context_, device_);
    if (!cores) return forward_error(cores);
    options.core_mask = *cores;
    for (auto* queue : {&copies_, &kernels_}) {
      auto made = session_.create_queue(options);
      if (!made) return forward_error(made);
      *queue = std::move(*made);
    }
    return {};
  }

  // `rounds` copies and so many kernels, each on its own queue.
  Result<MeasuredSpan> run(bool copies, bool kernels) {
    auto& clock = context_.platform.clock();
    const Instant begin = clock.now();
    driver::QueueTicket copy, kernel;
    driver::QueueEntryOptions options;
    options.interrupt = false;
    for (std::uint64_t i = 0; i < rounds_; ++i) {
      context_.step(copies && kernels ? "both" : copies ? "copies" : "kernels", i, rounds_);
      for (const bool which : {false, true}) {
        if (which ? !kernels : !copies) continue;
        auto ticket = which ? kernels_->submit(kernel_, deadline(), options)
                            : copies_->submit(copy_, deadline(), options);
        if (!ticket) return forward_error(ticket);
        (which ? kernel : copy) = *ticket;
      }
    }
    for (const bool which : {false, true}) {
      if (which ? !kernels : !copies) continue;
      auto done = (which ? kernels_ : copies_)
                      ->wait(which ? kernel : copy, driver::WaitPolicy::kPolling, deadline());
      if (!done) return forward_error(done);
    }
    return MeasuredSpan{begin, clock.now()};
  }

  Status check() {
    std::vector<std::byte> found(size_);
    for (const Bytes offset : {Bytes{0}, 2 * size_}) {
      if (auto ok = session_.read(memory_ + offset, {found.data(), size_}); !ok) return ok;
      if (auto ok = check_equal(host_->cpu(), ByteSpan{found.data(), size_},
                                offset == 0 ? "copy" : "kernel");
          !ok) {
        return ok;
      }
    }
    return {};
  }

  Status close() {
    for (auto* queue : {&copies_, &kernels_}) {
      auto end = session_.process().destroy(**queue, deadline_of(context_));
      if (!end) return forward_error(end);
      queue->reset();
    }
    return {};
  }

 private:
  // For all copies and all kernels of a run.
  Instant deadline() const {
    return deadline_of(context_, static_cast<std::int64_t>(2 * rounds_) * (1_ms + time_for(size_)));
  }

  Context& context_;
  driver::Device& device_;
  QueueSession& session_;
  std::uint64_t rounds_;
  Bytes size_;
  platform::DmaMemory* host_ = nullptr;
  driver::DeviceAddress memory_;  // copied to, kernels' source, their destination
  abi::QueueEntry copy_, kernel_;
  std::unique_ptr<driver::Queue> copies_, kernels_;
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  Overlap overlap(context, **device, **session);
  if (auto ok = overlap.prepare(); !ok) return ok;
  Overlapped times;
  for (auto [span, copies, kernels] : {std::tuple(&times.copies, true, false),
                                       {&times.kernels, false, true},
                                       {&times.both, true, true}}) {
    const auto measured = overlap.run(copies, kernels);
    if (!measured) return forward_error(measured);
    *span = *measured;
  }
  if (auto ok = overlap.check(); !ok) return ok;
  report_figures(context, "stream_overlap.", kFigures, times);
  const auto text = [](const MeasuredSpan& span) {
    return Number::microseconds(span.end - span.begin).text();
  };
  context.report.add_note(fmt::format(
      "copies alone {} us, kernels alone {} us, both together {} us: {} % "
      "of the shorter one is hidden; data compared",
      text(times.copies), text(times.kernels), text(times.both), times.hidden_percent().text()));
  if (auto ok = overlap.close(); !ok) return ok;
  if (auto ok = (*session)->close(); !ok) return ok;
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::stream_overlap

Workload stream_overlap() {
  return {
      "stream_overlap",
      "Copies over the link beside kernels on the AI Cores: what of it overlaps",
      {{"rounds", ParameterType::kInteger, "", "8", "copies, and kernels", 1, 10'000},
       {"size", ParameterType::kSize, "B", "4MiB", "of a copy and of a kernel's data", 4, 1_GiB},
       {"blocks", ParameterType::kInteger, "", "64", "of a kernel", 1, 65'536},
       card_parameter()},
      programs::stream_overlap::run,
      figure_rows(programs::stream_overlap::kFigures)};
}

}  // namespace npu::workloads
