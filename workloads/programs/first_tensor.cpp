// SPDX-License-Identifier: Apache-2.0
// What torch.randn(1024, 1024) on the card costs from nothing: enumeration, set-up, allocation,
// a stream, the copy, and a handle handed back.

#include "npu/driver/scan.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/framework/host_room.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {
namespace programs::first_tensor {
namespace {

// What a framework would keep of the tensor.
struct Tensor {
  driver::DeviceMemory memory;
  Bytes rows = 0;
  Bytes columns = 0;
};

constexpr Figure<MeasuredSpan> kFigures[] = {{"total_us", "us", itself}};

// Times consecutive stages: each ends where the next begins, so they add up to the total.
class Stages {
 public:
  explicit Stages(platform::Platform& platform)
      : platform_(platform), begin_(platform.clock().now()), last_(begin_) {}
  void end(const std::string& name) {
    const Instant now = platform_.clock().now();
    auto& tracer = platform_.tracer();
    if (tracer.enabled()) {
      platform::TraceEvent event;
      event.begin = last_;
      event.end = now;
      event.track = tracer.track("first_tensor." + name);
      event.activity = platform::Activity::kStage;
      tracer.emit(event);
    }
    parts_.push_back({name, now - last_});
    last_ = now;
  }
  void report(Context& context) const {
    report_parts(context, "first_tensor.", "us", parts_, begin_,
                 {"from nothing to the first tensor", "stage", "total", true});
    report_figures(context, "first_tensor.", kFigures, {begin_, last_});
  }

 private:
  platform::Platform& platform_;
  std::vector<Breakdown::Part> parts_;
  const Instant begin_;
  Instant last_;
};

Result<platform::Bdf> find_card(Context& context) {
  auto found = driver::scan(context.platform);
  if (!found) return forward_error(found);
  for (const auto& card : found->cards) {
    if (card.device_index == context.parameters.integer("card")) return card.bdf();
  }
  return fail(ErrorCode::kNotFound,
              "no card with device index " + std::to_string(context.parameters.integer("card")));
}

Status check_tensor(Context& context, driver::Device& device, driver::StreamId stream,
                    const platform::DmaMemory& staging, const Tensor& tensor) {
  auto copy = device.allocate_host(tensor.memory.size);
  if (!copy) return forward_error(copy);
  const auto command =
      driver::DmaCommand::device_to_host(tensor.memory.address, (*copy)->bus(), tensor.memory.size);
  auto read = device.copy(stream, command, driver::WaitPolicy::kPolling, deadline_of(context));
  if (!read) return read;
  return check_equal(staging.cpu(), (*copy)->cpu(), "the tensor read back");
}

Status run(Context& context) {
  const auto policy = wait_policy(context.parameters.choice("policy"));
  Tensor tensor{{}, context.parameters.integer("rows"), context.parameters.integer("columns")};
  const Bytes size = tensor.rows * tensor.columns * sizeof(float);
  Stages stages(context.platform);
  const auto bdf = find_card(context);
  if (!bdf) return forward_error(bdf);
  stages.end("enumerate");
  auto device = driver::Device::open(context.platform, *bdf);
  if (!device) return forward_error(device);
  stages.end("open");
  auto memory = (*device)->allocate(size);
  if (!memory) return forward_error(memory);
  stages.end("allocate");
  const auto what =
      "rows=" + std::to_string(tensor.rows) + " columns=" + std::to_string(tensor.columns);
  // The tensor, where it comes from and what is read back.
  if (auto ok = require_host_memory(what, 3 * size); !ok) return ok;
  auto stream = (*device)->create_stream();
  if (!stream) return forward_error(stream);
  stages.end("create_stream");
  auto staging = (*device)->allocate_host(size, platform::DmaDirection::kBidirectional);
  if (!staging) return forward_error(staging);
  fill_pattern((*staging)->cpu(), context.seed);  // the host's random numbers, free of charge
  stages.end("host_buffer");
  const auto command = driver::DmaCommand::host_to_device((*staging)->bus(), memory->address, size);
  if (auto ok = (*device)->copy(*stream, command, policy, deadline_of(context)); !ok) return ok;
  stages.end("copy_in");
  tensor.memory = *memory;
  stages.end("handle");
  stages.report(context);
  if (auto ok = check_tensor(context, **device, *stream, **staging, tensor); !ok) return ok;
  context.report.add_note("the tensor's " + size_name(size) +
                          " were read back and compared byte for byte; what the host spends on "
                          "computing random numbers is not modelled");
  if (auto ok = (*device)->destroy_stream(*stream, deadline_of(context)); !ok) return ok;
  if (auto ok = (*device)->free(memory->address); !ok) return ok;
  staging->reset();
  return (*device)->shutdown();
}

}  // namespace
}  // namespace programs::first_tensor

Workload first_tensor() {
  return {"first_tensor",
          "The first tensor from nothing: enumerate, open, allocate, stream, copy, each timed",
          {{"rows", ParameterType::kInteger, "", "1024", "rows of the float32 tensor", 1, 65'536},
           {"columns", ParameterType::kInteger, "", "1024", "its columns", 1, 16'384},
           policy_parameter(),
           card_parameter()},
          programs::first_tensor::run,
          figure_rows(programs::first_tensor::kFigures)};
}

}  // namespace npu::workloads
