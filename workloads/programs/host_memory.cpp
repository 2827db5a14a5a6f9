// SPDX-License-Identifier: Apache-2.0
// What the host's own work on memory costs: giving out and taking back memory for devices, copies
// between it and a program's memory, and what cores and cards that copy at once leave each other.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/host_work_parts.hpp"

namespace npu::workloads {
namespace programs::host_memory {
namespace {

using Buffer = std::unique_ptr<platform::DmaMemory>;

struct Copied {
  MeasuredSpan span;
  Bytes bytes;

  Number rate() const { return Number::gb_per_s(bytes, span.end - span.begin); }
};

constexpr Figure<Copied> kCopy[] = {{"us", "us", from<&Copied::span>},
                                    {"gb_per_s", "GB/s", from<&Copied::rate>}};
constexpr Figure<MeasuredSpan> kTotal[] = {{"total_us", "us", itself}};
constexpr Figure<Number> kRate[] = {{"bandwidth_gb_per_s", "GB/s", itself, {"GB/s"}}};

class Bench {
 public:
  explicit Bench(Context& context) : context_(context), clock_(context.platform.clock()) {}

  // One buffer from its allocation to its end, with a copy into it and one out of it.
  Status one_buffer(driver::Device& device, Bytes size) {
    const std::string prefix = "host_memory." + size_name(size);
    std::vector<std::byte> in(size), out(size);
    fill_pattern({in.data(), size}, context_.seed);
    Buffer buffer;
    Status status;
    auto parts = timed([&] { status = allocate(device, size, buffer); });
    if (!status) return status;
    report(prefix + ".allocate", "allocating " + size_name(size) + " for devices",
           parts.work.allocation(parts.elapsed), parts.begin);
    copy(prefix + ".copy_in", buffer->cpu(), {in.data(), size});
    copy(prefix + ".copy_out", {out.data(), size}, buffer->cpu());
    parts = timed([&] { buffer.reset(); });
    report(prefix + ".free", "giving back " + size_name(size), parts.work.release(parts.elapsed),
           parts.begin);
    return check_equal({in.data(), size}, {out.data(), size}, "what was copied in and out again");
  }

  // Cores that copy at once, each between memory of its own.
  Status copiers(std::uint64_t count, Bytes bytes) {
    const auto what = fmt::format("copiers={} bytes={}", count, size_name(bytes));
    if (auto ok = require_host_memory(what, 2 * count * bytes); !ok) return ok;
    std::vector<std::byte> from(count * bytes), to(count * bytes);
    fill_pattern({from.data(), from.size()}, context_.seed ^ count);
    const auto ended = at_once(count, [&](std::uint64_t i) -> Status {
      const std::size_t at = i * bytes;
      context_.platform.copy({to.data() + at, bytes}, {from.data() + at, bytes});
      return {};
    });
    if (!ended) return forward_error(ended);
    bandwidth("copiers", count, count * bytes, *ended);
    return check_equal({from.data(), from.size()}, {to.data(), to.size()}, what);
  }

  // Cards that copy from host memory at once, each in one command of `bytes`.
  Status cards(std::uint64_t count, Bytes bytes) {
    const auto what = fmt::format("cards={} bytes={}", count, size_name(bytes));
    if (auto ok = require_host_memory(what, 2 * count * bytes); !ok) return ok;
    std::vector<Lane> lanes(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (auto ok = open(lanes[i], i, count, bytes); !ok) return ok;
    }
    const auto ended = at_once(count, [&](std::uint64_t i) -> Status {
      auto& lane = lanes[i];
      return lane.device->copy(
          lane.stream,
          driver::DmaCommand::host_to_device(lane.host->bus(), lane.memory.address, bytes),
          driver::WaitPolicy::kPolling, deadline_of(context_, time_for(count * bytes)));
    });
    if (!ended) return forward_error(ended);
    bandwidth("cards", count, count * bytes, *ended);
    for (auto& lane : lanes) {
      if (auto ok = lane.device->free(lane.memory.address); !ok) return ok;
      lane.host.reset();
      if (auto ok = lane.device->shutdown(); !ok) return ok;
    }
    return {};
  }

  void tables() {
    if (rates_.rows.empty()) return;
    add_figure_table(context_.report, "host memory that many use at once", {"who", "how many"},
                     kRate)
        .rows = std::move(rates_.rows);
  }

 private:
  struct Timed {
    HostWorkParts work;
    Instant begin;
    Picoseconds elapsed;
  };
  struct Lane {
    std::unique_ptr<driver::Device> device;
    driver::StreamId stream;
    driver::DeviceMemory memory;
    Buffer host;
  };

  template <class F>
  Timed timed(F work) {
    Timed result;
    const TraceSession listening(context_.trace, result.work);
    result.begin = clock_.now();
    work();
    result.elapsed = clock_.now() - result.begin;
    return result;
  }

  static Status allocate(driver::Device& device, Bytes size, Buffer& buffer) {
    auto got = device.allocate_host(size, platform::DmaDirection::kBidirectional);
    if (!got) return forward_error(got);
    buffer = std::move(*got);
    return {};
  }

  Status open(Lane& lane, std::uint32_t index, std::uint64_t count, Bytes bytes) {
    auto device = driver::Device::open_index(context_.platform, index);
    if (!device && device.error().code == ErrorCode::kNotFound) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("cards={}: the machine has {}; system-8x910b has eight", count, index));
    }
    if (!device) return forward_error(device);
    lane.device = std::move(*device);
    const auto stream = lane.device->create_stream();
    if (!stream) return forward_error(stream);
    lane.stream = *stream;
    const auto memory = lane.device->allocate(bytes);
    if (!memory) return forward_error(memory);
    lane.memory = *memory;
    return allocate(*lane.device, bytes, lane.host);
  }

  void report(const std::string& prefix, const std::string& group,
              const std::vector<Breakdown::Part>& parts, Instant begin) {
    report_parts(context_, prefix + ".", "us", parts, begin, {group, "stage", "total", true});
    report_figures(context_, prefix + ".", kTotal,
                   {begin, begin + Breakdown{"", "", parts}.total()});
  }

  void copy(const std::string& metric, ByteSpan to, ConstByteSpan from) {
    const Instant begin = clock_.now();
    context_.platform.copy(to, from);
    report_figures(context_, metric + "_", kCopy, {{begin, clock_.now()}, to.size});
  }

  // As many tasks; the time from the first one's begin to the last one's end.
  template <class F>
  Result<Picoseconds> at_once(std::uint64_t count, F body) {
    std::vector<std::unique_ptr<platform::Task>> tasks;
    std::vector<Status> ended(count);
    std::vector<Instant> begun(count), done(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      auto task = context_.platform.tasks().spawn("copier" + std::to_string(i), [&, i] {
        begun[i] = clock_.now();
        ended[i] = body(i);
        done[i] = clock_.now();
      });
      if (!task) return forward_error(task);
      tasks.push_back(std::move(*task));
    }
    for (auto& task : tasks) task->join();
    for (const auto& each : ended) {
      if (!each) return forward_error(each);
    }
    return *std::max_element(done.begin(), done.end()) -
           *std::min_element(begun.begin(), begun.end());
  }

  void bandwidth(const std::string& who, std::uint64_t count, Bytes bytes, Picoseconds elapsed) {
    report_figures(context_, fmt::format("host_memory.{}{}.", who, count), kRate,
                   Number::gb_per_s(bytes, elapsed), &rates_, {who, std::to_string(count)});
  }

  Context& context_;
  platform::Clock& clock_;
  Table rates_;
};

Status run(Context& context) {
  const auto& parameters = context.parameters;
  const auto& sizes = parameters.sizes("sizes");
  const Bytes largest = *std::max_element(sizes.begin(), sizes.end());
  const auto what = "sizes=" + size_name(largest);
  if (auto ok = require_host_memory(what, 3 * largest); !ok) return ok;
  Bench bench(context);
  {
    auto device = open_card(context);
    if (!device) return forward_error(device);
    for (const auto size : sizes) {
      if (auto ok = bench.one_buffer(**device, size); !ok) return ok;
    }
    if (auto ok = (*device)->shutdown(); !ok) return ok;
  }
  const Bytes bytes = parameters.size("bytes");
  for (const auto count : parameters.integers("copiers")) {
    if (auto ok = bench.copiers(count, bytes); !ok) return ok;
  }
  for (const auto count : parameters.integers("cards")) {
    if (auto ok = bench.cards(count, bytes); !ok) return ok;
  }
  bench.tables();
  context.report.add_note(
      "copies: bytes copied; each of a core reads and writes memory, each of a card reads it. A "
      "task copies on the node that its core belongs to");
  return {};
}

}  // namespace
}  // namespace programs::host_memory

Workload host_memory() {
  return {
      "host_memory",
      "The host's own work: allocating, pinning, mapping and copying memory, and sharing it",
      {{"sizes", ParameterType::kSizeList, "B", "4KiB,64KiB,2MiB,16MiB", "sizes of a buffer", 64,
        16_GiB},
       {"copiers", ParameterType::kIntegerList, "", "1,4,16", "cores that copy at once", 1, 1024},
       {"cards", ParameterType::kIntegerList, "", "1", "cards that copy at once", 1, 64},
       {"bytes", ParameterType::kSize, "B", "4MiB", "copied by each of them", 64, 16_GiB},
       card_parameter()},
      programs::host_memory::run,
      figure_rows(programs::host_memory::kCopy, programs::host_memory::kTotal,
                  programs::host_memory::kRate)};
}

}  // namespace npu::workloads
