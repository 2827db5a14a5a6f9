// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/queue_session.hpp"

#include "npu/abi/queue_registers.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::workloads {

namespace {

constexpr Bytes kStaging = 1_MiB;
constexpr Bytes kArguments = 2_MiB;
constexpr Bytes kArgumentSize = 64;  // of a kernel: whole ones

}  // namespace

ParameterSpec queue_memory_parameter() {
  return choice_parameter("queue_memory", "host", "memory that holds a queue's ring",
                          {"host", "device"});
}

driver::QueueMemory queue_memory(const ParameterSet& parameters) {
  return parameters.choice("queue_memory") == "device" ? driver::QueueMemory::kDevice
                                                       : driver::QueueMemory::kHost;
}

// Cube cores are numbered first.
Result<driver::CoreMask> vector_cores(Context& context, driver::Device& device) {
  auto registers = context.platform.map_bar(device.info().bdf(), abi::kRegisterBar, 0,
                                            abi::kDoorbellPageSize, platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  const auto topology =
      abi::CoreTopology::from_raw((*registers)->read32(abi::CoreTopology::kOffset));
  if (topology.get<abi::CoreTopology::VectorCores>() == 0) return driver::kAllCores;
  driver::CoreMask mask = driver::kAllCores;
  const auto cube = driver::first_cores(topology.get<abi::CoreTopology::Clusters>());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] &= ~cube[i];
  return mask;
}

Result<std::unique_ptr<QueueSession>> QueueSession::open(Context& context, driver::Device& device,
                                                         const driver::ProcessOptions& options) {
  auto process = driver::ProcessContext::open(device, options);
  if (!process) return forward_error(process);
  std::unique_ptr<QueueSession> session(new QueueSession(context, std::move(*process)));
  auto copies = driver::StagedCopies::open(session->process(), kStaging);
  if (!copies) return forward_error(copies);
  session->copies_ = std::move(*copies);
  auto arguments = session->allocate(kArguments);
  if (!arguments) return forward_error(arguments);
  session->arguments_ = *arguments;
  return session;
}

Result<driver::DeviceAddress> QueueSession::allocate(Bytes size) {
  auto memory = process_->space().allocate(size);
  if (!memory) return forward_error(memory);
  return memory->address;
}

Result<platform::DmaMemory*> QueueSession::allocate_host(Bytes size) {
  auto memory = process_->allocate_host(size);
  if (!memory) return forward_error(memory);
  host_.push_back(std::move(*memory));
  return host_.back().get();
}

bool QueueSession::has_room_for_launch() const {
  return arguments_used_ + kArgumentSize <= kArguments;
}

Result<std::shared_ptr<const driver::KernelModule>> QueueSession::module(
    const std::string& program) {
  auto& known = modules_[program];
  if (known != nullptr) return known;
  const auto object = use_program(context_.report, program);
  if (!object) return forward_error(object);
  context_.platform.note_program(*object);
  auto loaded = copies_->load(*object);
  if (!loaded) return forward_error(loaded);
  known = std::move(*loaded);
  return known;
}

Result<driver::DeviceAddress> QueueSession::aicpu_image(const std::string& program) {
  auto& known = aicpu_images_[program];
  if (known != driver::DeviceAddress{}) return known;
  const auto object = use_program(context_.report, program);
  if (!object) return forward_error(object);
  context_.platform.note_program(*object);
  const auto image = driver::make_image(abi::ImageKind::kAicpu, *object, 0);
  if (!image) return forward_error(image);
  const auto memory = allocate(image->size());
  if (!memory) return memory;
  if (auto ok = write(*memory, {image->data(), image->size()}); !ok) return forward_error(ok);
  return known = *memory;
}

Result<driver::DeviceAddress> QueueSession::image_of(const std::string& program,
                                                     abi::QueueOpcode cores) {
  if (cores == abi::QueueOpcode::kLaunchAicpu) return aicpu_image(program);
  const auto kernel = module(program);
  if (!kernel) return forward_error(kernel);
  return (*kernel)->image();
}

Result<abi::QueueEntry> QueueSession::launch(const std::string& program, std::uint32_t blocks,
                                             const std::uint64_t* words, std::size_t count,
                                             abi::QueueOpcode cores) {
  const Bytes size = count * sizeof *words;
  const Bytes room = (size + kArgumentSize - 1) / kArgumentSize * kArgumentSize;
  const auto image = image_of(program, cores);
  if (!image) return forward_error(image);
  if (arguments_used_ + room > kArguments) {
    return fail(ErrorCode::kOutOfResources, "no room for the arguments of one more kernel");
  }
  const auto at = arguments_ + arguments_used_;
  arguments_used_ += room;
  auto ok = write(at, {reinterpret_cast<const std::byte*>(words), size});
  if (!ok) return forward_error(ok);
  return driver::entries::launch_image(cores, *image, blocks, at, static_cast<std::uint32_t>(size));
}

Status QueueSession::close() {
  copies_.reset();
  modules_.clear();
  return process_->close();
}

}  // namespace npu::workloads
