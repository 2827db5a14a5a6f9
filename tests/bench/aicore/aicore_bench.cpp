// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/aicore/aicore_bench.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "npu/base/checked.hpp"
#include "tests/bench/core/kernel_block.hpp"

namespace npu::test {

using model::Completion;
using model::Transaction;

namespace {

model::ProgramCoreConfig program_config(model::CoreKind kind) {
  model::ProgramCoreConfig core{};
  core.type = kind;
  core.functional = true;
  core.counter_hz = 1'000'000'000;
  core.l1 = 512_KiB;
  core.l0a = core.l0b = 64_KiB;
  core.l0c = 128_KiB;
  core.ub = 192_KiB;
  core.instruction_cache = 1_MiB;
  core.queue_depth = 4;
  core.segment = 4096;
  core.outstanding = 64_KiB;
  core.issue_clocks = 1;
  core.flag_clocks = 0;
  core.scalar_flag_clocks = 90;
  core.cross_flag = 50_ns;
  core.l0a_per_clock = 256;
  core.l0b_per_clock = 128;
  core.gm_to_l1 = {128, 10, 0, 0, 50, 100};
  core.gm_to_ub = {64, 10, 0, 30, 50, 100};
  core.ub_to_gm = {128, 10, 0, 30, 50, 100};
  core.l0c_to_gm = {32, 10, 0, 0, 50, 100};
  core.cube = {4096, 8192, 1024, 6};
  core.vector.repeat = 256;
  core.vector.exposed_clocks = 16;
  core.vector.tail_clocks = 16;
  core.vector.row_clocks = 10;
  model::VectorConfig& v = core.vector;
  for (auto* const cost : {&v.add, &v.sqrt, &v.unary, &v.duplicate, &v.copy, &v.cast, &v.reduce,
                           &v.reciprocal, &v.scalar, &v.rsqrt, &v.ln}) {
    *cost = {100, 20};
  }
  v.add = {211, 24};
  v.mul = {230, 25};
  v.max = {201, 23};
  v.div = {403, 31};
  v.exp = {200, 31};
  v.exp_precise = {1600, 31};
  v.cast_integer = {220, 24};
  v.bitwise = {203, 20};
  v.compare = v.select = {201, 23};
  v.int64 = {12'050, 24};
  v.transpose = {570, 24};
  v.transpose_ragged_percent = 150;
  core.l0c_to_l1 = {74, 12};
  core.l0c_to_ub = {128, 12};
  core.cache_lines = 16;
  core.cache_ways = 2;
  core.cache_hit_clocks = 2;
  core.miss_clocks = 0;
  core.write_back_clocks = 0;
  core.dcci_clocks = 3;
  core.ub_clocks = 4;
  core.register_clocks = 5;
  core.set_cond = 7_ns;
  core.cond_visible = 130_ns;
  return core;
}

}  // namespace

model::ChipConfig aicore_config(model::CoreKind kind) {
  model::ChipConfig config{};
  config.ai_cores = 2;
  config.aicore.clock_hz = 1'000'000'000;
  config.aicore.dispatch = 100_ns;
  config.aicore.init = 50_ns;
  config.aicore.software_init = 200_ns;
  config.aicore.report = 100_ns;
  config.core = program_config(kind);
  return config;
}

Completion PlainMemory::read(std::uint8_t, std::uint64_t address, void* data, Bytes length) {
  if (!range_fits(address, length, end)) return Completion::kNotMapped;
  bytes_.read(address, data, length);
  return Completion::kSuccess;
}

Completion PlainMemory::write(model::Writer writer, std::uint8_t vmid, std::uint64_t address,
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
  std::ifstream file(std::string(NPU_BINARY_DIR) + "/programs/" + name + ".npu", std::ios::binary);
  const std::vector<char> object((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(object.empty()) << name;
  abi::ImageHeader header;
  header.kind = static_cast<std::uint16_t>(abi::ImageKind::kAiCore);
  header.size = object.size();
  SHA256(reinterpret_cast<const unsigned char*>(object.data()), object.size(),
         header.digest.data());
  memory.store(address, header);
  memory.write(model::Writer::kDma, 0, address + sizeof header, object.data(), object.size());
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
  if (!Transaction::of(trans).asks_translated) return;
  tlm::tlm_phase phase = tlm::END_REQ;
  auto delay = sc_core::SC_ZERO_TIME;
  target_socket->nb_transport_bw(trans, phase, delay);
}

void AicoreBench::answer(std::uint64_t argument) {
  auto& trans = *reinterpret_cast<tlm::tlm_generic_payload*>(argument);
  const bool mapped = trans.get_address() + trans.get_data_length() <= memory.end;
  Transaction::of(trans).completion = mapped ? Completion::kSuccess : Completion::kNotMapped;
  trans.set_response_status(mapped ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  auto delay = sc_core::SC_ZERO_TIME;
  target_socket->nb_transport_bw(trans, phase, delay);
}

}  // namespace npu::test
