// SPDX-License-Identifier: Apache-2.0
// Copies until the card is lost: it is reset, its link goes down, or somebody takes it away. They
// end with an error, nothing is written afterwards, and the card works once it can be opened again.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/tried_card.hpp"

namespace npu::workloads {
namespace programs::card_loss {
namespace {

using driver::DmaCommand;
using driver::WaitPolicy;

constexpr Bytes kBlock = 4_MiB;
constexpr std::byte kQuiet{0x3C};
constexpr Picoseconds kGivenUp = 1_s;  // for what is in flight
constexpr Picoseconds kAtOnce = 5_s;   // calls on a lost card look at no register
constexpr Picoseconds kRetry = 100_ms;

constexpr Figure<std::uint64_t> kFigures[] = {{"copies", "", itself}};

class Loss {
 public:
  Loss(Context& context, TriedCard card)
      : context_(context),
        card_(std::move(card)),
        info_(card_.device->info()),
        by_(context.parameters.choice("by")) {}

  Status run() {
    const auto host = card_.device->allocate_host(kBlock);
    if (!host) return forward_error(host);
    const auto error = work_until_error(**host);
    if (!error) return forward_error(error);
    // After a reset the driver's copies of registers are worth nothing: what was in flight is given
    // up.
    const auto given_up = by_ == "reset"
                              ? (static_cast<void>(card_.device->reset_queue()), Status())
                              : expect_lost(*error);
    if (!given_up) return given_up;
    card_.device.reset();
    std::fill_n((*host)->cpu().data, kBlock, kQuiet);
    auto end = context_.parameters.choice("ending") == "removal" ? stay_lost() : recover();
    if (!end) return forward_error(end);
    // The memory is still mapped: a copy that had gone on would have been seen here.
    const std::vector<std::byte> quiet(kBlock, kQuiet);
    auto same = check_equal({quiet.data(), kBlock}, (*host)->cpu(), "written after the loss");
    if (!same) return same;
    report_figures(context_, "card_loss.", kFigures, copies_);
    context_.report.add_note(fmt::format("\"{}\"; {}", error->message(), *end));
    return {};
  }

 private:
  testkit::Fault removal() const { return testkit::surprise_removal().on_card(info_.device_index); }
  Status strike() {
    if (by_ == "link") return context_.faults->inject(removal(), testkit::at_once());
    return by_ == "reset" ? context_.platform.reset_function(info_.bdf()) : Status();
  }

  Result<Error> work_until_error(platform::DmaMemory& host) {
    auto& device = *card_.device;
    const auto memory = device.allocate(kBlock);
    if (!memory) return memory.error();
    const WaitPolicy policies[] = {WaitPolicy::kPolling, WaitPolicy::kInterrupt,
                                   WaitPolicy::kAdaptive};
    const auto command = DmaCommand::device_to_host(memory->address, host.bus(), kBlock);
    const auto at_once = context_.parameters.integer("copies");
    const auto limit = deadline_of(context_);
    context_.step("copies until the card is lost", 0, 1);
    for (unsigned round = 0; context_.platform.clock().now() < limit; ++round) {
      driver::Ticket last;
      for (std::uint64_t i = 0; i < at_once; ++i, ++copies_) {
        const auto ticket = device.submit(card_.stream, command);
        if (!ticket) return ticket.error();
        last = *ticket;
      }
      if (auto ok = strike(); !ok) return forward_error(ok);
      const auto done = device.wait(last, policies[round % 3], limit + kGivenUp);
      if (!done) return done.error();
      if (by_ != "others") {
        return fail(ErrorCode::kBadDevice, "every copy was done before the " + by_);
      }
    }
    return fail(ErrorCode::kTimeout,
                fmt::format("the card is still there after {} copies", copies_));
  }

  // Every call says so, at once.
  Status expect_lost(const Error& error) {
    auto& device = *card_.device;
    auto& clock = context_.platform.clock();
    const auto begin = clock.now();
    if (error.code != ErrorCode::kDeviceLost || !device.lost()) {
      return fail(ErrorCode::kBadDevice, "the driver says \"" + error.message() + "\"");
    }
    const auto lost = [](const auto& result) {
      return !result && result.error().code == ErrorCode::kDeviceLost;
    };
    if (!lost(device.submit(card_.stream, DmaCommand::host_to_device({0}, {0}, 4))) ||
        !lost(device.take_fault()) || !lost(device.create_stream()) ||
        !lost(device.allocate_host(4_KiB)) || !lost(device.reset_queue())) {
      return fail(ErrorCode::kBadDevice, "a call did not say that the card is lost");
    }
    if (auto ok = device.shutdown(); !ok && !lost(ok)) return ok;
    if (clock.now() - begin <= kAtOnce) return {};
    return fail(ErrorCode::kTimeout, "calls on a lost card took their time");
  }

  Result<std::string> stay_lost() {
    const auto again = driver::Device::open(context_.platform, info_.bdf());
    if (again) return fail(ErrorCode::kBadDevice, "the card could be opened again");
    return "all calls say so at once; opening it again: \"" + again.error().message() + "\"";
  }

  Result<std::string> recover() {
    if (by_ == "link") {
      if (auto ok = context_.faults->end(removal()); !ok) return forward_error(ok);
    }
    auto& clock = context_.platform.clock();
    for (const auto deadline = deadline_of(context_);;) {
      auto opened = TriedCard::open(context_);
      if (!opened && clock.now() < deadline) {  // the system may be at it still
        clock.sleep_until(clock.now() + kRetry);
        continue;
      }
      if (!opened) return forward_error(opened);
      if (auto ok = opened->round_trip(copies_); !ok) return forward_error(ok);
      if (auto ok = opened->device->shutdown(); !ok) return forward_error(ok);
      return std::string("opened again, works");
    }
  }

  Context& context_;
  TriedCard card_;
  driver::CardInfo info_;
  const std::string& by_;
  std::uint64_t copies_ = 0;  // that were submitted
};

Status run(Context& context) {
  if (context.parameters.choice("by") == "link" && context.faults == nullptr) {
    return fail(ErrorCode::kInvalidArgument,
                "by=link: this machine cannot take a link down; use by=others, and take it down "
                "from outside");
  }
  auto card = TriedCard::open(context);
  if (!card) return forward_error(card);
  return Loss(context, std::move(*card)).run();
}

}  // namespace
}  // namespace programs::card_loss

Workload card_loss() {
  return {"card_loss",
          "Copies until the card is lost: no call hangs, and it works when it is opened again",
          {choice_parameter("by", "reset",
                            "what loses the card: a function level reset, its link, or others",
                            {"reset", "link", "others"}),
           choice_parameter("ending", "recovery", "the card works again, or stays lost (removal)",
                            {"recovery", "removal"}),
           {"copies", ParameterType::kInteger, "", "64", "copies of 4 MiB in flight", 1, 256},
           ring_parameter(),
           card_parameter()},
          programs::card_loss::run,
          figure_rows(programs::card_loss::kFigures)};
}

}  // namespace npu::workloads
