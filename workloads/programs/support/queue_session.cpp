// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/queue_session.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "npu/abi/queue_registers.hpp"
#include "npu/driver/program.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::workloads {

namespace {

constexpr Bytes kPiece = 1_MiB;
constexpr Bytes kArguments = 2_MiB;
constexpr Bytes kArgumentSize = 64;  // of a kernel, aligned

}  // namespace

ParameterSpec queue_memory_parameter() {
  return {"queue_memory",
          ParameterType::kChoice,
          "",
          "host",
          "memory that holds a queue's ring",
          0,
          0,
          {"host", "device"}};
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
  auto staging = session->allocate_host(kPiece);
  if (!staging) return forward_error(staging);
  session->staging_ = *staging;
  auto arguments = session->allocate(kArguments);
  if (!arguments) return forward_error(arguments);
  session->arguments_ = *arguments;
  driver::QueueOptions copies;
  copies.interrupt = false;
  auto queue = session->create_queue(copies);
  if (!queue) return forward_error(queue);
  session->copies_ = std::move(*queue);
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

Status QueueSession::move(driver::DeviceAddress address, Bytes size, bool to_device) {
  const auto entry = to_device ? driver::entries::copy_to_device(staging_->bus(), address, size)
                               : driver::entries::copy_to_host(address, staging_->bus(), size);
  auto ticket = copies_->submit(entry, deadline_of(context_));
  if (!ticket) return forward_error(ticket);
  return copies_->wait(*ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
}

Status QueueSession::write(driver::DeviceAddress address, ConstByteSpan bytes) {
  for (Bytes done = 0; done < bytes.size;) {
    const Bytes piece = std::min(kPiece, bytes.size - done);
    std::memcpy(staging_->cpu().data, bytes.data + done, piece);
    if (auto ok = move(address + done, piece, true); !ok) return ok;
    done += piece;
  }
  return {};
}

Status QueueSession::read(driver::DeviceAddress address, ByteSpan bytes) {
  for (Bytes done = 0; done < bytes.size;) {
    const Bytes piece = std::min(kPiece, bytes.size - done);
    if (auto ok = move(address + done, piece, false); !ok) return ok;
    std::memcpy(bytes.data + done, staging_->cpu().data, piece);
    done += piece;
  }
  return {};
}

bool QueueSession::has_room_for_launch() const {
  return arguments_used_ + kArgumentSize <= kArguments;
}

Result<driver::DeviceAddress> QueueSession::upload(const std::string& program) {
  const auto known = programs_.find(program);
  if (known != programs_.end()) return known->second;
  const auto object = use_program(context_.report, program);
  if (!object) return forward_error(object);
  const auto image = driver::make_image(abi::ImageKind::kAiCore, *object);
  if (!image) return forward_error(image);
  const auto at = allocate(image->size());
  if (!at) return forward_error(at);
  if (auto ok = write(*at, {image->data(), image->size()}); !ok) return forward_error(ok);
  programs_[program] = *at;
  return *at;
}

Result<abi::QueueEntry> QueueSession::launch(const std::string& program, std::uint32_t blocks,
                                             const std::uint64_t* words, std::size_t count) {
  const Bytes size = count * sizeof *words;
  assert(size <= kArgumentSize);
  const auto image = upload(program);
  if (!image) return forward_error(image);
  if (!has_room_for_launch()) {
    return fail(ErrorCode::kOutOfResources, "no room for the arguments of one more kernel");
  }
  const auto at = arguments_ + arguments_used_;
  arguments_used_ += kArgumentSize;
  auto ok = write(at, {reinterpret_cast<const std::byte*>(words), size});
  if (!ok) return forward_error(ok);
  return driver::entries::launch_image(abi::QueueOpcode::kLaunchAiCore, *image, blocks, at,
                                       static_cast<std::uint32_t>(size));
}

Status QueueSession::close() {
  auto end = process_->destroy(*copies_, deadline_of(context_));
  if (!end) return forward_error(end);
  copies_.reset();
  return process_->close();
}

}  // namespace npu::workloads
