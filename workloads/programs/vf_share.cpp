// SPDX-License-Identifier: Apache-2.0
// What virtual functions get of what they share, the card's DMA engines, memory and link, while all
// of them copy as fast as they can; and what the same function gets alone.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"
#include "workloads/programs/support/divided_card.hpp"

namespace npu::workloads {
namespace programs::vf_share {
namespace {

// One function that copies: a few commands are always in flight.
class Copier {
 public:
  static constexpr std::size_t kDepth = 4;

  static Result<std::unique_ptr<Copier>> open(Context& context, const driver::VirtualDevice& made,
                                              abi::DmaOpcode direction, Bytes size) {
    auto copier = std::make_unique<Copier>();
    copier->context_ = &context;
    copier->size_ = size;
    copier->direction_ = direction;
    auto device = driver::Device::open(context.platform, *made.bdf);
    if (!device) return forward_error(device);
    copier->device_ = std::move(*device);
    const auto stream = copier->device_->create_stream();
    if (!stream) return forward_error(stream);
    copier->stream_ = *stream;
    auto host = copier->device_->allocate_host(size);
    if (!host) return forward_error(host);
    copier->host_ = std::move(*host);
    for (auto* memory : {&copier->from_, &copier->to_}) {
      const auto allocated = copier->device_->allocate(size);
      if (!allocated) return forward_error(allocated);
      *memory = *allocated;
    }
    return copier;
  }

  // Until `end`; the bytes that were copied by then.
  Result<Bytes> copy_until(Instant end) {
    auto& clock = context_->platform.clock();
    std::vector<driver::Ticket> in_flight;
    Bytes copied = 0;
    while (clock.now() < end) {
      while (in_flight.size() < kDepth) {
        const auto ticket = device_->submit(stream_, command());
        if (!ticket) return forward_error(ticket);
        in_flight.push_back(*ticket);
      }
      if (auto ok = device_->wait(in_flight.front(), driver::WaitPolicy::kPolling,
                                  deadline_of(*context_));
          !ok) {
        return forward_error(ok);
      }
      in_flight.erase(in_flight.begin());
      if (clock.now() <= end) copied += size_;
    }
    for (const auto& ticket : in_flight) {
      if (auto ok = device_->wait(ticket, driver::WaitPolicy::kPolling, deadline_of(*context_));
          !ok) {
        return forward_error(ok);
      }
    }
    return copied;
  }

  Status close() {
    host_.reset();
    return device_->shutdown();
  }

 private:
  driver::DmaCommand command() const {
    if (direction_ == abi::DmaOpcode::kHostToDevice) {
      return driver::DmaCommand::host_to_device(host_->bus(), to_.address, size_);
    }
    if (direction_ == abi::DmaOpcode::kDeviceToHost) {
      return driver::DmaCommand::device_to_host(from_.address, host_->bus(), size_);
    }
    return driver::DmaCommand::device_to_device(from_.address, to_.address, size_);
  }

  Context* context_ = nullptr;
  Bytes size_ = 0;
  abi::DmaOpcode direction_ = abi::DmaOpcode::kHostToDevice;
  std::unique_ptr<driver::Device> device_;
  driver::StreamId stream_;
  std::unique_ptr<platform::DmaMemory> host_;
  driver::DeviceMemory from_, to_;
};

constexpr Figure<Number> kFigures[] = {{"bandwidth_gb_per_s", "GB/s", itself, {"GB/s"}}};

class Sharing {
 public:
  Sharing(Context& context, DividedCard& card)
      : context_(context),
        card_(card),
        time_(static_cast<std::int64_t>(context.parameters.integer("time_us")) * 1_us),
        weights_(context.parameters.integers("weights")) {}

  Status run() {
    const auto direction = direction_opcode(context_.parameters.choice("direction"));
    const Bytes size = context_.parameters.size("size");
    std::vector<std::unique_ptr<Copier>> copiers;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      driver::VirtualDeviceOptions options;
      options.name = card_.functions().templates().front().name;
      const auto weight = static_cast<std::uint8_t>(weights_[i]);
      options.weights = {weight, weight, weight};
      const auto made = card_.functions().create(options);
      if (!made) return forward_error(made);
      auto copier = Copier::open(context_, *made, direction, size);
      if (!copier) return forward_error(copier);
      copiers.push_back(std::move(*copier));
    }
    const auto alone = copiers.front()->copy_until(context_.platform.clock().now() + time_);
    if (!alone) return forward_error(alone);
    const auto before = waits(copiers.size());
    auto together = copy_together(copiers);
    if (!together) return forward_error(together);
    report(*alone, *together);
    add_limits(before, waits(copiers.size()));
    for (auto& copier : copiers) {
      if (auto ok = copier->close(); !ok) return ok;
    }
    return {};
  }

 private:
  Result<std::vector<Bytes>> copy_together(std::vector<std::unique_ptr<Copier>>& copiers) {
    std::vector<Result<Bytes>> copied(copiers.size(), Result<Bytes>(Bytes{0}));
    std::vector<std::unique_ptr<platform::Task>> tasks;
    const Instant begin = context_.platform.clock().now(), end = begin + time_;
    for (std::size_t i = 0; i < copiers.size(); ++i) {
      auto task = context_.platform.tasks().spawn(
          fmt::format("vf{}", i), [&, i] { copied[i] = copiers[i]->copy_until(end); });
      if (!task) return forward_error(task);
      tasks.push_back(std::move(*task));
    }
    for (auto& task : tasks) task->join();
    together_ = context_.platform.clock().now() - begin;
    std::vector<Bytes> bytes;
    for (const auto& each : copied) {
      if (!each) return forward_error(each);
      bytes.push_back(*each);
    }
    return bytes;
  }

  // Of the first virtual functions of the card.
  std::vector<FunctionWaits> waits(std::size_t functions) const {
    std::vector<FunctionWaits> found;
    const auto prefix = fmt::format("card{}.vf", context_.parameters.integer("card"));
    for (auto& each : context_.simulator.function_waits()) {
      if (each.name.compare(0, prefix.size(), prefix) == 0) found.push_back(std::move(each));
    }
    found.resize(std::min(found.size(), functions));
    return found;
  }

  // What each waited for, of the time that all copied.
  void add_limits(const std::vector<FunctionWaits>& before,
                  const std::vector<FunctionWaits>& after) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      const std::pair<const char*, Picoseconds> resources[] = {
          {"link_to_card", after[i].link_to_card - before[i].link_to_card},
          {"link_to_host", after[i].link_to_host - before[i].link_to_host},
          {"hbm", after[i].hbm - before[i].hbm}};
      for (const auto& [resource, waited] : resources) {
        if (waited <= Picoseconds{}) continue;
        const auto percent = Number::percent(static_cast<std::uint64_t>(waited.count()),
                                             static_cast<std::uint64_t>(together_.count()));
        context_.report.add_limit(
            {fmt::format("vf_share.vf{}", i), resource, percent,
             fmt::format("{}: waited for its turn {} % of the time", resource, percent.text())});
      }
    }
  }

  void report(Bytes alone, const std::vector<Bytes>& together) {
    auto& table =
        add_figure_table(context_.report, "bandwidth in GB/s", {"function", "weight"}, kFigures);
    const auto report = [&](const std::string& name, const std::string& how, std::size_t i,
                            Bytes bytes) {
      report_figures(context_, "vf_share." + name + ".", kFigures, Number::gb_per_s(bytes, time_),
                     &table, {how, std::to_string(weights_[i])});
    };
    report("alone", "vf0 alone", 0, alone);
    for (std::size_t i = 0; i < together.size(); ++i) {
      const auto name = fmt::format("vf{}", i);
      report(name, name, i, together[i]);
    }
  }

  Context& context_;
  DividedCard& card_;
  const Picoseconds time_;
  Picoseconds together_;  // until the last copy of all has ended
  const std::vector<std::uint64_t>& weights_;
};

Status run(Context& context) {
  const auto functions = context.parameters.integers("weights").size();
  auto card = DividedCard::open(context, static_cast<std::uint32_t>(functions));
  if (!card) return forward_error(card);
  if (auto ok = Sharing(context, **card).run(); !ok) return ok;
  return (*card)->close();
}

}  // namespace
}  // namespace programs::vf_share

Workload vf_share() {
  return {"vf_share",
          "Bandwidth of virtual functions that copy at the same time, by their weights, and alone",
          {list_by_place({"weights", ParameterType::kIntegerList, "", "1,1",
                          "of each virtual function", 1, 255}),
           choice_parameter("direction", "h2d", "direction of the copies", {"h2d", "d2h", "d2d"}),
           {"size", ParameterType::kSize, "B", "256KiB", "of a copy", 64, 64_MiB},
           {"time_us", ParameterType::kInteger, "us", "500", "how long they copy", 10, 1'000'000},
           card_parameter()},
          programs::vf_share::run,
          figure_rows(programs::vf_share::kFigures)};
}

}  // namespace npu::workloads
