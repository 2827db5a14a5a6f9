// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/aicore/aicore_bench.hpp"

#include <algorithm>

#include "npu/base/checked.hpp"
#include "tests/bench/aicore/core_config.hpp"
#include "tests/bench/core/kernel_block.hpp"
#include "tests/bench/core/program_file.hpp"
#include "tests/bench/support/phases.hpp"

namespace npu::test {

using model::Completion;
using model::Transaction;

model::ChipConfig aicore_config(model::ProgramCoreKind kind) {
  model::ChipConfig config{};
  config.ai_cores = 2;
  config.aicore.clock_hz = 1'000'000'000;
  config.aicore.dispatch = 100_ns;
  config.aicore.init = 50_ns;
  config.aicore.software_init = 200_ns;
  config.aicore.report = 100_ns;
  config.core = core_config(kind);
  return config;
}

Completion PlainMemory::read(model::SpaceId, std::uint64_t address, void* data, Bytes length) {
  if (!range_fits(address, length, end)) return Completion::kNotMapped;
  bytes_.read(address, data, length);
  return Completion::kSuccess;
}

Completion PlainMemory::write(model::Writer writer, model::SpaceId vmid, std::uint64_t address,
                              const void* data, Bytes length) {
  if (!range_fits(address, length, end)) return Completion::kNotMapped;
  put(address, data, length);
  watch_.written(writer, vmid, address, length);
  return Completion::kSuccess;
}

AicoreBench::AicoreBench(const model::ChipConfig& chip, bool run_ahead,
                         const sc_core::sc_module_name& name)
    : sc_module(name), config(chip), cores("cores", sim, config, memory, watch, "core") {
  target_socket.register_nb_transport_fw(this, &AicoreBench::request);
  cores.memory_socket.bind(target_socket);
  static_cast<model::KernelPort&>(cores).connect(*this);
  static_cast<model::CoreWindows&>(cores).connect(*this);
  sim.agenda.run_ahead(run_ahead);
  upload("aicore_test_program", kImage);
}

void AicoreBench::upload(const std::string& name, std::uint64_t address) {
  const auto image = program_file(name, abi::ImageKind::kAiCore);
  memory.write(model::Writer::kDma, 0, address, image.data(), image.size());
}

std::uint64_t AicoreBench::keep(Body body) {
  bodies_.push_back(std::make_unique<Body>(std::move(body)));
  return reinterpret_cast<std::uint64_t>(bodies_.back().get());
}

void AicoreBench::launch(unsigned core, Body body, std::uint64_t context, unsigned block,
                         unsigned blocks) {
  launch_image(core, kImage, keep(std::move(body)), context, block, blocks);
}

void AicoreBench::launch_image(unsigned core, std::uint64_t image, std::uint64_t arguments,
                               std::uint64_t context, unsigned block, unsigned blocks) {
  ended_.erase(core);
  cores.start(core, program_block(image, arguments, context, block, blocks, vmid));
}

void AicoreBench::launch_lane(unsigned core, std::uint64_t image, std::uint64_t arguments,
                              unsigned role, unsigned lanes, std::uint64_t context, unsigned block,
                              unsigned blocks) {
  ended_.erase(core);
  auto wanted = program_block(image, arguments, context, block, blocks, vmid);
  wanted.mixed = true;
  wanted.lanes = lanes;
  wanted.role = role;
  cores.start(core, wanted);
}

void AicoreBench::at(SimTime when, std::function<void()> action) {
  actions_.push_back(std::move(action));
  sim.agenda.at<&AicoreBench::act>(when, *this, actions_.size() - 1);
}

void AicoreBench::act(std::uint64_t index) {
  actions_[index]();
}

void AicoreBench::run() {
  sc_core::sc_start();
}

AicoreBench::Ended AicoreBench::run_one(Body body) {
  at(model::sim_now(), [this, one = std::move(body)] { launch(0, one); });
  run();
  EXPECT_TRUE(has_ended(0)) << "hangs";
  return has_ended(0) ? ended(0) : Ended{};
}

std::vector<SeenRequest> AicoreBench::data_requests() const {
  std::vector<SeenRequest> data;
  std::copy_if(requests.begin(), requests.end(), std::back_inserter(data),
               [](const SeenRequest& each) { return each.address >= kData; });
  return data;
}

void AicoreBench::block_done(unsigned core, const model::KernelBlock&,
                             const model::CommandFault& fault) {
  ended_[core] = {model::sim_now(), fault.code, fault.address, fault.instruction};
}

void AicoreBench::register_changed(unsigned, std::uint32_t offset) {
  if (offset == abi::Cond::kOffset) cond_changes.push_back(model::sim_now());
}

tlm::tlm_sync_enum AicoreBench::request(tlm::tlm_generic_payload& trans, tlm::tlm_phase&,
                                        sc_core::sc_time&) {
  const auto& info = Transaction::of(trans);
  requests.push_back({model::sim_now(), trans.is_write(), trans.get_address(),
                      trans.get_data_length(), info.rows, info.pitch});
  const SimTime walked = walk(trans.get_address());
  const auto argument = reinterpret_cast<std::uint64_t>(&trans);
  if (walked == 0) {
    translated(argument);
  } else {
    sim.agenda.at<&AicoreBench::translated>(model::sim_now() + walked, *this, argument);
  }
  sim.agenda.at<&AicoreBench::answer>(model::sim_now() + walked + latency, *this, argument);
  return tlm::TLM_ACCEPTED;
}

void AicoreBench::translated(std::uint64_t argument) {
  auto& trans = *reinterpret_cast<tlm::tlm_generic_payload*>(argument);
  auto& info = Transaction::of(trans);
  if (!info.asks_translated) return;
  const bool leaves = trans.get_address() >= peer;
  info.peer = leaves ? 1 : 0;
  send_back(target_socket, trans, tlm::END_REQ);
  if (!leaves) return;
  sim.agenda.at<&AicoreBench::move_at_peer>(model::sim_now() + latency / 2, *this, argument);
}

void AicoreBench::move_at_peer(std::uint64_t argument) {
  auto& trans = *reinterpret_cast<tlm::tlm_generic_payload*>(argument);
  auto* const data = trans.get_data_ptr();
  if (data == nullptr) return;
  if (trans.is_write()) {
    memory.write(model::Writer::kDma, 0, trans.get_address(), data, trans.get_data_length());
  } else {
    memory.read(0, trans.get_address(), data, trans.get_data_length());
  }
}

void AicoreBench::answer(std::uint64_t argument) {
  auto& trans = *reinterpret_cast<tlm::tlm_generic_payload*>(argument);
  const bool mapped = trans.get_address() + trans.get_data_length() <= memory.end;
  Transaction::of(trans).completion = mapped ? Completion::kSuccess : Completion::kNotMapped;
  trans.set_response_status(mapped ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  send_back(target_socket, trans, tlm::BEGIN_RESP);
}

}  // namespace npu::test
