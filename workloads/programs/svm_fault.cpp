// SPDX-License-Identifier: Apache-2.0
// One page fault of the card on managed memory, from the walk that fails to the one that finds the
// page, part by part.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "npu/driver/managed.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/fault_milestones.hpp"
#include "workloads/programs/support/managed_memory.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {
namespace programs::svm_fault {
namespace {

using driver::kPageSize;

constexpr Bytes kTouched = 64;
constexpr Bytes kPart = 4_KiB;
constexpr Bytes kBeyond = 1_GiB;
constexpr Picoseconds kLook = 15_ms;
constexpr std::size_t kAtOnce = 16;
constexpr Picoseconds kPause = 50_us, kHeadStart = 1_us;

struct Sample {
  std::vector<Breakdown::Part> parts;
  Instant begin{};

  Picoseconds total() const {
    Picoseconds sum{};
    for (const auto& part : parts) sum += part.time;
    return sum;
  }
};

struct Batch {
  std::uint64_t faults;
  MeasuredSpan span;
};

constexpr Figure<Batch> kOfBatch[] = {{"faults", "", from<&Batch::faults>},
                                      {"latency_us", "us", from<&Batch::span>}};
constexpr Figure<driver::ManagedStatistics> kOfErrors[] = {
    {"fault_errors", "", from<&driver::ManagedStatistics::fault_errors>},
    {"fault_error_warnings", "", from<&driver::ManagedStatistics::fault_error_warnings>}};
constexpr Figure<MeasuredSpan> kOfFault[] = {{"latency_us", "us", itself}};

class Faults {
 public:
  Faults(Context& context, QueueSession& session, driver::ManagedMemory& managed)
      : context_(context), session_(session), managed_(managed), policy_(managed.policy()) {}

  Status prepare() {
    auto queue = session_.create_queue();
    if (!queue) return forward_error(queue);
    queue_ = std::move(*queue);
    const auto room = session_.allocate(kTouched);
    if (!room) return forward_error(room);
    room_ = *room;
    // The way of a copy is warm then: its queue is loaded, and its addresses are known.
    return touch(room_);
  }

  Result<Sample> measure(const std::string& page, std::uint64_t seed) {
    const auto at = managed_.allocate(kPageSize);
    if (!at) return forward_error(at);
    std::vector<std::byte> expected(page == "untouched" ? 0 : kPageSize), found(expected.size());
    fill_pattern({expected.data(), expected.size()}, seed);
    if (auto ok = managed_.write(*at, {expected.data(), expected.size()}); !ok) {
      return forward_error(ok);
    }
    const bool written = page == "read_only";
    if (written) {
      if (auto ok = give_copy(*at); !ok) return forward_error(ok);
    }
    // Whoever serves faults sleeps again.
    auto& clock = context_.platform.clock();
    clock.sleep_until(clock.now() + kPause);
    FaultMilestones milestones(context_.trace, policy_);
    {
      const TraceSession listening(context_.trace, milestones);
      auto ok = written ? copy(room_, *at) : touch(*at);
      if (!ok) return forward_error(ok);
    }
    auto parts = milestones.parts();
    if (!parts) return forward_error(parts);
    if (auto ok = managed_.read(*at, {found.data(), found.size()}); !ok) return forward_error(ok);
    auto same = check_equal({expected.data(), expected.size()}, {found.data(), found.size()},
                            "a page that has been to the card");
    if (!same) return forward_error(same);
    if (auto ok = managed_.free(*at); !ok) return forward_error(ok);
    return Sample{std::move(*parts), milestones.begin()};
  }

  Status run(const std::string& page) {
    std::vector<Sample> samples;
    const auto count = context_.parameters.integer("faults");
    for (std::uint64_t i = 0; i < count; ++i) {
      auto sample = measure(page, context_.seed + i);
      if (!sample) return forward_error(sample);
      samples.push_back(std::move(*sample));
    }
    // The median one stands for all.
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), middle, samples.end(),
                     [](const Sample& a, const Sample& b) { return a.total() < b.total(); });
    report(page == "filled" ? "svm_fault" : "svm_fault." + page, page, *middle);
    return {};
  }

  // So many accesses at a time to pages that nobody has touched. Whoever serves faults is held up
  // meanwhile by the host, which takes a page back from the card.
  Status run_batch(std::uint64_t faults, std::uint64_t pages) {
    const auto held = managed_.allocate(kPageSize);
    const auto at = managed_.allocate(pages * kPageSize);
    if (!held || !at) return forward_error(held ? at : held);
    if (auto ok = copy(room_, *held); !ok) return ok;
    queue_.reset();  // its slot is wanted
    auto touches = prepare_touches(*at, faults, pages);
    if (!touches) return forward_error(touches);
    auto& clock = context_.platform.clock();
    Status read;
    std::byte byte{};
    auto holder = context_.platform.tasks().spawn("holds", [&] {
      read = managed_.read(*held, {&byte, sizeof byte});
    });
    if (!holder) return forward_error(holder);
    clock.sleep_until(clock.now() + kHeadStart);
    auto touched = touch_at_once(*touches);
    (*holder)->join();
    if (!touched || !read) return touched ? read : touched;
    const auto seen = managed_.statistics();
    const MeasuredSpan span{seen.largest_batch_begin, seen.largest_batch_end};
    report_figures(context_, "svm_fault.batch.", kOfBatch, {seen.largest_batch, span});
    if (auto ok = managed_.free(*at); !ok) return ok;
    return managed_.free(*held);
  }

  // Accesses to managed addresses that no allocation has, as far apart as the driver looks for
  // them.
  Status run_errors(std::uint64_t count) {
    const auto at = managed_.allocate(kPageSize);
    if (!at) return forward_error(at);
    auto& clock = context_.platform.clock();
    for (std::uint64_t i = 0; i < count; ++i) {
      auto queue = session_.create_queue();
      if (!queue) return forward_error(queue);
      const auto deadline = deadline_of(context_);
      const auto nowhere = *at + kBeyond;
      const auto ticket = (*queue)->submit(driver::entries::fill(nowhere, kTouched, 1), deadline);
      if (!ticket) return forward_error(ticket);
      if ((*queue)->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline)) {
        return fail(ErrorCode::kWrongData, "an access to what nobody has was served");
      }
      clock.sleep_until(clock.now() + kLook);
    }
    report_figures(context_, "svm_fault.", kOfErrors, managed_.statistics());
    return managed_.free(*at);
  }

  void close() { queue_.reset(); }

 private:
  // Host and card have a copy each, to read.
  Status give_copy(driver::DeviceAddress at) {
    auto ok = managed_.advise(at, kPageSize, driver::MemoryAdvice::kReadMostly, true);
    return ok ? touch(at) : ok;
  }
  // As many on each of several queues as it has in flight at a time.
  struct Touches {
    std::unique_ptr<driver::Queue> queue;
    std::vector<abi::QueueEntry> entries;
    driver::QueueTicket last;
  };
  Result<std::vector<Touches>> prepare_touches(driver::DeviceAddress at, std::uint64_t faults,
                                               std::uint64_t pages) {
    std::vector<Touches> all;
    for (std::uint64_t i = 0; i < faults;) {
      auto queue = session_.create_queue();
      if (!queue) return forward_error(queue);
      auto& touches = all.emplace_back();
      touches.queue = std::move(*queue);
      for (; i < faults && touches.entries.size() < kAtOnce; ++i) {
        const auto place = i % pages * kPageSize + i / pages * kPart;
        touches.entries.push_back(driver::entries::fill(at + place, kTouched, 1));
      }
    }
    return all;
  }
  Status touch_at_once(std::vector<Touches>& all) {
    const auto deadline = deadline_of(context_);
    for (auto& each : all) {
      const auto ticket = each.queue->submit(each.entries.data(), each.entries.size(), deadline);
      if (!ticket) return forward_error(ticket);
      each.last = *ticket;
    }
    for (const auto& each : all) {
      auto done = each.queue->wait(each.last, driver::WaitPolicy::kInterrupt, deadline);
      if (!done) return done;
    }
    return {};
  }
  Status touch(driver::DeviceAddress from) { return copy(from, room_); }
  Status copy(driver::DeviceAddress from, driver::DeviceAddress to) {
    const auto deadline = deadline_of(context_);
    const auto ticket =
        queue_->submit(driver::entries::copy_on_device(from, to, kTouched), deadline);
    if (!ticket) return forward_error(ticket);
    return queue_->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline);
  }

  void report(const std::string& prefix, const std::string& page, const Sample& sample) {
    report_figures(context_, prefix + ".", kOfFault, {sample.begin, sample.begin + sample.total()});
    report_parts(context_, prefix + ".breakdown.", "us", sample.parts, sample.begin,
                 {"one fault on a page, " + page, "part", "in all"});
  }

  Context& context_;
  QueueSession& session_;
  driver::ManagedMemory& managed_;
  const driver::FaultPolicy policy_;
  std::unique_ptr<driver::Queue> queue_;
  driver::DeviceAddress room_;
};

Status run(Context& context) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  auto managed = open_managed(context, **device, (*session)->process().space());
  if (!managed) return forward_error(managed);
  Faults faults(context, **session, **managed);
  if (auto ok = faults.prepare(); !ok) return ok;
  for (const auto& page : context.parameters.choices("pages")) {
    if (auto ok = faults.run(page); !ok) return ok;
  }
  const auto batch = context.parameters.integer("batch");
  if (batch != 0 && (*managed)->policy() == driver::FaultPolicy::kBatch) {
    auto ok = faults.run_batch(batch, context.parameters.integer("batch_pages"));
    if (!ok) return ok;
    context.report.add_note(
        "batch: accesses at a time to pages that nobody has touched, from the records of the "
        "largest "
        "batch of them until its last reply");
  }
  if (const auto errors = context.parameters.integer("errors"); errors != 0) {
    if (auto ok = faults.run_errors(errors); !ok) return ok;
  }
  context.report.add_note(
      "filled: the host has written the page, which is copied (ats: used where it is); untouched: "
      "nobody has; read_only: the card writes a page of which it has a copy to read, and the host "
      "another (ats: the same page). The fault of median latency; driver: its task wakes, takes "
      "the record, message or request and looks the page up");
  faults.close();
  if (auto ok = (*managed)->close(); !ok) return ok;
  return (*session)->close();
}

}  // namespace
}  // namespace programs::svm_fault

Workload svm_fault() {
  return with_latencies(
      {"svm_fault",
       "One page fault on managed memory, part by part",
       {choices_parameter("pages", "filled,untouched,read_only", "what the page holds",
                          {"filled", "untouched", "read_only"}),
        {"faults", ParameterType::kInteger, "", "5", "of each kind; the median is shown", 1, 1000},
        {"batch", ParameterType::kInteger, "", "256", "batch: so many faults at a time; 0: none", 0,
         512},
        {"batch_pages", ParameterType::kInteger, "", "256", "of 2 MiB, that they are on", 1, 512},
        {"errors", ParameterType::kInteger, "", "0",
         "accesses besides to what no allocation has, 15 ms apart", 0, 100'000},
        fault_policy_parameter(),
        density_parameter(),
        card_parameter()},
       programs::svm_fault::run,
       figure_rows(programs::svm_fault::kOfBatch, programs::svm_fault::kOfErrors,
                   programs::svm_fault::kOfFault)});
}

}  // namespace npu::workloads
